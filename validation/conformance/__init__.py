"""Conformance: the model beside recorded behaviour of real programs, case by case."""
