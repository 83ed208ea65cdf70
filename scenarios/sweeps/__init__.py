"""Many runs of a scenario with varied fields, kept in one file."""
