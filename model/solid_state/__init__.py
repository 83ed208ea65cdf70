"""Solid-state drives: flash, the layer that maps it, and the controller in front.

The catalogue of drives imports :mod:`.spec` alone, so nothing is imported here.
"""
