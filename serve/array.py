"""The simulated array that answers: requests enter at a time, and come out when the simulation says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf, nextafter
from typing import Any

from ..model.core.discard import issue
from ..model.core.errors import ModelError
from ..model.core.request import DIRECT, FLUSH, READ, TRIM, WAITED, Request
from ..model.loads.user_threads import UserThreads
from ..model.raid.resync.thread import Resync
from ..model.statistics import LatencyHistogram
from ..model.statistics.usage import Usage, limit
from ..scenarios.description.scenario import ScenarioSpec, target_of
from ..scenarios.machine.loads import FIRST_ISSUER
from ..scenarios.machine.machine import BuiltMachine
from ..scenarios.machine.mapper_plan import with_workload
from ..scenarios.machine.observer import UNOBSERVED, Observer
from ..scenarios.running.base.prediction import RebuildProgress
from ..scenarios.running.base.run import Run
from ..scenarios.running.base.sample import Sample
from ..scenarios.traces.replay.replay import TraceSpec


class Io:
    """One request of a client.

    Parameters
    ----------
    op
        ``READ``, ``WRITE``, ``FLUSH`` or ``TRIM``.
    offset, size
        Bytes; 0 for a flush.
    fua
        If true, the request is complete when its data are on the medium.
    done
        Called once when the request is to be answered.

    Attributes
    ----------
    arrived_s, completed_s
        Simulated times (s) at which the request entered the array, and was complete.
    """

    __slots__ = ("arrived_s", "completed_s", "done", "fua", "offset", "op", "size")

    def __init__(self, op: int, offset: int, size: int, fua: bool, done: Callable[[Io], None]) -> None:
        self.op = op
        self.offset = offset
        self.size = size
        self.fua = fua
        self.done = done
        self.arrived_s = self.completed_s = 0.0


class ServedArray(Run):
    """The array of a scenario, without the scenario's workload and without the CPU of a client.

    Parameters
    ----------
    scenario
        Whose machine, kernel, arrays and failures are used.
    target
        The drive or array that is served; None for the one that the scenario's workload uses.
    observer
        Sees each part of the machine when it is built.
    serviced
        If true, drives can be failed, replaced and hurt, and checks started: see :mod:`.service`.

    Attributes
    ----------
    spec
        The scenario with a workload of requests from outside.
    submitted
        Called with each request when it enters the array; None: nobody wants to know.
    measured
        Latencies of the clients' reads and writes, where somebody counts them.
    ended
        Requests that are complete and not yet taken by :meth:`take_ended`.
    """

    def __init__(
        self,
        scenario: ScenarioSpec,
        target: str | None = None,
        observer: Observer = UNOBSERVED,
        serviced: bool = False,
    ) -> None:
        name = target_of(scenario, target)
        self.spec = with_workload(scenario, TraceSpec(targets=(name,)))
        machine = BuiltMachine(self.spec, observer=observer, serviced=serviced)
        super().__init__(machine, Sample())
        self.submitted: Callable[[Io], None] | None = None
        self.measured: dict[str, LatencyHistogram] = {}
        self.name = name
        self.engine = machine.engine
        self.device: Any = machine.opened(machine.targets[0])
        self.capacity: int = self.device.capacity
        self.sector: int = self.device.logical_sector
        self.takes_trim = not self.device.discard_limits.refusal
        self.is_rotational = all(getattr(disk.spec, "rotational", False) for disk in machine.disks.values())
        self.ended: list[Io] = []
        self._users = UserThreads(FIRST_ISSUER)
        self._counts = False

    @property
    def share(self) -> float:
        """See :attr:`Run.share`; a server ends when it is told to."""
        return 0.0

    @property
    def is_counting(self) -> bool:
        """Whether a request has come: what is measured begins with it."""
        return self._counts

    def histograms(self) -> dict[str, LatencyHistogram]:
        """See :meth:`.Run.histograms`."""
        return {name: each for name, each in self.measured.items() if each.count}

    def working(self) -> tuple[RebuildProgress, ...]:
        """Rebuilds and checks that are not over."""
        threads = [resync for _, resync in self._rebuilds_and_scans()]
        found = zip(threads, self.rebuilds(), strict=True)
        return tuple(each for resync, each in found if resync.report.finished_s is None)

    def at_work(self) -> tuple[tuple[str, Resync], ...]:
        """The threads of these, with the names of their arrays."""
        return tuple(each for each in self._resync_threads() if each[1].report.finished_s is None)

    @property
    def busiest(self) -> str | None:
        """The busiest part in words, since the first request; None before it."""
        if not self._counts or not self.span > 0:
            return None
        found = limit(self.usages())
        return None if found is None else found.words

    def usages(self) -> tuple[Usage, ...]:
        """See :meth:`.Run.usages`; a drive that is held up by a fault is busy meanwhile."""
        held = {name: drive.held_s / self.span for name, drive in self.machine.faults.items() if drive.held_s}
        return tuple(
            self.with_utilization(usage, min(1.0, usage.utilization + held[usage.name]))
            if usage.name in held
            else usage
            for usage in super().usages()
        )

    @staticmethod
    def with_utilization(usage: Usage, utilization: float) -> Usage:
        """The same part with another utilization (0 to 1)."""
        return replace(usage, utilization=utilization)

    def submit(self, io: Io, at: float) -> None:
        """Let a request enter the array at a simulated time (s) that is not over."""
        io.arrived_s = at
        if self.submitted is not None:
            self.submitted(io)
        if not self._counts:
            self._counts = True
            self._begin()
            for drive in self.machine.faults.values():
                drive.held_s = 0.0
        self.engine.call_at(at, partial(self._start, io))

    def run_to_completion(self, most_events: int) -> bool:
        """Let time pass until a request is complete; false if that takes more events than `most_events`.

        Raises
        ------
        ModelError
            If no event is left and no request is complete.
        """
        engine = self.engine
        for _ in range(most_events):
            if self.ended:
                return True
            self.must_go_on()
            engine.run_to(nextafter(engine.peek(), inf))
        return bool(self.ended)

    def must_go_on(self) -> None:
        """Raise `ModelError` if nothing is to happen any more, though a request is not complete."""
        if self.engine.peek() == inf:
            raise ModelError(f"{self.name}: a request never completes")

    def take_ended(self) -> list[Io]:
        """The requests that are complete since the last call."""
        ended, self.ended = self.ended, []
        return ended

    def _start(self, io: Io, _: Any) -> None:
        device, op = self.device, io.op
        if op == FLUSH:
            device.flush(partial(self._ended, io))
            return
        issuer = self._users.take()
        if op == TRIM:
            issue(device, io.offset, io.size, partial(self._trimmed, io, issuer), issuer)
            return
        device.submit(
            Request(op, io.offset, io.size, partial(self._done, io), issuer, WAITED if op == READ else DIRECT)
        )
        device.unplug()

    def _done(self, io: Io, request: Request) -> None:
        self._users.give_back(request.issuer)
        self._complete(io)

    def _trimmed(self, io: Io, issuer: int) -> None:
        self._users.give_back(issuer)
        self._complete(io)

    def _complete(self, io: Io) -> None:
        # The block layer turns FUA into a flush after the write where the device has no FUA (block/blk-flush.c).
        if io.fua and io.op != READ:
            self.device.flush(partial(self._ended, io))
        else:
            self._ended(io)

    def _ended(self, io: Io) -> None:
        io.completed_s = self.engine.now
        self.ended.append(io)
