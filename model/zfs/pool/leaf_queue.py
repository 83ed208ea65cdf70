"""The queue that ZFS keeps in front of each member, above the queue of the block layer.

Each class of I/O has a least and a most number of I/Os at the member. I/Os that lie close together are joined into
one request. Asynchronous I/O is sorted by offset; I/O that somebody waits for is not. Source: OpenZFS 2.3
module/zfs/vdev_queue.c (vdev_queue_class_to_issue, vdev_queue_aggregate, vdev_queue_io_to_issue).
"""

from __future__ import annotations

from collections import deque
from typing import Final

from mypy_extensions import i64

from ...core.device import Device
from ...core.engine import Engine
from ...core.request import READ, TRIM, Completion, Request
from ...core.search import left_of
from .dirty_data import DirtyData
from .member_io import ASYNC_WRITE, CLASSES, SYNC_READ, MemberIo, is_background, is_first_come
from .settings import QueueSettings

_SLOT_S: Final = 0.536870912
"""Asynchronous I/O queued within this time (s) is sorted by offset (VDQ_T_SHIFT, 2^29 ns)."""
_LONGEST: Final = 16 << 20


class SortedIos:
    """I/Os by offset."""

    __slots__ = ("ios", "offsets")

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.ios: list[MemberIo] = []

    def add(self, io: MemberIo) -> None:
        """Put an I/O into its place."""
        offsets = self.offsets
        if not offsets or io.offset > offsets[-1]:
            offsets.append(io.offset)
            self.ios.append(io)
        else:
            index = left_of(offsets, io.offset)
            offsets.insert(index, io.offset)
            self.ios.insert(index, io)

    def index(self, io: MemberIo) -> i64:
        """Where it is."""
        index = left_of(self.offsets, io.offset)
        while self.ios[index] is not io:
            index += 1
        return index


