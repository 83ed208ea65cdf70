"""Scrub, resilver and sequential rebuild of a pool."""
