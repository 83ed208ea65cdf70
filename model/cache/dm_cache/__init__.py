"""dm-cache: its policy smq, its metadata, and the mapping of I/Os."""
