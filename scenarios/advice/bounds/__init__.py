"""Bounds on what a design can give, found without simulation."""
