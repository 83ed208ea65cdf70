"""A load with a fixed queue depth: fio with direct=1 and ioengine=libaio.

Each I/O that completes is replaced by the next. The thread that submits and takes completions is a server, whose work
costs CPU time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import Request
from ..tasks.cpu import Cpu
from ..tasks.host import Host
from ..tasks.io_call_price import NO_PAGES, PageCosts
from .direct_load import DirectLoad, LoadIo, core_of

AIO_PLUG_THRESHOLD: Final = 2
"""io_submit plugs only for more I/Os than this at a time (fs/aio.c)."""


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
    pages
        What the size of an I/O adds to both; what it adds to the completion is spent when the thread takes that.
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
        "_released_s",
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
        pages: PageCosts = NO_PAGES,
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
            pages=pages,
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
        self._woken_s = self._spun_s = self._released_s = 0.0
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

    def unfinished(self, now: float) -> tuple[int, float]:
        """I/Os that the program waits for, submitted or not, and the sum of the times since they were wanted (s)."""
        present, age_s = super().unfinished(now)
        for wanted in self._wanted:
            present += 1
            age_s += now - wanted
        return present, age_s

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
            if self._reaped:
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
        submit_s = 0.0
        if not self._stopped:
            count = min(self.batch, wanted)
            submit_s = self._submit_s * count + self._pages_ahead_s(count)
        seconds = self._reaped * self._complete_s + self._released_s + self._woken_s + self._spun_s + submit_s
        self._reaped = 0
        self._woken_s = self._spun_s = self._released_s = 0.0
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
        super()._awake()
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
            self._released_s += self._pages.completion_s(request.op, request.size)
            if self._host is None or request.issuer not in self._host.computing:
                self._reaped += 1
        self._run()
