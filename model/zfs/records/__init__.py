"""Records of a file or volume: where each lies, what points to it, and what a transaction group writes for it."""
