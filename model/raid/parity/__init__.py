"""RAID 4, 5 and 6 over members: reads, writes, discards and resync."""
