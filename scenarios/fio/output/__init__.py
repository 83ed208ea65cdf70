"""What fio writes of a run: its JSON, its normal output, and its logs."""
