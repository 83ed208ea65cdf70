"""The head of a drive through time, evaluated only when a command asks.

The head does one thing at a time: it moves, waits for the platter, reads what a command wants, reads ahead,
or writes cached data back. Nothing of this costs an event. The timeline is known up to some instant; when
a command arrives, what the head did unasked since then (read ahead until the segment's limit, then destage) is
worked out with exact rotational positions, and the command's own work is appended.

Rules, as drive firmware is described by Ruemmler and Wilkes (IEEE Computer 27(3), 1994), by DiskSim's disk module
(Bucy et al., CMU-PDL-08-101, 2008) and in makers' manuals (Maxtor D540X-4G, 2-4):

- after a read the head reads on until it is `look_ahead` bytes beyond what the host has asked for;
- a read in or a little ahead of what is being read waits for the head to get there, if that is soonest;
- a drive that adapts reads only a certain amount ahead after a read, until one begins where it ended, and looks into
  its buffer for the first sector only: a read a little ahead of what is there begins anew (Fujitsu's manuals C141-E077,
  -E145, -E192 and -E224, "miss-hit"; "CacheFlow" in Western Digital's technical references). In disks for notebooks the
  amount was 0 until 2000 (C141-E050, -E104). What passes under the head before it could start anew is there (assumed:
  a drive that missed what it has just read would lose a revolution for nothing);
- when the lead is full the head destages in batches (see :mod:`.destaging`), and returns to the stream when the
  batch is done or the lead is low; a drive whose reading ahead belongs to the read command does not do so once a write
  has come (Fujitsu's manual C141-E104, 6.5);
- any other command cuts in, at once, or a read when a stream has been read ahead by a minimum. SCSI's caching mode page
  has it as MINIMUM PRE-FETCH, which holds regardless of the delay to other commands (Seagate, SCSI interface product
  manual, vol. 2). Drives of 2010 keep half of their rate with two streams of one command each (xbitlabs.com, hdd-2010).
"""

from __future__ import annotations

from math import floor

from ..core.search import right_of
from .buffer import EMPTY
from .look_ahead import LookingAhead
from .mechanics.geometry import SECTOR, Geometry
from .mechanics.head import EARLY
from .mechanics.seek import SeekCurve
from .segments import Segment


