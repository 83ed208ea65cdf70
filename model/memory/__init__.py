"""The page cache: pages, dirty limits, write-back, files on it, partitions and pipes."""
