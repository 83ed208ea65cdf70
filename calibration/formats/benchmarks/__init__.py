"""Parsers of what benchmark programs print."""
