"""Runs a scenario: samples, steady state, phases, programs, and the prediction."""
