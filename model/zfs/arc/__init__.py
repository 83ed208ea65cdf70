"""The ARC: what ZFS caches in memory, what it reads ahead, and the second level on a cache device."""
