"""RAID 1 and RAID 10, and the barrier between resync and normal I/O."""
