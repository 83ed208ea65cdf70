"""Records in the order of their times.

Traces go back in time a little: each CPU has a buffer of its own, and some programs write a record when the I/O ends
and not when it began. So records are sorted within a window, and one that comes too late even for that is an error:
such a file is several traces one after the other, or no trace.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator

from ...model.core.errors import InputError
from .formats.fields import SECOND_NS, RawRecord
from .formats.source import Source

WINDOW = 16384
"""Records; at 1000 a second a record may come 16 s late."""
_NEAR = 64
"""A record that is later than so many is put in its place by a heap, and so are all that follow."""

_Waiting = tuple[int, int, RawRecord]
"""Time (ns), a number that grows in the order of the file, and the record."""


def in_order(records: Iterator[RawRecord], source: Source) -> Iterator[RawRecord]:
    """The same records by time; those of one time in the order of the file."""
    waiting: deque[RawRecord] = deque()
    given_ns = latest_ns = -1
    far: RawRecord | None = None
    for record in records:
        moment = record[0]
        if moment >= latest_ns:
            latest_ns = moment
            waiting.append(record)
        elif moment < given_ns:
            source.malformed(_too_late(source, given_ns, moment))
            continue
        elif not _placed(waiting, record):
            far = record
            break
        if len(waiting) > WINDOW:
            first = waiting.popleft()
            given_ns = first[0]
            yield first
    if far is None:
        yield from waiting
    else:
        held = [(record[0], number, record) for number, record in enumerate((*waiting, far))]
        yield from _by_heap(enumerate(records, len(held)), held, given_ns, source)


def _placed(waiting: deque[RawRecord], late: RawRecord) -> bool:
    """Put a record where it belongs if that is near the end."""
    for back in range(1, min(_NEAR, len(waiting)) + 1):
        if waiting[-back][0] <= late[0]:
            waiting.insert(len(waiting) - back + 1, late)
            return True
    if len(waiting) <= _NEAR:
        waiting.appendleft(late)
        return True
    return False


def _by_heap(
    numbered: Iterator[tuple[int, RawRecord]], waiting: list[_Waiting], given_ns: int, source: Source
) -> Iterator[RawRecord]:
    heapq.heapify(waiting)
    if len(waiting) > WINDOW:
        given_ns, _, first = heapq.heappop(waiting)
        yield first
    for number, record in numbered:
        moment = record[0]
        if moment < given_ns:
            source.malformed(_too_late(source, given_ns, moment))
            continue
        if len(waiting) < WINDOW:
            heapq.heappush(waiting, (moment, number, record))
            continue
        given_ns, _, first = heapq.heappushpop(waiting, (moment, number, record))
        yield first
    waiting.sort()
    for _, _, record in waiting:
        yield record


def _too_late(source: Source, given_ns: int, moment: int) -> InputError:
    back_s = (given_ns - moment) / SECOND_NS
    found = f"found a time {back_s:.9g} s before that of a record more than {WINDOW} records ago"
    return InputError(f"{source.place}: field time", found, f"expected: up to {WINDOW} records out of order")
