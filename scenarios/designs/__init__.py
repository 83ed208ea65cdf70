"""A requirement, and the designs that may meet it."""
