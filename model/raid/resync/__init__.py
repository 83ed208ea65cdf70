"""Resync, check and rebuild of any level, and hot spares."""
