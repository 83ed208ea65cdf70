"""How many logical I/Os a timeline has."""

from __future__ import annotations

DEFAULT_IOS = 1000
"""Logical I/Os that are recorded unless asked otherwise: a file of a megabyte or two."""
DRAWN_IOS = 100
"""Logical I/Os that a picture shows unless asked otherwise."""
MOST_DRAWN_IOS = 500
"""More of them would be lines."""
