"""The public API: scenarios, what can be asked of them, and the answers as values."""
