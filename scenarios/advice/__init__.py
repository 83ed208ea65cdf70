"""Designs that meet a requirement, found by bounds first and by simulation then."""
