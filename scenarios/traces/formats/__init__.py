"""One small reader for every format of block traces."""