class LeafQueue(Completion):
    """The queue of one member.

    Parameters
    ----------
    engine
        The clock.
    device
        The member.
    settings
        Module parameters.
    dirty
        The pool's dirty data, which decide how many asynchronous writes are at the member.
    rotating
        Whether the member is a hard disk: joined requests may be larger.

    Attributes
    ----------
    active
        Requests at the member.
    last_end
        Byte behind the last request that was issued.
    """

    __slots__ = (
        "_active",
        "_credit",
        "_dirty",
        "_engine",
        "_fifo",
        "_interactive",
        "_last_class",
        "_least",
        "_limit",
        "_most",
        "_reads",
        "_settings",
        "_slots",
        "_waiting",
        "_writes",
        "active",
        "device",
        "last_end",
        "rotating",
    )

    def __init__(
        self, engine: Engine, device: Device, settings: QueueSettings, dirty: DirtyData, rotating: bool
    ) -> None:
        self._engine = engine
        self.device = device
        self._settings = settings
        self._dirty = dirty
        self.rotating = rotating
        limit = settings.aggregation_limit if rotating else settings.aggregation_limit_non_rotating
        self._limit: i64 = limit
        self._least = [
            settings.sync_read_min_active,
            settings.sync_write_min_active,
            settings.async_read_min_active,
            settings.async_write_min_active,
            settings.scrub_min_active,
            settings.trim_min_active,
            settings.rebuild_min_active,
        ]
        self._most = [
            settings.sync_read_max_active,
            settings.sync_write_max_active,
            settings.async_read_max_active,
            settings.async_write_max_active,
            settings.scrub_max_active,
            settings.trim_max_active,
            settings.rebuild_max_active,
        ]
        self._active = [0] * CLASSES
        self._waiting = [0] * CLASSES
        self._fifo: list[deque[MemberIo]] = [deque() for _ in range(CLASSES)]
        # Of asynchronous classes: I/Os by the half second in which they came.
        self._slots: list[deque[SortedIos]] = [deque() for _ in range(CLASSES)]
        self._reads = SortedIos()
        self._writes = SortedIos()
        self._last_class: i64 = 0
        self._interactive: i64 = 0
        self._credit: i64 = 0
        self.active: i64 = 0
        self.last_end: i64 = 0

    def submit(self, io: MemberIo) -> None:
        """Queue an I/O."""
        priority = io.priority
        io.queued = True
        self._waiting[priority] += 1
        if is_first_come(priority):
            self._fifo[priority].append(io)
        else:
            slot = i64(self._engine._now / _SLOT_S)
            slots = self._slots[priority]
            if not slots or slots[-1].ios[-1].slot != slot:
                slots.append(SortedIos())
            io.slot = slot
            slots[-1].add(io)
        if io.op != TRIM:
            (self._reads if io.op == READ else self._writes).add(io)
        self._issue()

    def hurry(self, io: MemberIo) -> None:
        """Make a waiting asynchronous read one that somebody waits for."""
        if io.queued:
            self._take_out(io)
            io.priority = SYNC_READ
            self.submit(io)

    def done(self, request: Request) -> None:
        """A request is complete: its I/Os are, and others may be issued."""
        assert isinstance(request, _Joined)
        priority = request.priority
        self._active[priority] -= 1
        self.active -= 1
        if not is_background(priority):
            self._interactive -= 1
            self._credit = self._settings.nia_credit if self._interactive else 0
        elif not self._interactive:
            self._credit += 1
        for io in request.ios:
            io.complete()
        self._issue()

    def _issue(self) -> None:
        """Issue what may be issued."""
        while True:
            priority = self._next_class()
            if priority < 0:
                return
            ios = self._joined(self._first(priority))
            for io in ios:
                self._take_out(io)
            written = [io for io in ios if not io.optional]
            if not written:
                for io in ios:
                    io.complete()
                continue
            first, last = ios[0], ios[-1]
            self._active[priority] += 1
            self.active += 1
            if not is_background(priority):
                self._interactive += 1
                if self._interactive == 1:
                    self._credit = 1
            elif self._interactive:
                self._credit -= 1
            self.last_end = last.offset + last.size
            request = _Joined(first.op, first.offset, self.last_end - first.offset, self, first.issuer, first.sync)
            request.ios = ios
            request.priority = priority
            self.device.submit(request)

    def _next_class(self) -> i64:
        """The class that is served next, -1 if none: those below their least in turn, then by preference."""
        waiting, active = self._waiting, self._active
        if self.active >= self._settings.max_active:
            return -1
        for step in range(CLASSES):
            priority = (self._last_class + 1 + step) % CLASSES
            if waiting[priority] and active[priority] < self._least_active(priority):
                self._last_class = priority
                return priority
        for priority in range(CLASSES):
            if waiting[priority] and active[priority] < self._most_active(priority):
                self._last_class = priority
                return priority
        return -1

    def _least_active(self, priority: i64) -> i64:
        if self._interactive and is_background(priority):
            return min(self._credit, self._least[priority])
        return self._least[priority]

    def _most_active(self, priority: i64) -> i64:
        if priority == ASYNC_WRITE:
            return self._dirty.async_writes
        if is_background(priority):
            if self._interactive:
                return min(self._credit, self._least[priority])
            if self._credit < self._settings.nia_delay:
                return max(1, self._least[priority])
        return self._most[priority]

    def _first(self, priority: i64) -> MemberIo:
        """The I/O of a class that is next: the oldest, or the next one by offset of those of the oldest half second."""
        if is_first_come(priority):
            fifo = self._fifo[priority]
            while not fifo[0].queued:
                fifo.popleft()
            return fifo[0]
        sorted_ios = self._slots[priority][0]
        index = left_of(sorted_ios.offsets, self.last_end)
        return sorted_ios.ios[index if index < len(sorted_ios.ios) else 0]

    def _joined(self, io: MemberIo) -> list[MemberIo]:
        """The I/O and its neighbors that become one request with it, by offset (vdev_queue_aggregate)."""
        if io.op == TRIM:
            return [io]
        reads = io.op == READ
        held = self._reads if reads else self._writes
        gap = self._settings.read_gap_limit if reads else 0
        ios = held.ios
        first = last = index = held.index(io)
        start, end = io.offset, io.offset + io.size
        while first:
            other = ios[first - 1]
            if end - other.offset > self._limit or start - other.offset - other.size > gap:
                break
            first -= 1
            start = other.offset
        while first < index and ios[first].optional:
            first += 1
        start = ios[first].offset
        mandatory = index if not io.optional else -1
        for each in range(first, index):
            if not ios[each].optional:
                mandatory = max(mandatory, each)
        while last + 1 < len(ios):
            other = ios[last + 1]
            span = other.offset + other.size - start
            if (span > self._limit and not other.optional) or span > _LONGEST or other.offset - end > gap:
                break
            last += 1
            end = max(end, other.offset + other.size)
            if not other.optional:
                mandatory = last
        # Padding at the end is written if it follows a write directly and more follows, or closes a short column.
        if not reads and mandatory >= 0 and last > mandatory and not self._stretches(ios, mandatory, last):
            last = mandatory
        return ios[first : last + 1]

    def _stretches(self, ios: list[MemberIo], mandatory: i64, last: i64) -> bool:
        """Whether a write follows the padding behind `mandatory` within the gap."""
        end = ios[mandatory].offset + ios[mandatory].size
        at = last
        while at + 1 < len(ios) and ios[at + 1].offset == ios[at].offset + ios[at].size:
            at += 1
            if ios[at].offset - end > self._settings.write_gap_limit:
                return False
            if not ios[at].optional:
                return True
        return False

    def _take_out(self, io: MemberIo) -> None:
        io.queued = False
        self._waiting[io.priority] -= 1
        if io.op != TRIM:
            held = self._reads if io.op == READ else self._writes
            index = held.index(io)
            del held.ios[index], held.offsets[index]
        if not is_first_come(io.priority):
            slots = self._slots[io.priority]
            for sorted_ios in slots:
                if sorted_ios.ios[0].slot == io.slot:
                    index = sorted_ios.index(io)
                    del sorted_ios.ios[index], sorted_ios.offsets[index]
                    if not sorted_ios.ios:
                        slots.remove(sorted_ios)
                    return


class _Joined(Request):
    """A request to a member, with the I/Os that it serves."""

    __slots__ = ("ios", "priority")

    ios: list[MemberIo]
    priority: i64
