"""Parsers of what shows a machine at work: iostat, sar, dstat, zpool iostat, /proc/mdstat."""
