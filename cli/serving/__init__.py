"""`raidsim serve` on the command line: its options, and the summary when it ends."""
