"""kcopyd: one kernel thread that copies blocks between two devices, a read and then a write for each.

A pass of the thread reports what is complete, finds pages for new copies, and then submits reads and writes under one
plug until there are none. Writes of blocks that are read meanwhile belong to the same pass, new copies to the next one.
While the thread sleeps for a tag of one device, nothing goes to the other one either, and no copy is reported.
Source: Linux 6.1, drivers/md/dm-kcopyd.c (do_work, run_pages_job, run_io_job, complete_io).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..block.kernel_thread import KernelThread
from ..core.device import Device
from ..core.engine import Engine
from ..core.request import ASYNC, READ, WRITE, Completion, Request
from ..tasks.fair_share import FairShare
from ..tasks.host import GIVE_WAY_S, Host

_PAGE: Final = 4096


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
            self._copier.write(self._target, Request(WRITE, self._target_offset, request.size, self, sync=ASYNC))
        else:
            self._copier.report(request.size, self._then)


class Copier:
    """The thread.

    Parameters
    ----------
    engine, host
        The clock, and the CPU.
    members
        The devices.

    Attributes
    ----------
    issuer
        By which the block layer knows the thread.
    """

    __slots__ = (
        "_complete",
        "_engine",
        "_host",
        "_new",
        "_passes",
        "_share",
        "_submits",
        "_woken",
        "_worker",
        "_writes",
        "issuer",
    )

    def __init__(self, engine: Engine, members: Sequence[Device], host: Host) -> None:
        self._host = host
        self._engine = engine
        self._worker = KernelThread(engine, members, host)
        self.issuer = self._worker.issuer
        self._share = host.shares[self.issuer] = FairShare(host.cpu)
        host.pays_for_commands(self.issuer)
        self._new: list[tuple[int, Request]] = []
        self._writes: list[tuple[int, Request]] = []
        self._complete: list[tuple[int, Callable[[], None]]] = []
        self._woken = self._passes = self._submits = False

    def copy(
        self, source: int, source_offset: int, target: int, target_offset: int, size: int, then: Callable[[], None]
    ) -> None:
        """Copy bytes from one member to another, and go on with `then`."""
        copy = _Copy(self, target, target_offset, then)
        self._new.append((source, Request(READ, source_offset, size, copy, sync=ASYNC)))
        self._wake()

    def write(self, slot: int, request: Request) -> None:
        """Write what has been read, in this pass if one is under way."""
        if self._submits:
            self._worker.submit(slot, request)
            self._worker.end_range()
        else:
            self._writes.append((slot, request))
            self._wake()

    def report(self, size: int, then: Callable[[], None]) -> None:
        """Free the pages of a copy of `size` bytes at the beginning of the next pass, and go on with `then`."""
        self._complete.append((size, then))
        self._wake()

    def work(self, then: Callable[[], object]) -> float:
        """Have a worker of the kernel go on with `then`; returns when it does (s), unless a program is before it.

        The workers of a CPU take what is to be done as it comes, so its CPU time counts for them together.
        """
        share, host, cpu = self._share, self._host, self._host.cpu
        seconds = host.prices.switch_s
        start = max(self._engine._now, share.busy_until)
        until = start + GIVE_WAY_S

        def run(_: Any) -> None:
            share.ran(seconds + host.take_commands_s(self.issuer))
            then()

        def begin(_: Any) -> None:
            now, free = self._engine._now, cpu.free_from
            if now < free and now < until and share.is_ahead:
                self._engine.call_at(min(free, until), begin)
            else:
                self._engine.call_at(cpu.interrupt(seconds), run)

        if share.is_ahead or start > self._engine._now:
            at = start + seconds
            self._engine.call_at(at, begin)
        else:
            at = cpu.interrupt(seconds)
            self._engine.call_at(at, run)
        return at

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            if not self._passes:
                self._share.runs_at = self.work(self._pass)

    def _pass(self) -> None:
        self._woken, self._passes = False, True
        self._report()

    def _report(self) -> None:
        """Report complete copies, also those that are complete meanwhile, then find pages for the new ones."""
        complete, self._complete = self._complete, []
        if complete:

            def reported() -> None:
                for _, then in complete:
                    then()
                self._report()

            self._use_pages([size for size, _ in complete], reported)
            return
        new, self._new = self._new, []
        self._use_pages([request.size for _, request in new], lambda: self._submit(new))

    def _use_pages(self, sizes: Sequence[int], then: Callable[[], None]) -> None:
        """Allocate or free pages, each of which is half the price of a page."""
        seconds = sum(-(-size // _PAGE) for size in sizes) * self._host.prices.buffer_page_s / 2
        if seconds:
            self._share.ran(seconds)
            self._engine.call_at(self._host.cpu.interrupt(seconds), lambda _: then())
        else:
            then()

    def _submit(self, new: list[tuple[int, Request]]) -> None:
        """Submit what has been written off, then the reads of new copies."""
        self._share.runs_at = -1.0
        jobs, self._writes = self._writes + new, []
        worker = self._worker
        self._submits = True
        for slot, request in jobs:
            worker.submit(slot, request)
        worker.when_awake(self._end)
        worker.end_range()

    def _end(self) -> None:
        """Nothing is left to submit: what is plugged goes, and the next pass begins if there is something for it."""
        self._submits = self._passes = False
        self._worker.rest()
        if self._woken:
            self._share.runs_at = self.work(self._pass)
