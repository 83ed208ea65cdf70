"""Rebuilds and checks beside a load, on members of known service time."""
