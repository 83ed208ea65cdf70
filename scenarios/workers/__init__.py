"""Processes that share the work of many runs."""
