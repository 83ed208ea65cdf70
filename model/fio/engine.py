"""What the engines of fio do with an I/O: submit it and take its completion (ioengines.c, io_u.c, engines/).

An asynchronous engine submits `batch` I/Os with one call, and takes completions when the queue is full. A synchronous
one waits for each. CPU time is charged a call at a time, so an I/O costs an event for it besides its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from ..core.engine import Engine
from ..core.request import READ, WRITE, Request
from ..core.signal import Signal
from ..programs.fio.timing import FioTiming
from ..tasks.cpu import Account
from ..tasks.host import Host
from ..tasks.io_call_price import IoEngine, submission
from ..tasks.lock import Lock
from ..waits.causes import CPU
from ..waits.trail import waited
from .buffers import WriteBuffers
from .files import CachedFile, DirectFile, FioFile
from .statistics import FioCompletions, FioStatistics

TRIM = 2
USER_S = 1e-6
"""CPU time of fio itself per I/O, as reported beside the system's: the recorded runs of 03_randread_4k_zipf11 and
05_randwrite_bssplit have 1.70 % of 1.764 s for 32,768 I/Os and 2.80 % of 0.465 s for 9,950, 0.9 to 1.3 us."""
AIO_PLUG_THRESHOLD = 2
"""io_submit plugs only for more I/Os than this at a time (fs/aio.c)."""
_SEEK_LINES = 1
"""Cache lines that move with the lock of an inode: its size is read, the position is the file's own."""
_IO_LINES = 2
"""How often direct I/O changes the word that counts the readers of an inode: down_read and up_read."""
SLEPT_S = 1e-9
"""A call through the cache that takes this much longer than its CPU time (s) has slept."""


