"""Parity writes of kernels up to 4.0: rows gathered, locked and written by one daemon."""