class Media(LookingAhead):
    """Head, platters and buffer of one drive.

    Parameters
    ----------
    geometry, seeks, phase
        As for :class:`~.mechanics.head.Head`.
    segments, segment_bytes, look_ahead_bytes
        Read segments, the size of each, and how far the head reads ahead; 0 segments or 0 bytes: not at all.
    first_ahead_bytes
        How far after a read that continues no other; None: as far as after any, and drives do not adapt.
    write_buffer_bytes, write_extents, destage_batch_bytes
        As for :class:`~.destaging.WritingHead`.
    low_water_bytes, look_ahead_returns
        As for :class:`~.look_ahead.LookingAhead`.
    look_ahead_until, wraps, keeps_sent, keeps_written, writes_clear, keeps_before, minimum_prefetch_bytes
        As for :class:`~.buffer.BufferedHead`.
    reads_at_once
        Whether a read begins with whatever sector of it passes first, so that no read of one track takes longer than
        one turn from there.
    head_switch_s
        As for :class:`~.mechanics.head.Head`.

    Attributes
    ----------
    hit
        Whether the last read was served from, or was being read into, the buffer.
    first_s
        When the first byte of the last read was in the buffer (s).
    """

    __slots__ = (
        "_adapts",
        "_at_once",
        "_first_ahead",
        "_first_safe_s",
        "_ruled",
        "_safe_ahead_s",
        "_straight",
        "first_s",
        "hit",
    )

    def __init__(
        self,
        geometry: Geometry,
        seeks: SeekCurve,
        phase: float = 0.0,
        *,
        segments: int = 0,
        segment_bytes: int = 0,
        look_ahead_bytes: int = 0,
        first_ahead_bytes: int | None = None,
        write_buffer_bytes: int = 0,
        write_extents: int = 0,
        destage_batch_bytes: int = 0,
        low_water_bytes: int = 0,
        look_ahead_returns: bool = True,
        look_ahead_until: str = "segment",
        wraps: bool = False,
        keeps_sent: bool = True,
        keeps_written: bool = False,
        writes_clear: bool = False,
        keeps_before: bool = False,
        minimum_prefetch_bytes: int = 0,
        reads_at_once: bool = False,
        head_switch_s: float = 0.0,
    ) -> None:
        super().__init__(
            geometry,
            seeks,
            phase,
            write_buffer_bytes,
            write_extents,
            destage_batch_bytes,
            head_switch_s,
            segments,
            segment_bytes,
            look_ahead_bytes,
            look_ahead_until,
            wraps,
            keeps_sent,
            keeps_written,
            writes_clear,
            keeps_before,
            minimum_prefetch_bytes,
            low_water_bytes,
            look_ahead_returns,
        )
        self._adapts = first_ahead_bytes is not None
        self._first_ahead = min(self._look_ahead, self._look_ahead if first_ahead_bytes is None else first_ahead_bytes)
        fastest = max(zone.sectors_per_track for zone in geometry.zones) * SECTOR / geometry.revolution_s
        self._safe_ahead_s = self._look_ahead / fastest
        self._first_safe_s = self._first_ahead / fastest
        self._at_once = reads_at_once
        self._ruled = keeps_before or self._bounded or reads_at_once
        self._straight = geometry.straight
        self.hit = False
        self.first_s = 0.0

    def read(self, offset: int, size: int, hit_s: float, miss_s: float) -> float:
        """Serve a read; the time (s) its last byte is in the buffer.

        Parameters
        ----------
        offset, size
            Bytes.
        hit_s, miss_s
            When the drive has decoded the command and looks into its buffer, and when it starts the arm.
        """
        end = offset + size
        segment = self._segment
        evicted: Segment | None = None
        if self._written and not self._returns:
            self.settle(hit_s)
            self._written = False
        if self.dirty.total or self._freeing:
            if segment is None or not self._reading or hit_s >= segment.safe_s:
                self.settle(hit_s)
            if self.writes_hold(offset, end, hit_s):
                self.hit = True
                self.first_s = hit_s
                return hit_s
        if segment is not None:
            if (
                segment.start <= offset <= segment.reach
                and offset >= segment.consumed - self._segment_bytes
                and not (self._adapts and self._anew(segment, offset, miss_s))
                and not (self._gives_up and self._given_up(segment, offset, hit_s))
            ):
                return self._follow(segment, offset, end, hit_s, miss_s)
            parked = self._parked.find(offset)  # type: ignore[union-attr]
            if (
                parked is not None
                and not (self._adapts and self._anew(parked, offset, hit_s))
                and not (self._gives_up and self._given_up(parked, offset, hit_s))
            ):
                return self._return_to(parked, offset, end, hit_s, miss_s)
            start = miss_s
            if self._minimum and self._reading:
                start = self._prefetched(segment, start)
            start = self._leave(segment, start)
            evicted = segment if segment.reach == EMPTY else self._parked.park(segment)  # type: ignore[union-attr]
        else:
            start = self._free_s if self._free_s > miss_s else miss_s
        # The path of every random read: what Geometry.span() and _arrive() do, but for the rounding of a transfer that
        # stays on its track.
        first_byte, inverse, first_turn, first_cylinder = self._rows[right_of(self._edges, offset) - 1]
        tracks = (offset - first_byte) * inverse
        whole = int(tracks)
        cylinder = whole // self._heads
        geometry = self.geometry
        turns = first_turn + tracks + whole * geometry.head_skew + cylinder * geometry.cylinder_step
        cylinder += first_cylinder
        seek = self.seeks.read[cylinder - self._arm]
        if self._switch_s:
            seek = self._switched(offset, seek, self.seeks.read)
        apart = turns - (start + seek) * self._inverse_revolution - self._phase + EARLY
        wait = (apart - floor(apart)) * self._revolution_s
        begin = start + seek + wait
        if tracks - whole + size * inverse <= self._straight:
            transfer = size * inverse * self._revolution_s
        else:
            transfer = (geometry.turns_at_end(end) - turns) * self._revolution_s
            cylinder = geometry.cylinder(end - 1)
            self._at = end - 1
        self.seek_s += seek
        self.rotation_s += wait
        self.transfer_s += transfer
        self.moved_s, self.arrived_s, self.sector_s = start, start + seek, begin
        self._arm = cylinder
        self.hit = False
        self.first_s = begin
        self._free_s = ready = begin + transfer
        if self._parked is not None:
            segment = evicted if evicted is not None else Segment(0, 0, 0, 0.0, 0.0, 0.0)
            segment.start = segment.end = offset
            segment.consumed = end
            segment.ahead = ahead = self._first_ahead
            segment.reach = end + ahead
            segment.begun_s = begin
            segment.begun_turns = turns
            segment.safe_s = ready + self._first_safe_s
            segment.stale = False
            segment.hits = 0
            self._segment = segment
            self._reading = True
            self._batch = 0
            if self._ruled:
                if self._keeps_before:
                    segment.start = self._kept_from(offset, wait)
                if self._bounded:
                    self._bound(segment, end, ahead)
                if self._at_once and self._revolution_s - wait < transfer < self._revolution_s:
                    return self._begun_inside(offset, end, wait + transfer - self._revolution_s)
        return ready

    def _begun_inside(self, offset: int, end: int, passed_s: float) -> float:
        """A read into whose middle the head arrived, `passed_s` (s) of it from its end; when all has passed (s).

        That part is read first, so the read is complete one turn after the arrival and not at its end's second pass.
        """
        if self.geometry.track(offset) == self.geometry.track(end - 1):
            self.transfer_s -= passed_s
            self._free_s -= passed_s
        return self._free_s

    def _anew(self, segment: Segment, offset: int, at: float) -> bool:
        """Whether a read neither begins where the last one of a segment ended nor in what it holds at `at` (s)."""
        return offset > segment.consumed and offset >= self._end_at(segment, at)

    def buffered(self, offset: int, size: int, at: float) -> bool:
        """Whether a read could be served from the buffer alone at time `at` (s)."""
        end = offset + size
        if (self.dirty.total or self._freeing) and self.writes_hold(offset, end, at):
            return True
        segment = self._segment
        if segment is None:
            return False
        if segment.start <= offset <= segment.reach and offset >= segment.consumed - self._segment_bytes:
            if end > segment.reach or (self._gives_up and self._given_up(segment, offset, at)):
                return False
            self.settle(at)
            return end <= self._end_at(segment, at)
        parked = self._parked.find(offset)  # type: ignore[union-attr]
        if parked is None or (self._gives_up and self._given_up(parked, offset, at)):
            return False
        return end <= self._end_of(parked)

    def has_begun(self, offset: int, size: int, at: float) -> bool:
        """Whether the head reads, or has read, the beginning of a read in its stream at `at` (s), so need not move."""
        segment = self._segment
        if segment is None or not segment.start <= offset <= segment.reach:
            return False
        if offset < segment.consumed - self._segment_bytes:
            return False
        return (offset if self._reading else offset + size) <= self._end_at(segment, at)

    def _follow(self, segment: Segment, offset: int, end: int, hit_s: float, miss_s: float) -> float:
        """A read in, at the end of, or a little ahead of the segment the head is at."""
        if not self._reading or hit_s >= segment.safe_s:
            self.settle(hit_s)
        geometry, revolution_s = self.geometry, self._revolution_s
        if self._reading:
            if end <= segment.end:
                self._use(segment, end, hit_s)
                return hit_s
            turns = geometry.turns_at_end(end)
            ready = segment.begun_s + (turns - segment.begun_turns) * revolution_s
            if offset < segment.end:
                first = hit_s
            else:
                first = segment.begun_s + (geometry.turns(offset) - segment.begun_turns) * revolution_s
            if first - miss_s > revolution_s and self._reach_s(offset, miss_s) < first:
                # The gap is longer than it takes to go round it.
                self._leave(segment, miss_s)
                return self._read_on(segment, offset, offset, end, miss_s)
            if end > segment.consumed:
                # With what lies between: to reach the read the head has to pass over it.
                self.transfer_s += (turns - geometry.turns_at_end(segment.consumed)) * revolution_s
                if self._bounded:
                    self._extend(segment, end)
                else:
                    segment.consumed = end
                    segment.ahead = self._look_ahead
                    segment.reach = end + self._look_ahead
                    segment.safe_s = ready + self._safe_ahead_s if segment.reach <= geometry.capacity else 0.0
                if ready > self._free_s:
                    self._free_s = ready
                    self._arm = geometry.cylinder(end - 1)
                    self._at = end - 1
            segment.hits += 1
            self.hit = True
            self.first_s = first if first > hit_s else hit_s
            return ready if ready > hit_s else hit_s
        stopped = self._end_of(segment)
        if end <= stopped:
            self._use(segment, end, hit_s)
            return hit_s
        if offset < stopped:
            return self._read_on(segment, stopped, offset, end, hit_s)
        return self._read_on(segment, offset, offset, end, miss_s)

    def _return_to(self, segment: Segment, offset: int, end: int, hit_s: float, miss_s: float) -> float:
        """A read in or after a segment that the head has left."""
        parked = self._parked
        assert parked is not None
        stopped = self._end_of(segment)
        if end <= stopped:
            # All there: the head need not move, and goes on with what it does.
            parked.take(segment)
            self._use(segment, end, hit_s)
            parked.park(segment)
            return hit_s
        parked.take(segment)
        current = self._segment
        assert current is not None
        start = hit_s if offset < stopped else miss_s
        if self._minimum and self._reading:
            self._leave(current, self._prefetched(current, start))
        else:
            self._leave(current, start)
        if current.reach != EMPTY:
            parked.park(current)
        self._segment = segment
        return self._read_on(segment, stopped if offset < stopped else offset, offset, end, start)

    def _use(self, segment: Segment, end: int, at: float) -> None:
        """Account for a read that the segment holds completely."""
        if end > segment.consumed:
            self.transfer_s += self.geometry.transfer_s(segment.consumed, end - segment.consumed)
            if self._bounded:
                self._extend(segment, end)
            else:
                segment.consumed = end
                segment.ahead = self._look_ahead
                segment.reach = end + self._look_ahead
        segment.hits += 1
        self.hit = True
        self.first_s = at
        if segment is self._segment and not self._reading and self._free_s < at:
            # Room for more: from now on, not before, the head may read on.
            self._free_s = at

    def _read_on(self, segment: Segment, begin_at: int, offset: int, end: int, at: float) -> float:
        """Send the head to `begin_at` of its (stopped) segment and read to `end`; when `end` has passed (s)."""
        geometry = self.geometry
        start = self._free_s if self._free_s > at else at
        if begin_at == offset and offset != segment.end:
            segment.start = offset
        segment.begun_s = begin = self._position(begin_at, start, self.seeks.read)
        segment.begun_turns = turns = geometry.turns(begin_at)
        segment.end = begin_at
        segment.stale = False
        if self._bounded:
            self._extend(segment, max(segment.consumed, end))
        else:
            segment.consumed = max(segment.consumed, end)
            segment.ahead = self._look_ahead
            segment.reach = segment.consumed + self._look_ahead
        segment.hits += 1
        transfer = (geometry.turns_at_end(end) - turns) * self._revolution_s
        self.transfer_s += transfer
        ready = begin + transfer
        segment.safe_s = ready + self._safe_ahead_s if segment.reach <= geometry.capacity else 0.0
        if self._bounded:
            segment.safe_s = 0.0
        self._free_s = ready
        self._arm = geometry.cylinder(end - 1)
        self._at = end - 1
        self._reading = True
        self._batch = 0
        self.hit = False
        self.first_s = begin if begin_at == offset else at
        return ready
