"""ZFS: a pool of vdevs, its records, its intent log and its caches."""
