"""Which request is nearest for a disk that prefers to go upwards.

A one-way elevator, but for short steps back, which count double (as-iosched.c as_choose_req, cfq-iosched.c
cfq_choose_req): what lies too far back waits for the next sweep, which starts at the lowest address.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from .base import QueuedRequest

_BACK_PENALTY: Final = 2

Ordered = list[tuple[int, int, QueuedRequest]]
"""Requests with their offset and a number that tells equal offsets apart, in order of both."""


def nearest(ordered: Ordered, position: int, most_back: int) -> int:
    """Index of the request to serve next.

    Parameters
    ----------
    ordered
        What is queued; not empty.
    position
        Where the last request ended (bytes).
    most_back
        How far back (bytes) a request may lie and still be served before the next sweep.
    """
    ahead = bisect_left(ordered, position, key=_offset)
    behind = ordered[ahead - 1][0] if ahead else -1
    if behind < 0 or position - behind > most_back:
        return ahead % len(ordered)
    if ahead == len(ordered) or ordered[ahead][0] - position > (position - behind) * _BACK_PENALTY:
        return bisect_left(ordered, behind, key=_offset)
    return ahead


def _offset(entry: tuple[int, int, QueuedRequest]) -> int:
    return entry[0]
