"""Which of the events of a block I/O counts: the one at which it was asked for.

Linux's block layer traces every I/O several times. Q (queued) is when somebody asks for it, before merging; D
(issued) is what goes to the drive, after merging. A trace made with a mask may hold D alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....model.core.errors import InputError
from .fields import RawRecord
from .source import Source

_LOOK = 10_000
"""Events in which there is a Q, if there are any at all."""
_NAMES = {b"Q": "queued (Q)", b"D": "issued (D)"}

Event = tuple[bytes, RawRecord | None, str]
"""Action, its record (None if it is no I/O with data) and what it is otherwise ("flush")."""


def asked_for(events: Iterator[Event], source: Source) -> Iterator[RawRecord]:
    """The I/Os that were queued; if the first 10,000 events have none, those that were issued."""
    first: list[Event] = []
    for event in events:
        first.append(event)
        if event[0] == b"Q" or len(first) == _LOOK:
            break
    actions = {event[0] for event in first}
    wanted = b"Q" if b"Q" in actions else b"D"
    if first and wanted not in actions:
        seen = ", ".join(sorted(action.decode("ascii", "replace") for action in actions))
        raise InputError(source.place, f"found the actions {seen} only", "expected: Q or D")
    skipped = source.skipped
    for part in (first, events):
        for action, record, what in part:
            if action != wanted:
                skipped[_NAMES.get(action, f"other events ({action.decode('ascii', 'replace')})")] += 1
            elif record is None:
                skipped[what] += 1
            else:
                yield record
