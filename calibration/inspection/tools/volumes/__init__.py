"""Readers of what LVM, the device mapper and bcache print."""
