"""Parsers of what shows a machine at work: iostat, sar, zpool iostat, /proc/mdstat."""
