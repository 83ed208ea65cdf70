"""A scenario from a machine's own words: /proc/mdstat, mdadm, lsblk, smartctl, and the tools of RAID controllers."""
