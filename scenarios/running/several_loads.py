"""The run of several loads at the same time: what each of them gets, and all together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.files.quantities import format_duration
from ...model.statistics import LatencyHistogram
from ..description.any_workload import LoadsSpec, NamedLoad
from ..machine.machine import BuiltMachine
from .base.prediction import Prediction
from .base.run import Run, latency_summary
from .base.sample import Sample
from .load_windows import LoadWindows
from .steady_state import backlog_grows
from .summary import cpu_share, latency_figures, prediction_of

_WINDOWS = 64
"""Windows of the time in which a load is there."""


class SeveralLoadsRun(Run):
    """Several loads for a given time, each measured while it is there.

    Attributes
    ----------
    windows
        Of each load, by name.
    """

    def __init__(self, machine: BuiltMachine, workload: LoadsSpec) -> None:
        super().__init__(machine, Sample())
        self.workload = workload
        self.windows = {name: LoadWindows(machine.engine, jobs) for name, jobs in machine.loads_by_name.items()}

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        return self.machine.engine.now / (self.workload.warm_up + self.workload.duration)

    def run(self) -> float:
        """Bytes per second of all loads together."""
        engine, workload = self.machine.engine, self.workload
        if workload.warm_up:
            engine.run(until=workload.warm_up)
        # A load that begins now has had its warm-up, whose I/Os its windows must have seen to know of its backlog.
        at_once = [load for load in workload.loads if not load.begin]
        for load in at_once:
            self._measure(load)
        self._begin()
        for load in at_once:
            self._measure(load)
        for at_s, step in self._steps():
            if at_s > engine.now:
                engine.run_to(at_s)
            step()
        engine.run(until=self.began + workload.duration)
        moved = sum(load.bytes for load in self.machine.loads)
        for windows in self.windows.values():
            windows.end()
        return moved / workload.duration

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
        span, windows = end - begin, self.windows[load.name]
        bytes_moved, reads, writes, *_ = (float(total) for total in windows.flows.sum(axis=0))
        rate = bytes_moved / span
        iops = {op: count / span for op, count in (("read", reads), ("write", writes)) if count}
        merged = {"read": LatencyHistogram(), "write": LatencyHistogram()}
        for job in self.machine.loads_by_name[load.name]:
            merged["read"].merge(job.read_latency)
            merged["write"].merge(job.write_latency)
        latencies = {op: latency_summary(each) for op, each in merged.items() if each.count}
        return replace(
            rest,
            seconds=span,
            measured_s=span,
            rate=rate,
            iops=iops,
            latencies=latencies,
            figures={"rate": rate, "iops": sum_in_order(iops.values())} | latency_figures(latencies),
            estimates=windows.estimates(),
            saturated=windows.is_open and backlog_grows(windows),
            latency_bins={},
            rebuilds=(),
            wear=(),
            loads={},
        )


def loads_prediction(machine: BuiltMachine, workload: LoadsSpec, watch: Callable[[Run], None]) -> Prediction:
    """Run several loads: figures of all together, and those of each as "LOAD.FIGURE"."""
    run = SeveralLoadsRun(machine, workload)
    watch(run)
    rate = run.run()
    whole = prediction_of(run, workload.duration, rate)
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
        loads=loads,
    )
