"""Stripe heads and the plan of a write, the same for every kernel."""
