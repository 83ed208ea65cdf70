"""kcopyd: one kernel thread that copies blocks between two devices, a read and then a write for each.

The thread takes its reads and writes in the order in which they become possible, under one plug. While it sleeps for a
tag of one device, nothing goes to the other one either, and what waits there may merge.
Source: Linux 6.1, drivers/md/dm-kcopyd.c (do_work, run_io_job, complete_io).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..block.kernel_thread import KernelThread, compute
from ..core.device import Device
from ..core.engine import Engine
from ..core.request import ASYNC, READ, WRITE, Completion, Request
from ..tasks.host import Host


class _Copy(Completion):
    """A copy under way."""

    __slots__ = ("_copier", "_target", "_target_offset", "_then")

    def __init__(self, copier: Copier, target: int, target_offset: int, then: Callable[[], None]) -> None:
        self._copier = copier
        self._target = target
        self._target_offset = target_offset
        self._then = then

    def done(self, request: Request) -> None:
        """The data have been read, and are written; or they are written."""
        if request.op == READ:
            self._copier.submit(self._target, Request(WRITE, self._target_offset, request.size, self, sync=ASYNC))
        else:
            self._then()


class Copier:
    """The thread.

    Parameters
    ----------
    engine, host
        The clock, and who pays.
    members
        The devices.
    """

    __slots__ = ("_host", "_jobs", "_woken", "_worker")

    def __init__(self, engine: Engine, members: Sequence[Device], host: Host) -> None:
        self._host = host
        self._worker = KernelThread(engine, members, host)
        self._jobs: list[tuple[int, Request]] = []
        self._woken = False

    def copy(
        self, source: int, source_offset: int, target: int, target_offset: int, size: int, then: Callable[[], None]
    ) -> None:
        """Copy bytes from one member to another, and go on with `then`."""
        copy = _Copy(self, target, target_offset, then)
        self.submit(source, Request(READ, source_offset, size, copy, sync=ASYNC))

    def submit(self, slot: int, request: Request) -> None:
        """Submit a read or a write when the thread comes to it."""
        self._jobs.append((slot, request))
        if not self._woken:
            self._woken = True
            compute(self._host, self._host.prices.switch_s, self._work)

    def _work(self) -> None:
        self._woken = False
        jobs, self._jobs = self._jobs, []
        thread = self._worker
        for slot, request in jobs:
            thread.submit(slot, request)
        thread.when_awake(thread.rest)
        thread.end_range()
