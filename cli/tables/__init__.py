"""Tables that commands print, one command a file."""
