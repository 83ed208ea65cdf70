"""How deep arrays may be built on each other.

A request goes through nested arrays by one calling the other, and so does its completion; so do capacities and layouts.
Python refuses more calls inside each other than a limit that is for mistakes, and lower than what a scenario may ask
for. Linux has no such limit: since 2.6.22 a stacked driver's requests wait in a list until it has returned
(generic_make_request), before that they were calls on a stack of 4 or 8 KiB.
"""

from __future__ import annotations

import sys

DEEPEST = 2000
"""Arrays and encrypted devices on each other, at most: what calls inside each other have room for."""
_CALLS_EACH = 12
_OTHERS = 1000


def allow_nesting(devices: int) -> None:
    """Let calls go as deep as so many devices that are built on each other need."""
    needed = _OTHERS + _CALLS_EACH * min(devices, DEEPEST)
    if sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)
