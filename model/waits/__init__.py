"""What an I/O waits for: the marks on its way, their causes, and their sums."""
