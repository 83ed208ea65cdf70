"""Hard disks: geometry, seek, head, media, segments, destaging, command order."""
