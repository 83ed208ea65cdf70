"""Recorded block I/O: read as it is, said what is in it, turned into a load."""
