"""The first I/Os of a run, and every command, transfer and work that came of them."""
