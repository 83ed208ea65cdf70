"""What a drive's buffer holds: look-ahead segments for reads, dirty extents for cached writes.

A read leaves a segment behind: the data read and what the head read ahead after it (Ruemmler and Wilkes
1994; Shriver, Merchant and Wilkes, "An analytic behavior model for disk drives with readahead caches and request
reordering", SIGMETRICS 1998). Cached writes wait as extents; neighbors merge. Both are plain state
without a clock: :mod:`.media` moves the head through time and fills and empties them.
"""

from __future__ import annotations

from typing import Final

from ..core.extents import FlatExtentSet
from ..core.search import left_of, right_of

NEWCOMERS: Final = 4
"""Assumed: of so many single reads one stays until the least recently used segment is needed."""


class Segment:
    """Consecutive bytes in the buffer that the head has read, or is reading, in one go.

    Attributes
    ----------
    start
        First byte.
    end
        End of what had been read when the head was last known to stop or to start (``begun_s``).
    consumed
        End of what the host has asked for.
    reach
        A read that starts beyond this is not part of the stream (`consumed` plus `ahead`).
    begun_s, begun_turns
        When and where (turns of the geometry) the head began to read on from `end`.
    stopped_s
        When it was called away, while `end` has not been brought up to date for that (`stale`).
    safe_s
        A time before which the look-ahead cannot have reached its limit.
    hits
        Reads that have continued or re-read it; 0 for a single random read.
    ahead
        How far beyond `consumed` the head reads on, unasked (bytes).
    chances
        Times that it is passed over when another segment needs its place.
    """

    __slots__ = (
        "ahead",
        "begun_s",
        "begun_turns",
        "chances",
        "consumed",
        "end",
        "hits",
        "low",
        "reach",
        "safe_s",
        "stale",
        "start",
        "stopped_s",
    )

    def __init__(self, start: int, consumed: int, reach: int, begun_s: float, begun_turns: float, safe_s: float):
        self.start = start
        self.end = start
        self.consumed = consumed
        self.reach = reach
        self.begun_s = begun_s
        self.begun_turns = begun_turns
        self.safe_s = safe_s
        self.stopped_s = 0.0
        self.stale = False
        self.hits = 0
        self.ahead = 0
        self.chances = 0
        self.low = start

    def __repr__(self) -> str:
        return f"Segment({self.start}..{self.end}, consumed={self.consumed}, hits={self.hits})"


class ParkedSegments:
    """The segments that the head is not reading into, least recently used first out.

    Parameters
    ----------
    count
        How many fit.
    segment_bytes
        Size of each: what was consumed longer ago than this many bytes is overwritten.
    stream_chances
        Times that a stream, a segment that reads have continued, is passed over since its last use when a single read
        needs a place; and of the single reads all but one in `NEWCOMERS` give theirs to the next one. So more streams
        than segments leave most segments where they are (the insertion policy of M. Qureshi et al., ISCA 2007). 0: only
        the last use counts.
    """

    __slots__ = ("_by_age", "_by_low", "_chances", "_count", "_lows", "_newcomers", "_segment_bytes")

    def __init__(self, count: int, segment_bytes: int, stream_chances: int = 0) -> None:
        self._count = count
        self._segment_bytes = segment_bytes
        self._chances = stream_chances
        self._newcomers = 0
        self._lows: list[int] = []
        self._by_low: list[Segment] = []
        self._by_age: list[Segment] = []

    def __len__(self) -> int:
        return len(self._by_age)

    def __contains__(self, segment: Segment) -> bool:
        return segment in self._by_age

    def all(self) -> list[Segment]:
        """The segments, least recently used first."""
        return list(self._by_age)

    def park(self, segment: Segment) -> Segment | None:
        """Keep a segment that the head has left; returns the least recently used if it is dropped for that."""
        if not self._count:
            return segment
        lows, by_low = self._lows, self._by_low
        oldest = None
        if segment.hits:
            segment.chances = self._chances
        if len(by_low) >= self._count:
            oldest = self._by_age.pop(0)
            if oldest.chances and not segment.hits:
                oldest.chances -= 1
                self._by_age.append(oldest)
                return segment
            at = left_of(lows, oldest.low)
            while by_low[at] is not oldest:
                at += 1
            lows.pop(at)
            by_low.pop(at)
        low = segment.start
        if segment.consumed - low > self._segment_bytes:
            low = segment.consumed - self._segment_bytes
        segment.low = low
        at = right_of(lows, low)
        lows.insert(at, low)
        by_low.insert(at, segment)
        if self._chances and not segment.hits:
            self._newcomers += 1
            if self._newcomers % NEWCOMERS:
                self._by_age.insert(0, segment)
                return oldest
        self._by_age.append(segment)
        return oldest

    def find(self, offset: int) -> Segment | None:
        """The segment that `offset` may lie in or continue."""
        at = right_of(self._lows, offset)
        if at:
            segment = self._by_low[at - 1]
            if offset <= segment.reach:
                return segment
        return None

    def take(self, segment: Segment) -> None:
        """Remove a segment because the head returns to it."""
        self._by_age.remove(segment)
        at = left_of(self._lows, segment.low)
        while self._by_low[at] is not segment:
            at += 1
        self._lows.pop(at)
        self._by_low.pop(at)


class Place:
    """Where an extent lies on the platters.

    Attributes
    ----------
    cylinder, turns
        Of its start.
    last_cylinder, end_turns
        Of the end of its first unit of destaging.
    """

    __slots__ = ("cylinder", "end_turns", "last_cylinder", "turns")

    def __init__(self, span: tuple[int, float, int, float]) -> None:
        self.cylinder, self.turns, self.last_cylinder, self.end_turns = span


class DirtyExtents(FlatExtentSet):
    """Cached writes that are not on the platters yet: disjoint extents, neighbors merged.

    Attributes
    ----------
    places
        Where each extent lies; None where nobody has asked since it changed.
    """

    __slots__ = ("places",)

    def __init__(self) -> None:
        super().__init__()
        self.places: list[Place | None] = []

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, end: int) -> int:
        """See :meth:`.extents.FlatExtentSet.add`."""
        before = len(self.starts)
        new = super().add(start, end)
        if new:
            merged = before - len(self.starts)
            at = right_of(self.starts, start) - 1
            if merged < 0:
                self.places.insert(at, None)
            else:
                self.places[at] = None
                if merged:
                    del self.places[at + 1 : at + 1 + merged]
        return new

    def remove(self, start: int, end: int) -> int:
        """See :meth:`.extents.FlatExtentSet.remove`."""
        first, last, before = right_of(self.ends, start), left_of(self.starts, end), len(self.starts)
        gone = super().remove(start, end)
        if gone:
            left = last - first + len(self.starts) - before
            self.places[first:last] = [None] * left
        return gone

    def cut(self, first: int, last: int) -> None:
        """Remove the extents from number `first` up to `last`."""
        self.total -= sum(self.ends[first:last]) - sum(self.starts[first:last])
        del self.starts[first:last], self.ends[first:last], self.places[first:last]

    def pop(self, number: int) -> None:
        """Remove an extent."""
        self.total -= self.ends.pop(number) - self.starts.pop(number)
        self.places.pop(number)

    def holds(self, start: int, end: int) -> bool:
        """Whether all of [start, end) is dirty."""
        at = right_of(self.starts, start) - 1
        return at >= 0 and self.ends[at] >= end

    def touches(self, start: int, end: int) -> bool:
        """Whether [start, end) would merge with an extent."""
        at = right_of(self.starts, end) - 1
        return at >= 0 and self.ends[at] >= start
