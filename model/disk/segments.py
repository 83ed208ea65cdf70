"""What a drive's buffer holds: look-ahead segments for reads, dirty extents for cached writes.

A read leaves a segment behind: the data read and what the head read ahead after it (Ruemmler and Wilkes
1994; Shriver, Merchant and Wilkes, "An analytic behavior model for disk drives with readahead caches and request
reordering", SIGMETRICS 1998). Cached writes wait as extents; neighbors merge. Both are plain state
without a clock: :mod:`.media` moves the head through time and fills and empties them.
"""

from __future__ import annotations

import bisect
from typing import Final

from ..core.extents import FlatExtentSet

# Final, so that compiled code does not look it up at every call.
bisect_left: Final = bisect.bisect_left
bisect_right: Final = bisect.bisect_right


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
    """

    __slots__ = (
        "ahead",
        "begun_s",
        "begun_turns",
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
    """

    __slots__ = ("_by_age", "_by_low", "_count", "_lows", "_segment_bytes")

    def __init__(self, count: int, segment_bytes: int) -> None:
        self._count = count
        self._segment_bytes = segment_bytes
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
        if len(by_low) >= self._count:
            oldest = self._by_age.pop(0)
            at = bisect_left(lows, oldest.low)
            while by_low[at] is not oldest:
                at += 1
            lows.pop(at)
            by_low.pop(at)
        low = segment.start
        if segment.consumed - low > self._segment_bytes:
            low = segment.consumed - self._segment_bytes
        segment.low = low
        at = bisect_right(lows, low)
        lows.insert(at, low)
        by_low.insert(at, segment)
        self._by_age.append(segment)
        return oldest

    def find(self, offset: int) -> Segment | None:
        """The segment that `offset` may lie in or continue."""
        at = bisect_right(self._lows, offset)
        if at:
            segment = self._by_low[at - 1]
            if offset <= segment.reach:
                return segment
        return None

    def take(self, segment: Segment) -> None:
        """Remove a segment because the head returns to it."""
        self._by_age.remove(segment)
        at = bisect_left(self._lows, segment.low)
        while self._by_low[at] is not segment:
            at += 1
        self._lows.pop(at)
        self._by_low.pop(at)


class DirtyExtents(FlatExtentSet):
    """Cached writes that are not on the platters yet: disjoint extents, neighbors merged."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self.starts)

    def holds(self, start: int, end: int) -> bool:
        """Whether all of [start, end) is dirty."""
        at = bisect_right(self.starts, start) - 1
        return at >= 0 and self.ends[at] >= end

    def touches(self, start: int, end: int) -> bool:
        """Whether [start, end) would merge with an extent."""
        at = bisect_right(self.starts, end) - 1
        return at >= 0 and self.ends[at] >= start
