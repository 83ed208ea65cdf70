"""The run of several loads at the same time: what each of them gets, and all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.files.quantities import format_duration
from ...model.statistics import LatencyHistogram
from ..description.any_workload import LoadsSpec, NamedLoad
from ..description.scenario import ScenarioSpec
from ..machine.machine import BuiltMachine
from ..machine.observer import UNOBSERVED, Observer
from .base.drift import unknown
from .base.prediction import Prediction
from .base.run import Run, latency_summary
from .base.sample import Sample
from .base.slow_stores import SlowStores
from .base.waits import waits_of
from .full_load import kept_busy
from .load_run import until_known
from .load_windows import LOOK_S, LoadWindows
from .steady_state import SteadyState
from .summary import cpu_share, latency_figures, prediction_of
from .watched_load import backlog_grows

_WINDOWS = 64
"""Windows of the time in which a load is there."""


class SeveralLoadsRun(Run):
    """Several loads for a given time or until each is known, each measured while it is there.

    Parameters
    ----------
    machine, workload
        What runs, and on what.
    ends_early
        If true, a hopeless load ends the run whatever else goes on; if false, only where there is nothing else to see.
    enough
        As of :meth:`end_when`.

    Attributes
    ----------
    windows
        Of each load, by name.
    hopeless
        Names of open loads of which less than a fifth was served; the run ended early.
    unlike
        Names of open loads of reads and writes that are too much, so that what they were served has another share of
        reads than what they send.
    precision_reached
        See :attr:`raidsim.scenarios.running.base.prediction.Prediction.precision_reached`.
    """

    def __init__(
        self,
        machine: BuiltMachine,
        workload: LoadsSpec,
        *,
        ends_early: bool = False,
        enough: Callable[[Run], bool] | None = None,
    ) -> None:
        super().__init__(machine, Sample())
        self._enough = enough
        self._may_end = ends_early or self.shows_loads_only
        self.workload = workload
        self.hopeless: tuple[str, ...] = ()
        self.precision_reached: float | None = None
        self._ended_early = False
        self._steady: SteadyState | None = None
        self._slow = SlowStores(machine, workload.loads)
        by_name = machine.loads_by_name
        if workload.precision is None:
            self.windows = {name: LoadWindows(machine.engine, jobs) for name, jobs in by_name.items()}
            return
        self._steady = until_known(machine, workload, list(by_name.values()), self._slow, self._begin)
        self.windows = dict(zip(by_name, self._steady.all_windows, strict=True))

    def end_when(self, enough: Callable[[Run], bool]) -> None:
        """End a measurement of a given length as soon as `enough` returns true; it is asked after every window."""
        self._enough = enough

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
        """Bytes per second of all loads together."""
        if self._steady is None:
            self._run_for()
        else:
            self._slow.stand(self.workload.duration)
            self._steady.run()
            self.precision_reached = self._steady.reached
            if not self.span:
                found = f"nothing could be measured in {format_duration(self.workload.duration)}"
                raise InputError("workload.duration", found, "expected: as long as the loads need to settle, and more")
        moved = sum(load.bytes for load in self.machine.loads)
        for windows in self.windows.values():
            windows.end()
        return moved / self.measured_s

    def _run_for(self) -> None:
        """Warm-up and measurement of a given length, unless a load turns out to be hopeless."""
        engine, workload = self.machine.engine, self.workload
        for number in range(1, math.ceil(workload.warm_up / LOOK_S) if self._may_end else 0):
            engine.run_to(number * LOOK_S)
            if self._look():
                break
        # The last look is at the end of the warm-up if rounding makes that a little more than whole looks.
        if workload.warm_up > engine.now and not self.hopeless:
            engine.run(until=workload.warm_up)
        # A load that begins now has had its warm-up, whose I/Os its windows must have seen to know of its backlog.
        at_once = [load for load in workload.loads if not load.begin]
        for load in at_once:
            self._measure(load)
        self._begin()
        for load in at_once:
            self._measure(load)
        for at_s, step in self._steps():
            if self.hopeless:
                return
            if at_s > engine.now:
                if self._enough is not None and engine.now > self.began and self._enough(self):
                    self._ended_early = True
                    return
                engine.run_to(at_s)
            step()
            if self._may_end:
                self._look()
        engine.run(until=self.began + workload.duration)

    def _look(self) -> bool:
        """See whether hardly any of the I/Os of a load that have come were served."""
        now = self.machine.engine.now
        self.hopeless = tuple(
            load.name
            for load in self.workload.loads
            if self.windows[load.name].is_hopeless(now - (self.workload.warm_up + load.begin if load.begin else 0.0))
        )
        return bool(self.hopeless)

    def _measure(self, load: NamedLoad) -> None:
        begin, end = self.workload.times(load)
        self.windows[load.name].begin((end - begin) / _WINDOWS)

    def _steps(self) -> list[tuple[float, Callable[[], None]]]:
        """When windows begin and end, in order of time; the last ones end a little early, within the run."""
        steps: list[tuple[float, Callable[[], None]]] = []
        for load in self.workload.loads:
            begin, end = self.workload.times(load)
            if load.begin:
                steps.append((self.began + begin, partial(self._measure, load)))
            length = (end - begin) / _WINDOWS
            close = self.windows[load.name].close
            steps += [(self.began + begin + number * length, close) for number in range(1, _WINDOWS)]
            steps.append((self.began + end * (1.0 - 1e-12), close))
        return sorted(steps, key=lambda step: step[0])

    def result(self, load: NamedLoad, rest: Prediction) -> Prediction:
        """What one load got; utilization is that of the whole run (`rest`)."""
        begin, end = self.workload.times(load)
        windows = self.windows[load.name]
        span = end - begin if self._steady is None and not self._ended_early else windows.span
        bytes_moved, reads, writes, *_ = (float(total) for total in windows.flows.sum(axis=0))
        rate = bytes_moved / span
        iops = {op: count / span for op, count in (("read", reads), ("write", writes)) if count}
        merged = {"read": LatencyHistogram(), "write": LatencyHistogram()}
        for job in self.machine.loads_by_name[load.name]:
            merged["read"].merge(job.read_latency)
            merged["write"].merge(job.write_latency)
        latencies = {op: latency_summary(each) for op, each in merged.items() if each.count}
        jobs = self.machine.loads_by_name[load.name]
        waits = waits_of([job.waits for job in jobs], {op: each["mean_s"] for op, each in latencies.items()})
        saturated = self._saturated(load.name)
        drift = None if self._steady is not None or saturated else windows.drift()
        sure = drift is None and self.precision_reached != math.inf
        return replace(
            rest,
            seconds=span,
            measured_s=span,
            rate=rate,
            iops=iops,
            latencies=latencies,
            figures={"rate": rate, "iops": sum_in_order(iops.values())} | latency_figures(latencies),
            estimates=windows.estimates() if sure else unknown(windows.estimates()),
            saturated=saturated,
            offered_iops=load.offered_iops,
            drift=drift,
            latency_bins={},
            waits=waits,
            rebuilds=(),
            wear=(),
            loads={},
        )

    @property
    def unlike(self) -> tuple[str, ...]:
        """See the class."""
        if not self._may_end:
            return ()
        mixed = (load for load in self.workload.loads if 0 < load.read_share < 1)
        return tuple(load.name for load in mixed if self._saturated(load.name))

    def _saturated(self, name: str) -> bool:
        windows = self.windows[name]
        if self._steady is not None:
            return dict(zip(self.windows, self._steady.saturates, strict=True))[name]
        return windows.is_open and backlog_grows(windows)


def loads_prediction(
    scenario: ScenarioSpec, workload: LoadsSpec, watch: Callable[[Run], None], observer: Observer
) -> Prediction:
    """Run several loads: figures of all together, and those of each as "LOAD.FIGURE"."""
    run = SeveralLoadsRun(BuiltMachine(scenario, observer=observer), workload)
    watch(run)
    rate = run.run()
    if run.hopeless or run.unlike:
        return _most_served(scenario, workload, run.hopeless or run.unlike, watch)
    whole = prediction_of(run, run.measured_s, rate)
    loads = {load.name: run.result(load, whole) for load in workload.loads}
    if not whole.iops:
        found = f"no I/O was complete in {format_duration(workload.duration)}"
        raise InputError("workload.duration", found, "expected: as long as the loads need, if they move at all")
    figures = whole.figures | latency_figures(whole.latencies) | {"cpu": cpu_share(whole)}
    return replace(
        whole,
        figures=figures
        | {f"{name}.{figure}": each.figures[figure] for name, each in loads.items() for figure in each.figures},
        estimates={
            f"{name}.{figure}": each.estimates[figure] for name, each in loads.items() for figure in each.estimates
        },
        saturated=any(each.saturated for each in loads.values()),
        precision_reached=run.precision_reached,
        loads=loads,
    )


def _most_served(
    scenario: ScenarioSpec, workload: LoadsSpec, names: Sequence[str], watch: Callable[[Run], None]
) -> Prediction:
    """What the devices serve of loads that are far too much: their I/Os with as many users as keep them busy."""
    filled = kept_busy(scenario, workload, names)
    assert isinstance(filled.workload, LoadsSpec)
    prediction = loads_prediction(filled, filled.workload, watch, UNOBSERVED)
    whose = " and ".join(names)
    note = f"the figures are those of users with the I/Os of {whose} who keep everything busy"
    offered = {load.name: load.offered_iops for load in workload.loads}
    loads = {
        name: replace(each, saturated=True, offered_iops=offered[name]) if name in names else each
        for name, each in prediction.loads.items()
    }
    return replace(prediction, saturated=True, loads=loads, notes=(*prediction.notes, note))
