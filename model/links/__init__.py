"""Cables, buses and networks as shared links, and their catalogue."""
