"""Draw scenarios over the whole space of what a user can write, find those that break a law, and make them small."""
