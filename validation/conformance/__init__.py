"""Conformance: the model compared with recorded behavior of real programs, case by case."""
