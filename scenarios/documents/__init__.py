"""Scenarios as people write them: files with shorthands and defaults, and what is ready to use."""
