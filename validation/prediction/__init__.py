"""Predicted values next to measured ones, baselines and classes of cells."""
