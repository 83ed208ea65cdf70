"""Records in the order of their times.

Traces go back in time a little: each CPU has a buffer of its own, and some programs write a record when the I/O ends
and not when it began. So records are sorted within a window, and one that comes too late even for that is an error:
such a file is several traces one after the other, or no trace.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...model.core.errors import InputError
from .formats.columns import RawColumns
from .formats.fields import SECOND_NS
from .formats.source import Source

WINDOW = 16384
"""Records; at 1000 a second a record may come 16 s late."""


def in_order(parts: Iterator[RawColumns], source: Source) -> Iterator[RawColumns]:
    """The same records by time; those of one time in the order of the file."""
    waiting: RawColumns | None = None
    given_ns: int | None = None
    for part in parts:
        held = 0 if waiting is None else len(waiting)
        known = part if waiting is None else waiting.followed_by(part)
        late = given_ns is not None and int(part.times_ns.min()) < given_ns
        if late or bool(np.any(known.times_ns[1:] < known.times_ns[:-1])):
            known = _sorted(known, held, given_ns, source)
        over = max(0, len(known) - WINDOW)
        given, waiting = known[:over], known[over:]
        if over:
            given_ns = int(given.times_ns[-1])
            yield given
    if waiting is not None and len(waiting):
        yield waiting


def _sorted(known: RawColumns, held: int, given_ns: int | None, source: Source) -> RawColumns:
    """The records by time, without those that come too late.

    The first `held` of them are in order already, and what was given before ended at `given_ns`.
    """
    times = known.times_ns
    order = np.argsort(times, kind="stable")
    # The record at a place in the order is given when a window of them has been read behind that place.
    in_time = bool((order - np.arange(len(order)) <= WINDOW).all())
    if in_time and (given_ns is None or int(times[order[0]]) >= given_ns):
        return known[order]
    kept = _in_time(known, held, given_ns, source)
    known = known[kept]
    return known[np.argsort(known.times_ns, kind="stable")]


def _in_time(known: RawColumns, held: int, given_ns: int | None, source: Source) -> NDArray[np.bool_]:
    """Which records come in time, for a heap of :data:`WINDOW` records that gives the earliest of them."""
    times: list[int] = known.times_ns.tolist()
    waiting = times[:held]
    kept = np.ones(len(known), dtype=np.bool_)
    for number in range(held, len(known)):
        moment = times[number]
        if given_ns is not None and moment < given_ns:
            source.malformed(_too_late(source.place_of(int(known.marks[number])), given_ns, moment))
            kept[number] = False
            continue
        heapq.heappush(waiting, moment)
        if len(waiting) > WINDOW:
            given_ns = heapq.heappop(waiting)
    return kept


def _too_late(place: str, given_ns: int, moment: int) -> InputError:
    back_s = (given_ns - moment) / SECOND_NS
    found = f"found a time {back_s:.9g} s before that of a record more than {WINDOW} records ago"
    return InputError(f"{place}: field time", found, f"expected: up to {WINDOW} records out of order")
