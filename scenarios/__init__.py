"""Scenarios: describe a machine and a workload, run them, sweep and compare."""
