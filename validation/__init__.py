"""Validation: predicted beside measured, and the model against what real programs did."""
