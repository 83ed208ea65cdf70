"""Fits the parameters of a study."""
