"""Requests whose threads sleep until they have a tag.

They are served in order, but a request that needs no write tag passes those that wait for one. So the two kinds have a
line each: finding the next request does not take longer with more of them. Sources: lib/sbitmap.c (sbq_wake_ptr),
block/mq-deadline.c (dd_limit_depth).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque

from mypy_extensions import i64

from ..core.request import Request

_Entry = tuple[int, int, Request]
"""A request behind the two numbers that order the entries."""


class TagWaits:
    """The requests of one queue that wait for tags.

    While the queue wakes threads it takes one request after the other (:meth:`next`). A thread that falls asleep again
    meanwhile stands in front of those that have not been looked at yet.

    Attributes
    ----------
    count
        How many wait.
    """

    __slots__ = ("_added", "_at", "_fallen", "_limited", "_number", "_others", "count")

    count: i64

    def __init__(self) -> None:
        self._limited: deque[_Entry] = deque()
        self._others: deque[_Entry] = deque()
        self._fallen: list[tuple[bool, _Entry]] = []
        self._number = self._added = 0
        self._at = -1  # number of the request that was taken last; -1: nobody is being woken
        self.count = 0

    @property
    def first_issuer(self) -> int:
        """Who issues the request that has waited longest; 0 if none waits."""
        first = self._limited[0] if self._limited else None
        if self._others and (first is None or self._others[0] < first):
            first = self._others[0]
        return 0 if first is None else first[2].issuer

    def add(self, request: Request, limited: bool) -> None:
        """A request waits for a tag, and if it is `limited` for a write tag too."""
        self.count += 1
        self._added += 1
        if self._at >= 0:
            self._fallen.append((limited, (self._at, self._added, request)))
            return
        self._number += 1
        (self._limited if limited else self._others).append((self._number, self._added, request))

    def next(self, write_tag: bool) -> Request | None:
        """Take the first request that a tag is enough for, with a `write_tag` of all; None if there is none."""
        line = self._others
        if write_tag and self._limited and (not line or self._limited[0] < line[0]):
            line = self._limited
        if not line:
            return None
        self._at, _, request = line.popleft()
        self.count -= 1
        return request

    def end(self) -> None:
        """Nobody is woken any more."""
        self._at = -1
        fallen = self._fallen
        if not fallen:
            return
        self._fallen = []
        for limited, entry in reversed(fallen):
            if limited:
                self._limited.insert(bisect_right(self._limited, entry[:2], key=_numbers), entry)
            else:
                self._others.appendleft(entry)


def _numbers(entry: _Entry) -> tuple[int, int]:
    return entry[:2]
