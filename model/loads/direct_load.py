"""Loads that a benchmark program sends straight to a device, with a fixed queue depth or (:mod:`.open_load`) rate.

`ClosedLoad` is fio with direct=1 and ioengine=libaio: each I/O that completes is replaced by the next. Loads are
callbacks: an I/O needs no scheduled event beyond those of the device, or one if the program waits for CPU time.

The response time of an I/O is that from when it is wanted until the program has its result. A closed load wants an I/O
as soon as it has the one before in the same place of its queue, an open one when the I/O is due. So the thread is a
server with a queue, and Little's law holds of it: depth = rate x mean response. The submission and completion
latencies that fio prints (slat, clat) are parts of it: until the device has the I/O, and from then on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final

from ..core.device import Device, unplugs
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import DIRECT, READ, WAITED, WRITE, Completion, Request
from ..statistics.latency_histogram import LatencyHistogram
from ..tasks.cpu import Cpu
from ..tasks.host import Host, SleepingThread
from .user_threads import UserThreads

BLOCK: Final = 4096
"""Random numbers drawn at once."""

AIO_PLUG_THRESHOLD: Final = 2
"""io_submit plugs only for more I/Os than this at a time (fs/aio.c)."""


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

    Attributes
    ----------
    reads, writes, bytes
        Completed since the statistics started.
    read_latency, write_latency
        Their response times (s).
    submissions, submission_s
        I/Os submitted since then, and how long (s) they were wanted before that, together.
    """

    __slots__ = (
        "_asleep",
        "_device",
        "_engine",
        "_fsync",
        "_ios",
        "_plugs",
        "_random",
        "_sequential",
        "_sleepers",
        "_stopped",
        "_stream",
        "_unsynced",
        "_users",
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
        self._stopped = self._asleep = False
        self._fsync = fsync
        self._unsynced = 0
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
        op, place, size = next(self._ios)
        return LoadIo(op, place, size, self, self._stream, DIRECT if op else WAITED)

    def _submit(self, wanted: float) -> None:
        """Submit the next I/O, which the program has wanted since then (s)."""
        users = self._users
        if users is not None:
            self._stream = users.take()
        io = self._next()
        io.wanted = wanted
        self.submissions += 1
        self.submission_s += self._engine._now - wanted
        self._device.submit(io)
        if users is not None:
            return
        if self._sleepers:
            thread = self._sleepers.get(self._stream)
            if thread is not None and thread.sleeps:
                self._asleep = True
                thread.backlog.append(self._awake)

    def _awake(self) -> None:
        self._asleep = False

    def _count(self, io: LoadIo, now: float) -> None:
        """Count an I/O whose result the program has `now` (s)."""
        if self._users is not None:
            self._users.give_back(io.issuer)
        wanted = io.wanted
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


class ClosedLoad(DirectLoad):
    """One thread that keeps `depth` I/Os outstanding, and sleeps where md or the block layer puts it to sleep.

    With `independent` these are `depth` users of one program, each with a thread and an I/O of its own. While the
    program waits for a flush (`fsync`) it submits nothing; what is outstanding goes on.

    Parameters
    ----------
    depth
        I/Os outstanding (iodepth); 1 is psync.
    batch
        I/Os per io_submit (iodepth_batch_submit): the thread plugs its submissions if there are more than two.
    submit_s, complete_s
        CPU time (s) to submit an I/O, and to take its completion; nothing if it is complete inside its submission.
    wake_s
        CPU time (s) to be woken by a completion, when the program has nothing else to do.
    cpu
        What that time is spent on; loads that share it take turns. None if it costs nothing.
    host
        Whose locks the thread spins for inside its submissions. None for a thread that submits meanwhile.
    begin_s
        When the first I/O may come, from now (s).
    """

    __slots__ = (
        "_complete_s",
        "_core",
        "_cpu",
        "_finished",
        "_host",
        "_outstanding",
        "_reaped",
        "_running",
        "_spun_s",
        "_submit_s",
        "_submitting_s",
        "_syncing",
        "_taken",
        "_thinks",
        "_wake_s",
        "_wanted",
        "_woken_s",
        "batch",
        "depth",
    )

    def __init__(
        self,
        engine: Engine,
        device: Device,
        *,
        size: int,
        depth: int = 1,
        read_share: float = 1.0,
        sequential: bool = False,
        start: int = 0,
        span: int | None = None,
        issuer: int = 0,
        name: str = "load",
        ios: Iterator[tuple[int, int, int]] | None = None,
        batch: int = 1,
        submit_s: float = 0.0,
        complete_s: float = 0.0,
        wake_s: float = 0.0,
        cpu: Cpu | None = None,
        host: Host | None = None,
        fsync: int = 0,
        independent: bool = False,
        begin_s: float = 0.0,
    ) -> None:
        super().__init__(
            engine,
            device,
            size=size,
            read_share=read_share,
            sequential=sequential,
            start=start,
            span=span,
            issuer=issuer,
            name=name,
            ios=ios,
            fsync=fsync,
            independent=independent,
        )
        self._syncing = False
        if depth < 1 or batch < 1:
            raise ModelError(f"{name}: depth {depth}, batch {batch}; at least 1")
        if submit_s < 0 or complete_s < 0 or ((submit_s or complete_s) and cpu is None):
            raise ModelError(f"{name}: submit_s {submit_s}, complete_s {complete_s}; not negative, and on a cpu")
        self.depth = depth
        self.batch = batch
        self._submit_s = submit_s
        self._complete_s = complete_s
        self._wake_s = wake_s
        self._woken_s = self._spun_s = 0.0
        self._cpu = cpu if submit_s or complete_s else None
        self._core = core_of(issuer, device, cpu)
        self._host = host
        if host is not None and self._cpu is not None:
            host.passing_s[self._stream] = 0.0
        self._outstanding = self._reaped = 0
        # Since when (s) the program has wanted the I/Os that it has not submitted.
        self._wanted: deque[float] = deque()
        # I/Os that are complete and not taken, and those that are being taken.
        self._finished: list[LoadIo] = []
        self._taken: list[LoadIo] = []
        self._submitting_s = 0.0
        self._thinks = False
        self._running = True
        engine.call_at(engine._now + begin_s, self._start)

    @property
    def outstanding(self) -> int:
        """I/Os that are submitted and not complete."""
        return self._outstanding

    def _start(self, _: Any) -> None:
        self._running = False
        now = self._engine._now
        for _slot in range(self.depth):
            self._wanted.append(now)
        self._run()

    def _run(self) -> None:
        """Take completions and submit what may be submitted, now or when the CPU has done its work."""
        if self._running:
            return
        self._running = True
        if self._cpu is None:
            while self._may_submit():
                self._submit_batch()
            self._running = False
        elif self._may_work():
            if self._finished:
                self._woken_s = self._wake_s
            self._work()
        else:
            self._running = False

    def _may_submit(self) -> bool:
        return bool(self._wanted) and not (self._asleep or self._stopped or self._syncing)

    def _may_work(self) -> bool:
        """Whether the thread, which is awake, has completions to take or I/Os to submit."""
        return not (self._asleep or self._syncing) and (bool(self._finished) or self._may_submit())

    def _work(self) -> None:
        assert self._cpu is not None
        taken = self._taken = self._finished
        self._finished = []
        wanted = len(self._wanted)
        if not self._thinks:
            wanted += len(taken)
        submit_s = 0.0 if self._stopped else self._submit_s * min(self.batch, wanted)
        seconds = self._reaped * self._complete_s + self._woken_s + self._spun_s + submit_s
        self._reaped = 0
        self._woken_s = self._spun_s = 0.0
        self._submitting_s = submit_s
        self._cpu.run_then(seconds, self._core, self._worked)

    def _worked(self, _: Any) -> None:
        taken = self._taken
        if taken:
            self._taken = []
            now = self._engine._now - self._submitting_s
            for io in taken:
                self._take(io, now)
        if self._may_submit():
            self._submit_batch()
            host, cpu = self._host, self._cpu
            if host is not None and cpu is not None:
                stalled_s = host.stalled_s(self._stream, self._engine._now)
                if stalled_s and not self._may_work():
                    cpu.spend(stalled_s, self._core)
                    stalled_s = 0.0
                # md works before the drive does, so the thread pays that before its next I/O, not while this one runs.
                self._spun_s = host.take_passing_s(self._stream) + stalled_s
        if self._may_work():
            self._work()
        else:
            self._running = False

    def _submit_batch(self) -> None:
        if self._plugs and self.batch > AIO_PLUG_THRESHOLD:
            self._device.plug()
        for _ in range(self.batch):
            self._outstanding += 1
            self._submit(self._wanted.popleft())
            if not self._may_submit():
                break
        if self._plugs:
            self._device.unplug()

    def _awake(self) -> None:
        self._asleep = False
        self._run()

    def _sync(self) -> None:
        self._syncing = True
        self._device.flush(self._synced)

    def _synced(self) -> None:
        self._syncing = False
        self._run()

    def _take(self, io: LoadIo, now: float) -> None:
        """The program has the result of an I/O `now` (s), and wants the next in its place."""
        self._count(io, now)
        self._next_wanted(now)

    def _next_wanted(self, now: float) -> None:
        self._wanted.append(now)

    def done(self, request: Request) -> None:
        """An I/O is complete: the program takes it when it comes to that, and submits the next."""
        assert isinstance(request, LoadIo)
        self._outstanding -= 1
        if self._cpu is None:
            self._take(request, self._engine._now)
        else:
            self._finished.append(request)
            if self._host is None or request.issuer not in self._host.computing:
                self._reaped += 1
        self._run()


def core_of(issuer: int, device: Device, cpu: Cpu | None) -> int | None:
    """The core that a thread stays on, where devices interrupt the core that submitted; None for any."""
    if cpu is None or not any(queue.spreads for queue in device.queues()):
        return None
    return issuer % cpu.cores


def _nothing() -> None:
    """A device without a plug."""
