"""RAID 0 and byte-striped RAID 3."""
