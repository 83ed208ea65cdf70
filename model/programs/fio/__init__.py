"""What fio asks: job files, offsets, random numbers, timing."""
