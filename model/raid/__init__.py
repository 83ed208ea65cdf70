"""RAID levels of md, FreeBSD and firmware over any devices."""
