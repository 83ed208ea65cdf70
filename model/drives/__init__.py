"""The catalogue of drives, hard disks and solid state, each file with its sources."""
