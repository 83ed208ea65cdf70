"""Replays a recorded trace on a machine."""
