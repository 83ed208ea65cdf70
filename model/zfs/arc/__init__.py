"""The ARC: what ZFS caches in memory, and what it reads ahead."""
