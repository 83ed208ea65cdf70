"""The form: choices, fields, limits, state."""
