"""Readers of what tells pools of ZFS: zpool, zfs, and the files of its kernel module."""
