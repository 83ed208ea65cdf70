"""Drift: figures that are kept so that a change of the model shows: a quick set, and a table of all studies."""
