"""Models of hard disks against traces measured on them."""
