"""bcache: buckets, journal, bypass, writeback, and the mapping of I/Os."""
