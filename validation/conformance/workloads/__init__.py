"""What benchmark programs ask, next to recordings."""
