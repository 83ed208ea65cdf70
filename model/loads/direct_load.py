"""What loads share that a program sends straight to a device, with a queue depth (:mod:`.closed_load`) or a rate
(:mod:`.open_load`).

Loads are callbacks: an I/O needs no scheduled event beyond those of the device, or one if the program waits for CPU
time.

The response time of an I/O is that from when it is wanted until the program has its result. A closed load wants an I/O
as soon as it has the one before in the same place of its queue, an open one when the I/O is due. So the thread is a
server with a queue, and Little's law holds of it: depth = rate x mean response. The submission and completion
latencies that fio prints (slat, clat) are parts of it: until the device has the I/O, and from then on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import repeat
from typing import Final

from ..core.device import Device, unplugs
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import DIRECT, READ, WAITED, WRITE, Completion, Request
from ..statistics.latency_histogram import LatencyHistogram
from ..tasks.cpu import Cpu
from ..tasks.host import SleepingThread
from ..tasks.io_call_price import NO_PAGES, PageCosts
from ..waits.causes import CPU
from ..waits.trail import IoWaits, Mark, waited
from .user_threads import UserThreads

BLOCK: Final = 4096
"""Random numbers drawn at once."""


class LoadIo(Request):
    """An I/O of a load.

    Attributes
    ----------
    wanted
        When the program wanted it (s).
    """

    __slots__ = ("wanted",)

    def __init__(self, op: int, offset: int, size: int, done: Completion, issuer: int, sync: int) -> None:
        super().__init__(op, offset, size, done, issuer, sync)
        self.wanted = 0.0


class DirectLoad(Completion):
    """What both loads share: which I/Os they send, and what they count.

    Parameters
    ----------
    engine
        The clock; the load draws from its stream `name`.
    device
        What the I/Os go to.
    size
        Bytes of each I/O; random offsets are multiples of it.
    read_share
        Share of reads, 0 to 1.
    sequential
        Whether the offsets follow each other, around from the end of the span to its start, or are random.
    start, span
        The part of the device that is used (bytes); span None for the rest of the device.
    issuer
        Whose I/Os these are (:attr:`Request.issuer`); several loads on one device have different
        ones, because a thread that finds no tag sleeps.
    name
        Name of the random stream.
    ios
        What it sends instead: ``READ`` or ``WRITE``, offset and size of each (:mod:`raidsim.model.loads.pattern`);
        `read_share` and `sequential` then have no say, and `size` is the largest.
    fsync
        Completed writes after which the device is flushed (fio's fsync); 0: never.
    independent
        If true, the I/Os come from independent users, each with a thread that waits until its I/O is complete. If
        false, one thread submits all of them, as in fio, and submits nothing while md or the block layer blocks it.
    pages
        What the size of an I/O adds to the CPU time of the program.

    Attributes
    ----------
    reads, writes, bytes
        Completed since the statistics started.
    read_latency, write_latency
        Their response times (s).
    submissions, submission_s
        I/Os submitted since then, and how long (s) they were wanted before that, together.
    waits
        What they spent their response times on (:mod:`raidsim.model.waits.trail`).
    """

    __slots__ = (
        "_asleep",
        "_device",
        "_drawn",
        "_engine",
        "_fsync",
        "_ios",
        "_one_size",
        "_pages",
        "_plugs",
        "_present",
        "_random",
        "_sequential",
        "_since",
        "_sleepers",
        "_slept_for",
        "_stopped",
        "_stream",
        "_unsynced",
        "_users",
        "_woke_s",
        "bytes",
        "name",
        "read_latency",
        "read_share",
        "reads",
        "size",
        "span",
        "start",
        "submission_s",
        "submissions",
        "waits",
        "write_latency",
        "writes",
    )

    def __init__(
        self,
        engine: Engine,
        device: Device,
        *,
        size: int,
        read_share: float = 1.0,
        sequential: bool = False,
        start: int = 0,
        span: int | None = None,
        issuer: int = 0,
        name: str = "load",
        ios: Iterator[tuple[int, int, int]] | None = None,
        fsync: int = 0,
        independent: bool = False,
        pages: PageCosts = NO_PAGES,
    ) -> None:
        self.span = device.capacity - start if span is None else span
        if size < 1 or start < 0 or self.span < size or start + self.span > device.capacity:
            raise ModelError(
                f"{name}: I/Os of {size} bytes in [{start}, {start + self.span}) of {device.name} with "
                f"{device.capacity} bytes; at least one I/O must fit"
            )
        if not 0 <= read_share <= 1:
            raise ModelError(f"{name}: read_share {read_share}; 0 to 1")
        self._engine = engine
        self._device = device
        self.size = size
        self.read_share = read_share
        self._sequential = sequential
        self.start = start
        self._stream = issuer
        self.name = name
        self._random = engine.streams.generator(name)
        self._ios = zip(self._draw_ops(), self._draw_places(), repeat(size), strict=False) if ios is None else ios
        self._one_size = ios is None
        # I/Os that are drawn and not submitted.
        self._drawn: deque[tuple[int, int, int]] = deque()
        self._pages = pages
        self._stopped = self._asleep = False
        # What the thread slept for last, and until when (s).
        self._slept_for, self._woke_s = CPU, 0.0
        self._fsync = fsync
        self._unsynced = 0
        # I/Os that are submitted and not counted, and the sum of the times (s) since when they are wanted.
        self._present = 0
        self._since = 0.0
        queues = device.queues()
        # All are of one host, whose sleeping threads they share.
        self._sleepers: dict[int, SleepingThread] = queues[0].sleepers if queues else {}
        self._users = UserThreads(issuer) if independent else None
        self._plugs = unplugs(device)
        self.start_statistics(engine._now)

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far (the warm-up); `now` is the current time (s)."""
        self.reads = self.writes = self.bytes = 0
        self.submissions = 0
        self.submission_s = 0.0
        self.read_latency = LatencyHistogram()
        self.write_latency = LatencyHistogram()
        self.waits = IoWaits()

    def unfinished(self, now: float) -> tuple[int, float]:
        """I/Os that are submitted and not taken by the program, and the sum of the times since they were wanted (s)."""
        return self._present, self._present * now - self._since

    def stop(self) -> None:
        """Send no more I/Os; those under way complete."""
        self._stopped = True

    def _draw_ops(self) -> Iterator[int]:
        share = self.read_share
        if share in (0.0, 1.0):
            only = READ if share else WRITE
            while True:
                yield only
        while True:
            yield from (self._random.random(BLOCK) >= share).astype(int).tolist()

    def _draw_places(self) -> Iterator[int]:
        size, start, count = self.size, self.start, self.span // self.size
        if self._sequential:
            while True:
                yield from range(start, start + count * size, size)
        while True:
            yield from (start + size * self._random.integers(0, count, BLOCK)).tolist()

    def _next(self) -> LoadIo:
        drawn = self._drawn
        op, place, size = drawn.popleft() if drawn else next(self._ios)
        return LoadIo(op, place, size, self, self._stream, DIRECT if op else WAITED)

    def _pages_ahead_s(self, count: int) -> float:
        """CPU time (s) that the size of the next `count` I/Os adds to their submission."""
        pages = self._pages
        if self._one_size:
            return count * pages.submission_s(READ, self.size)
        if not pages.pin_s and not pages.bio_s:
            return 0.0
        drawn = self._drawn
        seconds = 0.0
        for at in range(count):
            if at == len(drawn):
                drawn.append(next(self._ios))
            op, _, size = drawn[at]
            seconds += pages.submission_s(op, size)
        return seconds

    def _submit(self, wanted: float) -> None:
        """Submit the next I/O, which the program has wanted since then (s)."""
        users = self._users
        if users is not None:
            self._stream = users.take()
        io = self._next()
        self._begin(io, wanted)
        self._device.submit(io)
        if users is not None:
            return
        if self._sleepers:
            thread = self._sleepers.get(self._stream)
            if thread is not None and thread.sleeps:
                self._asleep = True
                self._slept_for = thread.cause
                thread.backlog.append(self._awake)

    def _begin(self, io: LoadIo, wanted: float) -> None:
        """Count an I/O that is submitted now, and has been wanted since then (s)."""
        now = self._engine._now
        io.wanted = wanted
        self.submissions += 1
        self.submission_s += now - wanted
        trail = self.waits.begin(wanted)
        if trail is not None:
            io.trail = self._on_host(trail, now)
        self._present += 1
        self._since += wanted

    def _awake(self) -> None:
        self._asleep = False
        self._woke_s = self._engine._now

    def _on_host(self, trail: Mark, now: float) -> Mark:
        """The trail of an I/O that has waited until now (s) for its thread: while that slept, and for the CPU."""
        return waited(waited(trail, self._slept_for, min(self._woke_s, now)), CPU, now)

    def _count(self, io: LoadIo, now: float) -> None:
        """Count an I/O whose result the program has `now` (s)."""
        if self._users is not None:
            self._users.give_back(io.issuer)
        wanted = io.wanted
        self._present -= 1
        self._since -= wanted
        if io.trail is not None and io.op <= WRITE:
            io.trail = self._on_host(io.trail, now)
            self.waits.end(io.op, io.trail, now - wanted)
        if io.op == READ:
            self.bytes += io.size
            self.reads += 1
            self.read_latency.add(now - wanted)
        elif io.op == WRITE:
            self.bytes += io.size
            self.writes += 1
            self.write_latency.add(now - wanted)
            if self._fsync:
                self._unsynced += 1
                if self._unsynced >= self._fsync:
                    self._unsynced = 0
                    self._sync()

    def _sync(self) -> None:
        """Flush the device; nobody waits."""
        self._device.flush(_nothing)


def core_of(issuer: int, device: Device, cpu: Cpu | None) -> int | None:
    """The core that a thread stays on, where devices interrupt the core that submitted; None for any."""
    if cpu is None or not any(queue.spreads for queue in device.queues()):
        return None
    return issuer % cpu.cores


def _nothing() -> None:
    """A device without a plug."""
