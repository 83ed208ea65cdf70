"""Python's search for objects that hold each other: simulations make many objects and few such cycles."""

from __future__ import annotations

import gc

_MORE, _OLDER = 50_000, 20
"""How many objects more than are gone it takes, and of how many searches one is among older objects."""


def search_less() -> None:
    """Search less often than Python does by itself, and never among what is there by now."""
    gc.freeze()
    gc.set_threshold(_MORE, _OLDER, _OLDER)
