"""Scenarios as validated descriptions: machine, arrays, file systems, programs and loads."""
