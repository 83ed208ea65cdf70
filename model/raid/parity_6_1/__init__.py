"""Parity writes of current kernels: stripe heads handled in batches by a thread and its workers."""
