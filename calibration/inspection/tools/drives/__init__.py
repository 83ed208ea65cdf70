"""Readers of what tells the drives of a machine."""
