"""What a drive's read buffer holds at a time, and what makes it give data up.

A segment is filled by the head while it reads (:mod:`.media`) and gives data up by rules that differ between drives.
They were measured on ten drives (DiskSim's validation set: Bucy et al., CMU-PDL-08-101, 2008; J. Schindler and G.
Ganger, "Automated disk drive characterization", CMU-CS-99-176, 1999):

- the look-ahead ends at the end of a track, or runs until the segment is full of it;
- a segment is a ring: what is read ahead overwrites what came before;
- what has been sent to the host is dropped, or kept to be read again;
- a write drops the segments that hold what it overwrites, and is itself kept to be read;
- what passes while the head waits for the first sector is kept too.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from ..core.search import right_of
from .destaging import WritingHead
from .mechanics.geometry import SECTOR, Geometry
from .mechanics.seek import SeekCurve
from .segments import ParkedSegments, Segment

EMPTY: Final = -1
"""``Segment.reach`` of a segment that holds nothing."""
_STREAM_CHANCES: Final = 3
"""Assumed: as many single reads pass over a stream before its segment is given away."""


class BufferedHead(WritingHead):
    """A head with read segments; how it fills them is its subclass's.

    Parameters
    ----------
    geometry, seeks, phase, write_buffer_bytes, write_extents, destage_batch_bytes, head_switch_s
        As for :class:`~.destaging.WritingHead`.
    segments, segment_bytes, look_ahead_bytes
        Read segments, the size of each, and how far the head reads ahead; 0 segments or 0 bytes: not at all.
    look_ahead_until
        Where the look-ahead ends at the latest: ``"segment"``: only at its limit; ``"track"``: at the end of the track
        that holds the last byte asked for; ``"next track"``: at the end of the track behind the last byte asked for, or
        one track later if the segment begins on an earlier one.
    wraps
        If true, a segment holds the last `segment_bytes` read into it, so looking ahead overwrites what came before. If
        false, it holds as much of what has been asked for, and what has been read ahead of it.
    keeps_sent
        If true, a segment keeps what has been sent to the host. If false, only what was read ahead.
    keeps_written
        If true, a cached write stays in a segment to be read, also when it is on the platters.
    writes_clear
        If true, a write empties the segments that hold some of what it overwrites. If false, they take the new data in.
    minimum_prefetch_bytes
        How far the head reads a stream ahead before it serves another read; 0: any other command cuts in at once.
    keeps_before
        If true, what passes under the head while it waits for the first sector is kept, as far as it fits in a segment.
    """

    __slots__ = (
        "_bounded",
        "_clears",
        "_gives_up",
        "_keeps_before",
        "_keeps_sent",
        "_keeps_written",
        "_look_ahead",
        "_minimum",
        "_one_more_track",
        "_parked",
        "_segment",
        "_segment_bytes",
        "_wraps",
        "_wrote",
    )

    def __init__(
        self,
        geometry: Geometry,
        seeks: SeekCurve,
        phase: float,
        write_buffer_bytes: int,
        write_extents: int,
        destage_batch_bytes: int,
        head_switch_s: float,
        segments: int,
        segment_bytes: int,
        look_ahead_bytes: int,
        look_ahead_until: str,
        wraps: bool,
        keeps_sent: bool,
        keeps_written: bool,
        writes_clear: bool,
        keeps_before: bool,
        minimum_prefetch_bytes: int,
    ) -> None:
        super().__init__(geometry, seeks, phase, write_buffer_bytes, write_extents, destage_batch_bytes, head_switch_s)
        # One segment is the one being read; the others are parked.
        self._minimum = min(minimum_prefetch_bytes, look_ahead_bytes) if segments else 0
        chances = _STREAM_CHANCES if self._minimum else 0
        self._parked: ParkedSegments | None = ParkedSegments(segments - 1, segment_bytes, chances) if segments else None
        self._segment: Segment | None = None
        self._segment_bytes = segment_bytes
        self._look_ahead = look_ahead_bytes if segments else 0
        self._bounded = look_ahead_until != "segment"
        self._one_more_track = look_ahead_until == "next track"
        self._wraps = wraps
        self._keeps_sent = keeps_sent
        self._gives_up = wraps or not keeps_sent
        self._keeps_written = keeps_written
        self._wrote: Segment | None = None  # the segment of the last cached write, if writes are kept
        self._clears = writes_clear
        self._keeps_before = keeps_before

    @abstractmethod
    def _leave(self, segment: Segment, at: float) -> float:
        """Call the head away from reading ahead, at `at` (s); when it can go (s)."""

    def accept(self, offset: int, size: int, at: float) -> None:
        """A cached write has crossed the link: its data is dirty from `at` (s), and may stay to be read."""
        super().accept(offset, size, at)
        parked = self._parked
        end = offset + size
        if self._clears:
            self._clear(offset, end, at)
        if not self._keeps_written or parked is None:
            return
        segment = self._wrote
        if segment is not None and segment.end == offset and segment in parked:
            parked.take(segment)
            segment.start = max(segment.start, end - self._segment_bytes)
        else:
            segment = self._wrote = Segment(offset, offset, end, at, 0.0, 0.0)
        segment.consumed = segment.start
        segment.end = segment.reach = end
        parked.park(segment)

    def write(self, offset: int, size: int, at: float, sent_from_s: float, sent_s: float) -> float:
        """Write to the platters without caching; when the last byte is on them (s)."""
        done = super().write(offset, size, at, sent_from_s, sent_s)
        if self._clears:
            self._clear(offset, offset + size, done)
        return done

    def _clear(self, offset: int, end: int, at: float) -> None:
        """Empty the segments that hold any of [offset, end) at `at` (s), because a write has made them out of date."""
        parked, current = self._parked, self._segment
        if parked is None:
            return
        for segment in parked.all():
            if segment.start < end and offset < self._end_of(segment):
                parked.take(segment)
        if current is not None and current.start < end and offset < self._end_at(current, at):
            if self._reading:
                self._free_s = self._leave(current, at)
            current.start = current.end = current.consumed = 0
            current.reach = EMPTY
            current.ahead = current.hits = 0
            current.stale = False

    def _given_up(self, segment: Segment, offset: int, at: float) -> bool:
        """Whether a segment no longer holds the byte at `offset` at `at` (s): it was sent, or overwritten."""
        if not self._keeps_sent and offset < segment.consumed:
            return True
        if not self._wraps:
            return False
        if segment is self._segment:
            self.settle(at)
        return offset < self._end_at(segment, at) - self._segment_bytes

    def _kept_from(self, offset: int, wait: float) -> int:
        """First byte of what passed under the head in `wait` (s) before `offset`, on its track, and fits a segment."""
        geometry = self.geometry
        start = geometry.track_start(offset)
        rate = 1.0 / self._rows[right_of(self._edges, offset) - 1][1] * self._inverse_revolution
        passed = int(wait * rate) // SECTOR * SECTOR
        return max(start, offset - min(passed, self._segment_bytes))

    def _bound(self, segment: Segment, end: int, ahead: int) -> None:
        """Let the look-ahead after a read that ends at `end` stop at the end of a track, `ahead` bytes on at most."""
        segment.ahead = min(ahead, self._limit(segment.start, end) - end)
        segment.reach = end + segment.ahead
        segment.safe_s = 0.0

    def _limit(self, held_from: int, end: int) -> int:
        """End of the look-ahead after a read that ends at `end`, in a segment that holds what begins at `held_from`."""
        geometry = self.geometry
        if not self._one_more_track:
            return geometry.track_end(end - 1)
        if end >= geometry.capacity:
            return geometry.capacity
        limit = geometry.track_end(end)
        if limit < geometry.capacity and held_from < geometry.track_start(end):
            return geometry.track_end(limit)
        return limit

    def _extend(self, segment: Segment, end: int) -> None:
        """Move the limit of the look-ahead after a further read of a segment, which ends at `end`; never back."""
        held_from = segment.start if self._keeps_sent else segment.consumed
        limit = min(self._limit(held_from, end), end + self._look_ahead)
        before = segment.consumed + segment.ahead
        if limit < before:
            limit = before
        segment.consumed = end
        segment.ahead = limit - end if limit > end else 0
        segment.reach = end + segment.ahead
        segment.safe_s = 0.0

    def _end_at(self, segment: Segment, at: float) -> int:
        """End (bytes) of what the segment holds at `at` (s)."""
        if not self._reading or segment is not self._segment:
            return self._end_of(segment)
        return self._passed(segment, at)

    def _end_of(self, segment: Segment) -> int:
        """End (bytes) of what a segment holds that is not being read into."""
        if segment.stale:
            segment.end = self._passed(segment, segment.stopped_s)
            segment.stale = False
        return segment.end

    def _passed(self, segment: Segment, at: float) -> int:
        if at <= segment.begun_s:
            return segment.end
        turns = segment.begun_turns + (at - segment.begun_s) * self._inverse_revolution
        passed = max(self.geometry.offset(turns), segment.end)
        return min(passed, segment.consumed + segment.ahead, self.geometry.capacity)
