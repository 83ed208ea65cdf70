"""Readers of what tells processor, memory, kernel and buses."""
