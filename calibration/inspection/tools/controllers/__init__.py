"""Readers of the tools of RAID controllers."""
