"""Records in the order of their times.

Traces go back in time a little: each CPU has a buffer of its own, and some programs write a record when the I/O ends
and not when it began. So records are sorted within a window, and one that comes too late even for that is an error:
such a file is several traces one after the other, or no trace.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from ...model.errors import InputError
from .fields import SECOND_NS, RawRecord
from .source import Source

WINDOW = 16384
"""Records; at 1000 a second a record may come 16 s late."""


def in_order(records: Iterator[RawRecord], source: Source) -> Iterator[RawRecord]:
    """The same records by time; those of one time in the order of the file."""
    waiting: list[tuple[int, int, RawRecord]] = []
    given_ns = -1
    for number, record in enumerate(records):
        moment = record[0]
        if moment < given_ns:
            back_s = (given_ns - moment) / SECOND_NS
            found = f"found a time {back_s:.9g} s before that of a record more than {WINDOW} records ago"
            allowed = f"allowed: up to {WINDOW} records out of order"
            source.malformed(InputError(f"{source.place}: field time", found, allowed))
            continue
        if len(waiting) < WINDOW:
            heapq.heappush(waiting, (moment, number, record))
            continue
        given_ns, _, first = heapq.heappushpop(waiting, (moment, number, record))
        yield first
    waiting.sort()
    for _, _, record in waiting:
        yield record
