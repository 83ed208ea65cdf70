"""Pictures that commands write, one command a file."""
