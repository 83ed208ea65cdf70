"""The md driver: layouts, member I/O, resync, timing and read balance, next to recordings."""
