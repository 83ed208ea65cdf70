"""The run of a load of direct I/O: for a given time, or until its speed is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...model.core.errors import InputError
from ...model.files.quantities import format_duration
from ...model.loads.direct_load import DirectLoad
from ...model.statistics.batch_means import Estimate
from ..description.any_workload import LoadsSpec
from ..description.workloads import LoadSpec
from ..machine.machine import BuiltMachine
from .base.drift import Drift, unknown
from .base.run import Run
from .base.sample import Sample
from .base.slow_stores import SlowStores
from .full_caches import settle_caches
from .load_windows import LOOK_S, LoadWindows
from .steady_state import SteadyState
from .watched_load import backlog_grows

_WINDOWS = 64
"""Windows of a measurement of a given length."""


class LoadRun(Run):
    """Direct I/O for a given time, or until its speed is known.

    Parameters
    ----------
    machine, sample
        As in :class:`~raidsim.scenarios.running.base.run.Run`.
    ends_early
        If true, a hopeless load ends the run whatever else goes on; if false, only where there is nothing else to see.
    enough
        As of :meth:`end_when`.

    Attributes
    ----------
    windows
        The measurement; None before it begins.
    estimates
        See :attr:`raidsim.scenarios.running.base.prediction.Prediction.estimates`.
    saturated
        Whether the backlog of an open load grows for ever.
    precision_reached
        See :attr:`raidsim.scenarios.running.base.prediction.Prediction.precision_reached`.
    drift
        See :attr:`raidsim.scenarios.running.base.prediction.Prediction.drift`.
    hopeless
        Whether the run ended early, because less than a fifth of an open load was served.
    unlike
        Whether an open load of reads and writes is too much, so that what it was served in the run has another share of
        reads than what it sends: reads that pass the writes take all there is.
    """

    def __init__(
        self,
        machine: BuiltMachine,
        sample: Sample,
        *,
        ends_early: bool = False,
        enough: Callable[[Run], bool] | None = None,
    ) -> None:
        super().__init__(machine, sample)
        self._enough = enough
        self._may_end = ends_early or self.shows_loads_only
        workload = machine.scenario.workload
        assert isinstance(workload, LoadSpec)
        self.workload = workload
        self.estimates: dict[str, Estimate] = {}
        self.saturated = self.hopeless = self.unlike = False
        self.precision_reached: float | None = None
        self.drift: Drift | None = None
        self.windows: LoadWindows | None = None
        self._ended_early = False
        self._steady: SteadyState | None = None
        self._slow = SlowStores(machine, [workload])
        if workload.precision is not None:
            self._steady = until_known(
                machine, workload, [machine.loads], self._slow, self._begin, stops_saturated=self._may_be_unlike
            )

    def end_when(self, enough: Callable[[Run], bool]) -> None:
        """End a measurement of a given length as soon as `enough` returns true; it is asked after every window."""
        self._enough = enough

    def decide_by(self, enough: Callable[[Run, bool], bool]) -> None:
        """Let `enough` say when a run to a precision ends; it is told whether the precision is reached."""
        if self._steady is not None:
            self._steady.enough = lambda precise: enough(self, precise)

    @property
    def _may_be_unlike(self) -> bool:
        return self._may_end and 0 < self.workload.read_share < 1

    @property
    def measured_s(self) -> float:
        """Seconds of the measurement."""
        return self.span if self._steady is not None or self._ended_early else self.workload.duration

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
        if self.drift is not None or self.precision_reached == math.inf:
            self.estimates = unknown(self.estimates)
        self.unlike = self.saturated and self._may_be_unlike
        moved = sum(load.bytes for load in self.machine.loads)
        windows.end()
        return moved / self.measured_s

    def _measured_for(self, duration: float) -> LoadWindows:
        warm_up, engine = self.workload.warm_up, self.machine.engine
        windows = LoadWindows(engine, self.machine.loads)
        may_end = windows.is_open and self._may_end
        for number in range(1, math.ceil(warm_up / LOOK_S) if may_end else 0):
            engine.run_to(number * LOOK_S)
            self._look(windows)
            if self.hopeless:
                break
        # The last look is at the end of the warm-up if rounding makes that a little more than whole looks.
        if warm_up > engine.now and not self.hopeless:
            engine.run(until=warm_up)
        self.windows = windows
        windows.begin(duration / _WINDOWS, self._begin)
        end = self.began + (warm_up + duration - self.began)
        for _ in range(_WINDOWS - 1):
            if self.hopeless:
                break
            windows.run()
            if may_end:
                self._look(windows)
            if self._enough is not None and self._enough(self):
                self._ended_early = True
                return windows
        if not self.hopeless:
            engine.run(until=end)
        windows.close()
        self.saturated = windows.is_open and backlog_grows(windows)
        self.drift = None if self.saturated or self.hopeless else windows.drift()
        return windows

    def _look(self, windows: LoadWindows) -> None:
        self.hopeless = windows.is_hopeless(self.machine.engine.now)

    def _measured(self, steady: SteadyState) -> LoadWindows:
        self._slow.full = settle_caches(self.machine, self.workload, self.workload.duration)
        self._slow.stand(self.workload.duration)
        self.windows = steady.windows
        steady.run()
        if not self.span:
            found = f"nothing could be measured in {format_duration(self.workload.duration)}"
            raise InputError("workload.duration", found, "expected: as long as the load needs to settle, and more")
        self.saturated = steady.saturated
        self.precision_reached = steady.reached
        return steady.windows


def until_known(
    machine: BuiltMachine,
    workload: LoadSpec | LoadsSpec,
    loads: Sequence[Sequence[DirectLoad]],
    slow: SlowStores,
    restart: Callable[[], None],
    *,
    stops_saturated: bool = False,
) -> SteadyState:
    """The measurement of loads that share windows, which ends when each is known as precisely as the workload wants.

    A drive that fails before the shortest measurement would end belongs to the warm-up.
    """
    assert workload.precision is not None
    first, *others = loads
    shortest = workload.warm_up + workload.duration
    failures = (failure.at for failure in machine.scenario.failures if failure.at < shortest)
    return SteadyState(
        machine.engine,
        first,
        others=others,
        precision=workload.precision,
        warm_up=max([workload.warm_up, *failures]),
        longest=workload.duration,
        restart=restart,
        stores=slow.look,
        turns=slow.turns,
        servers=len(machine.disks),
        least_ios=slow.filling_ios,
        stops_saturated=stops_saturated,
    )
