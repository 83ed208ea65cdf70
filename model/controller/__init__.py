"""Hardware RAID controllers: firmware, cache, destaging, read-ahead, queues, and their catalogue."""
