"""Builds a simulated machine from a description."""
