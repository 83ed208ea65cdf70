"""dm-writecache: its blocks, commits, writeback, and the mapping of I/Os."""
