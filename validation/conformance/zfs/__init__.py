"""Recorded pools of ZFS against the map of blocks and the intent log."""