class FioEngine(Account):
    """The engine of one thread, and its account of CPU time.

    Parameters
    ----------
    engine, host
        Clock and payer.
    timing
        How the job does its I/Os.
    files
        Those that it does them on.
    issuer
        By which the block layer knows the thread.
    completions
        Takes every I/O that is complete, those of the ramp time excepted; None if nobody wants to know.

    Attributes
    ----------
    statistics
        What has been counted; that of the ramp time is forgotten.
    counting
        Whether the ramp time is over.
    cpu_s, owed_s
        CPU time spent, and the part of it that the CPU has not been asked for yet.
    """

    __slots__ = (
        "_buffers",
        "_cached_s",
        "_call_s",
        "_core",
        "_engine",
        "_finished",
        "_host",
        "_is_async",
        "_outstanding",
        "_pages",
        "_passed_ahead_s",
        "_passing_s",
        "_position",
        "_queued",
        "_reap_s",
        "_seeks",
        "_submit_s",
        "_switch_s",
        "_timing",
        "_user_s",
        "_waits_for",
        "_wake",
        "completions",
        "counting",
        "statistics",
    )

    def __init__(
        self,
        engine: Engine,
        host: Host,
        timing: FioTiming,
        files: Iterable[FioFile],
        issuer: int,
        completions: FioCompletions | None = None,
    ) -> None:
        super().__init__(issuer)
        self._engine = engine
        self._host = host
        self._timing = timing
        self.completions = completions
        prices = host.prices
        engine_name: IoEngine = "io_uring" if timing.engine == "io_uring" else "libaio"
        costs = submission(prices, engine_name, timing.fixed_buffers)
        self._pages = costs.pages
        self._call_s = costs.call_s
        self._submit_s = costs.submit_s
        self._reap_s = 0.0
        self._seeks = timing.engine == "sync"
        self._position: dict[DirectFile, int] = {}
        self._user_s = min(USER_S, self._submit_s)
        self._buffers = WriteBuffers(host, timing.fill, issuer)
        self._is_async = timing.kind == "async"
        self._switch_s = costs.wake_s
        # Buffered I/O is complete when it is submitted: taking its completion is a call that wakes nobody.
        self._cached_s = 0.0 if timing.direct else prices.file_read_s
        spreads = any(queue.spreads for file in files if isinstance(file, DirectFile) for queue in file.queues)
        self._core = issuer % host.cpu.cores if spreads else None
        self._queued: list[tuple[DirectFile, int, int, int, float]] = []
        self._outstanding = 0
        self._finished: list[Request] = []
        self._wake: Signal | None = None
        self._waits_for = 0
        self.counting = timing.ramp_s <= 0
        self.statistics = FioStatistics(engine._now)
        # What md takes of the thread for each I/O, as the last submission showed, and what is paid of it too early.
        self._passing_s = self._passed_ahead_s = 0.0
        if timing.direct:
            host.passing_s[issuer] = 0.0

    @property
    def now(self) -> float:
        """The time as the thread has it: it has its core again, and what it owes the CPU has passed for it (s)."""
        return self._resumes() + self.owed_s

    def _resumes(self) -> float:
        """When the core that the thread stays on has woken up and done what comes before the thread (s)."""
        now = self._engine._now
        if self._core is None:
            return now
        free = self._host.cpu.free_on(self._core)
        return free if free > now else now

    def _spend(self, seconds: float) -> None:
        self.cpu_s += seconds
        self.owed_s += seconds
        self.statistics.system_s += seconds

    def _pay(self) -> Generator[Any, Any, None]:
        """Wait until the CPU has done what is owed."""
        if self.owed_s:
            owed, self.owed_s = self.owed_s, 0.0
            yield self._host.cpu.run(owed, self._core)

    # Direct I/O

    def _commit(self) -> Generator[Any, Any, None]:
        """Submit what is queued: one io_submit, or one pread or pwrite."""
        queued, self._queued = self._queued, []
        count, statistics, engine = len(queued), self.statistics, self._engine
        # md passes an I/O on before a drive has it, but says only then what that took. So the thread pays here what
        # its last I/Os took, and the difference afterwards.
        ahead = max(0.0, count * self._passing_s - self._passed_ahead_s)
        seconds = count * self._submit_s + ahead
        pages, user_s = self._pages, count * self._user_s
        for _, op, _, size, _ in queued:
            seconds += pages.submission_s(op, size)
            filling_s = self._buffers.fill_s(op, size)
            seconds += filling_s
            user_s += filling_s
        statistics.user_s += user_s
        statistics.system_s += seconds - user_s
        self.cpu_s += seconds
        owed, self.owed_s = self.owed_s + seconds, 0.0
        began = self._resumes() + owed - seconds
        if owed:
            yield self._host.cpu.run(owed, self._core)
        device = queued[0][0].device
        devices = (device,) if count == 1 else tuple({id(each[0].device): each[0].device for each in queued}.values())
        if count > AIO_PLUG_THRESHOLD:
            for device in devices:
                device.plug()
        self._outstanding += count
        statistics.submitted(count, self._outstanding)
        now, is_async, syncs = engine._now, self._is_async, self._timing.sync_writes != "none"
        host, issuer, stalled, late = self._host, self.issuer, 0.0, 0.0
        ahead += self._passed_ahead_s
        passing = 0.0
        for file, op, offset, size, began_s in queued:
            if file.inode is not None and (self._seeks or not file.on_device):
                yield from self._wait_for_inode(file.inode, file, offset, size)
                now = engine._now
            parent = [began_s, now if is_async else began, file, offset]
            done = self._synced if syncs and op == WRITE and not file.writes_through else self._done
            trail = statistics.waits.begin(began_s)
            if trail is not None:
                trail = waited(trail, CPU, now)
            file.submit(op, offset, size, done, issuer, parent, trail)
            if issuer in host.computing:
                yield from self._leave_driver()
                now = engine._now
            if host.stalled_issuer == issuer:
                stalled = host.stalled_s(issuer, now)
            passing += host.take_passing_s(issuer)
            if passing > ahead:
                late = passing - ahead
            if is_async:
                parent[1] = issued_s = now + stalled + late
                statistics.directions[op].slat.add(issued_s - began_s)
            if not file.device.has_room:
                yield from self._slept(file)
        self._passing_s = passing / count
        self._passed_ahead_s = max(0.0, ahead - passing)
        if stalled or late:
            self._spend(stalled + late)
        for device in devices:
            device.unplug()

    def _wait_for_inode(self, inode: Lock, file: DirectFile, offset: int, size: int) -> Generator[Any, Any, None]:
        """Have the inode of a file for lseek(2), which "sync" calls unless it is there already, or for direct I/O."""
        lines = _IO_LINES
        if file.on_device:
            position, self._position[file] = self._position.get(file, 0), offset + size
            if position == offset:
                return
            lines = _SEEK_LINES
        now = self._engine._now
        until = inode.take(self.issuer % self._host.cpu.cores, now, 0.0, lines)
        if until > now:
            yield self._engine.timeout(until - now)

    def _slept(self, file: DirectFile) -> Generator[Any, Any, None]:
        """Wait until no queue lets the thread sleep in its submission."""
        for queue in file.queues:
            if queue.sleeps(self.issuer):
                awake = Signal()
                queue.when_awake(self.issuer, awake.fire)
                self.statistics.switches += 1
                yield awake

    def _leave_driver(self) -> Generator[Any, Any, None]:
        """Wait until drivers have done what they do inside the thread's submission, with its CPU time."""
        began, out = self._engine._now, Signal()
        self._host.sleepers[self.issuer].backlog.append(out.fire)
        yield out
        if self._is_async and not self._reap_s:
            # The price of an I/O has two calls: one submits, and one takes completions, which here comes right after.
            self._reap_s = self._call_s / 2
            self._submit_s -= self._reap_s
        seconds = self._engine._now - began
        self.cpu_s += seconds
        self.statistics.system_s += seconds

    def _done(self, request: Request) -> None:
        self._finished.append(request)
        wake = self._wake
        if wake is not None and len(self._finished) >= self._waits_for:
            self._wake = None
            wake.fire()

    def _synced(self, request: Request) -> None:
        """A write of a file opened with O_SYNC or O_DSYNC is complete when the medium has it."""
        file: DirectFile = request.parent[2]
        file.flush(lambda: self._done(request), self.issuer, self._timing.sync_writes == "dsync")

    def _take_completions(self) -> Generator[Any, Any, None]:
        """The queue is full: take completions until it is low enough (wait_for_completions)."""
        depths = self._timing.depths
        while True:
            if self._queued:
                yield from self._commit()
            least = max(1, min(depths.least_reaped, self._outstanding))
            yield from self._await(least)
            self._reap(max(least, depths.most_reaped))
            if self._outstanding <= depths.low:
                return

    def _await(self, least: int) -> Generator[Any, Any, None]:
        if len(self._finished) < least:
            yield from self._pay()
        if len(self._finished) < least:
            self._waits_for = least
            self._wake = Signal()
            self.statistics.switches += 1
            yield self._wake
            self._spend(self._switch_s)

    def _reap(self, most: int) -> None:
        """Take up to `most` completions."""
        taken = self._finished
        if len(taken) > most:
            taken, self._finished = taken[:most], taken[most:]
        else:
            self._finished = []
        self._outstanding -= len(taken)
        self._spend(len(taken) * (self._cached_s + self._reap_s))
        if self._timing.direct:
            for request in taken:
                self._spend(self._pages.completion_s(request.op, request.size))
        now, statistics = self.now, self.statistics
        statistics.completed(len(taken))
        directions = statistics.directions
        completions = self.completions if self.counting else None
        for request in taken:
            began_s, issued_s, _, offset = request.parent
            direction = directions[request.op]
            direction.ios += 1
            direction.bytes += request.size
            direction.clat.add(now - issued_s)
            direction.lat.add(now - began_s)
            if request.trail is not None:
                statistics.waits.end(request.op, waited(request.trail, CPU, now), now - began_s)
            if completions is not None:
                completions.add(request.op, offset, request.size, began_s, issued_s, now)

    def _drain(self) -> Generator[Any, Any, None]:
        """Wait for all that is under way (io_u_quiesce)."""
        if self._queued:
            yield from self._commit()
        if self._outstanding:
            yield from self._await(self._outstanding)
            self._reap(self._outstanding)

    # Others

    def _buffered(self, file: CachedFile, op: int, offset: int, size: int) -> Generator[Any, Any, None]:
        statistics = self.statistics
        began, spent, filling_s = self.now, self.cpu_s, self._buffers.fill_s(op, size)
        if op == READ:
            yield from file.read(offset, size, self)
        else:
            self._spend(filling_s)
            yield from file.write(offset, size, self)
            if self._timing.sync_writes != "none":
                yield from file.sync(self, self._timing.sync_writes == "dsync")
        spent = self.cpu_s - spent
        statistics.switches += self.now - began > spent + SLEPT_S
        user = min(USER_S + filling_s, spent)
        statistics.user_s += user
        statistics.system_s += spent - user
        if not self._is_async:
            self._complete(op, offset, size, began)
            return
        # The call that submits has done it all; its completion waits in the queue until fio takes it.
        self._outstanding += 1
        statistics.submitted(1, self._outstanding)
        statistics.directions[op].slat.add(self.now - began)
        self._finished.append(Request(op, offset, size, self._done, parent=(began, self.now, file, offset)))

    def _trim(self, file: FioFile, offset: int, size: int) -> Generator[Any, Any, None]:
        assert isinstance(file, DirectFile)
        yield from self._drain()
        began = self.now
        self._spend(self._submit_s)
        yield from self._pay()
        done = Signal()
        file.trim(offset, size, done.fire, self.issuer)
        if not done.fired:
            self.statistics.switches += 1
            yield done
            self._spend(self._switch_s)
        self._complete(TRIM, offset, size, began)

    def _nothing(self, op: int, offset: int, size: int) -> Generator[Any, Any, None]:
        began = self.now
        seconds = USER_S + self._buffers.fill_s(op, size)
        self._spend(seconds)
        self.statistics.system_s -= seconds
        self.statistics.user_s += seconds
        self._complete(op, offset, size, began)
        if self.owed_s >= 1e-3:
            yield from self._pay()

    def _complete(self, op: int, offset: int, size: int, began: float) -> None:
        statistics = self.statistics
        statistics.submitted(1, 1)
        statistics.completed(1)
        direction = statistics.directions[op]
        direction.ios += 1
        direction.bytes += size
        direction.clat.add(self.now - began)
        direction.lat.add(self.now - began)
        if self.completions is not None and self.counting:
            self.completions.add(op, offset, size, began, began, self.now)
