"""Rebuilds and checks under a load, on members of known service time."""
