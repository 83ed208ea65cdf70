"""Intervals of predictions and the model discrepancy learnt from studies."""
