"""Simulated values of the cells of a study, kept and reused."""
