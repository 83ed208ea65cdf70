"""The run of a load of direct I/O: for a given time, or until its speed is known."""

from __future__ import annotations

from ..model.batch_means import Estimate
from .build import BuiltMachine
from .load_windows import LoadWindows, Stores
from .measured_run import Run
from .sample import Sample
from .steady import SteadyState, backlog_grows
from .workloads import LoadSpec

_WINDOWS = 64
"""Windows of a measurement of a given length."""
_HITS = 0.005
"""Share of the reads found in a controller's read cache, above which it matters how full that is."""


class LoadRun(Run):
    """Direct I/O for a given time, or until its speed is known.

    Attributes
    ----------
    estimates
        See :attr:`raidsim.scenarios.prediction.Prediction.estimates`.
    saturated
        Whether the backlog of an open load grows for ever.
    precision_reached
        See :attr:`raidsim.scenarios.prediction.Prediction.precision_reached`.
    """

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        super().__init__(machine, sample)
        workload = machine.scenario.workload
        assert isinstance(workload, LoadSpec)
        self.workload = workload
        self.estimates: dict[str, Estimate] = {}
        self.saturated = False
        self.precision_reached: float | None = None
        self._steady: SteadyState | None = None
        if workload.precision is not None:
            after = [failure.at for failure in machine.scenario.failures]
            self._steady = SteadyState(
                machine.engine,
                machine.loads,
                precision=workload.precision,
                warm_up=max([workload.warm_up, *(at for at in after if at < workload.warm_up + workload.duration)]),
                longest=workload.duration,
                restart=self._begin,
                stores=self._stores,
                servers=len(machine.disks),
            )

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        if self._steady is not None:
            return self._steady.share
        return self.machine.engine.now / (self.workload.warm_up + self.workload.duration)

    def run(self) -> float:
        """Bytes per second of all jobs together."""
        windows = self._measured_for(self.workload.duration) if self._steady is None else self._measured(self._steady)
        self.estimates = windows.estimates()
        moved = sum(load.bytes for load in self.machine.loads)
        windows.end()
        return moved / (self.workload.duration if self._steady is None else self.span)

    def _measured_for(self, duration: float) -> LoadWindows:
        warm_up, engine = self.workload.warm_up, self.machine.engine
        windows = LoadWindows(engine, self.machine.loads)
        if warm_up:
            engine.run(until=warm_up)
        windows.begin(duration / _WINDOWS, self._begin)
        end = self.began + (warm_up + duration - self.began)
        for _ in range(_WINDOWS - 1):
            windows.run()
        engine.run(until=end)
        windows.close()
        self.saturated = windows.is_open and backlog_grows(windows)
        return windows

    def _measured(self, steady: SteadyState) -> LoadWindows:
        steady.run()
        self.saturated = steady.saturated
        self.precision_reached = steady.reached
        return steady.windows

    def _stores(self) -> Stores:
        """What controllers and drives hold that has yet to be written, and what read caches hold that helps."""
        machine = self.machine
        drives = sum(disk.dirty_bytes for disk in machine.disks.values())
        controllers = machine.controllers.values()
        dirty = sum(controller.dirty_bytes for controller in controllers)
        kept = sum(
            controller.read_cache_bytes
            for controller in controllers
            if controller.read_hits > _HITS * max(1, controller.reads)
        )
        return Stores(drives, dirty, kept)
