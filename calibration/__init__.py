"""Calibration: measurements, parsers of benchmark output, fitting and its uncertainty."""
