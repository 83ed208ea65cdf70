"""Validation: predictions against measurements, and the model against recordings of real programs."""
