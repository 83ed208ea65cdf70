"""The command line: parses, calls and shows; no decision lives here."""
