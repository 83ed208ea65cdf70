"""What an array keeps about itself on its members: superblock, write-intent bitmap, journal."""
