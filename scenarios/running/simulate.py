"""Run a scenario and say how fast it was and why.

A long dd is not simulated to its end: a steady part of it is, and the rest goes on at the same rate. A read is
steady from the start. A write settles in one of two ways. While dirty memory is between the kernel's thresholds the
program runs freely; if it makes more dirty than the disks take, memory fills until the program is throttled, and from
then on it gets the throttled rate. Both regimes are simulated if the run is long enough to see both.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import Any

from ...model.core.errors import ArrayFailed, FileSystemFull, InputError
from ...model.files.quantities import format_duration
from ...model.loads.dd import Dd
from ...model.tasks.prices import NotedPrices
from ..description.fio_jobs import FioSpec
from ..description.idle import IdleSpec
from ..description.programs import ProgramsSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import DdSpec, LoadSpec
from ..machine.machine import BuiltMachine
from ..machine.observer import UNOBSERVED, Observer
from .base.prediction import Prediction
from .base.run import Run
from .base.sample import Sample
from .fio_run import fio_prediction
from .idle_run import IdleRun
from .load_run import LoadRun
from .phases import simulate_phases
from .program_run import ProgramRun, scale_for
from .summary import cpu_share, latency_figures, prediction_of, prices_read

_NO_GROWTH = 0.02
"""Two measurements whose growth of dirty memory differs by less than this share of the rate are the same regime."""
_LOOK_S = 0.002
"""How often a write is looked at where the I/O scheduler has no cycle."""
_SAME_LEVEL_BYTES = 1 << 19
"""Dirty memory that swings is back where it was within this."""
_SWING_PASSES = 4
"""Dirty memory rises and falls by up to so many passes of write-back without growing."""
_LONGEST = 4
"""A write that does not settle is measured over this many times its bytes."""
_LONGEST_OPEN = 32
"""The same of one whose dirty memory may be swinging: by then a swing is a few per cent of what was written."""
_BESIDE_REBUILD = 4
"""Beside a rebuild reads and writes are measured over this many times their bytes, and writes over as many times their
cycles of the I/O scheduler: the thread naps for a quarter of a second, which falls into one sample or the next."""


def simulate(
    scenario: ScenarioSpec,
    sample: Sample | None = None,
    watch: Callable[[Run], None] | None = None,
    observer: Observer = UNOBSERVED,
) -> Prediction:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        What to run.
    sample
        How much of it; default :class:`Sample`.
    watch
        Called with every run (one, or two for a long write) before it begins, by whoever wants to follow it.
    observer
        Sees every part of the machine when it is built.

    Returns
    -------
    Prediction
        Rates and seconds of the whole workload; usages of its steadiest measured part.

    Raises
    ------
    InputError
        If a member fails before an array has recovered from the last failure, or the time is too short for an I/O.

    Examples
    --------
    A small write on RAID 6 of six disks becomes six commands, and on RAID 10 two:

    >>> from raidsim.scenarios.documents.document import document_from
    >>> text = "{workload: {kind: load, read_share: 0%, warm_up: 1s, duration: 2s}}"
    >>> document = document_from(text, sets=["disks=6", "drive=WD5000AAKS"])
    >>> for layout in ("raid6", "raid10"):
    ...     found = simulate(document.changed({"layout": layout}).spec())
    ...     print(layout, round(found.member_ios / (found.iops["write"] * found.measured_s)))
    raid6 6
    raid10 2
    """
    price_lists: list[NotedPrices] = []

    def begun(run: Run) -> None:
        price_lists.extend(run.machine.price_lists)
        if watch is not None:
            watch(run)

    try:
        prediction = _simulated(scenario, sample or Sample(), begun, observer)
    except ArrayFailed as error:
        raise InputError("failures", str(error), "allowed: failures that every array survives when they come") from None
    except FileSystemFull as error:
        raise InputError("file_systems", str(error), "allowed: a size that all files of the programs fit in") from None
    if not prediction.rate > 0 and isinstance(scenario.workload, LoadSpec):
        found = f"no I/O was complete in {format_duration(prediction.seconds)}"
        raise InputError("workload.duration", found, "allowed: as long as the load needs, if it moves at all")
    return replace(prediction, prices_read=prices_read(price_lists))


def _simulated(scenario: ScenarioSpec, sample: Sample, watch: Callable[[Run], None], observer: Observer) -> Prediction:
    if isinstance(scenario.workload, LoadSpec):
        part = partial(_load_prediction, sample=sample, observer=observer)
        return simulate_phases(scenario, part, watch) if scenario.workload.phases else part(scenario, watch)
    if isinstance(scenario.workload, ProgramsSpec):
        programs = ProgramRun(BuiltMachine(scenario, scale_for(scenario, sample), observer), sample)
        watch(programs)
        rate = programs.run()
        prediction = prediction_of(programs, programs.span * programs.scale, rate, programs.figures)
        return replace(prediction, reports=programs.reports)
    if isinstance(scenario.workload, FioSpec):
        return fio_prediction(scenario, scenario.workload, watch, observer)
    if isinstance(scenario.workload, IdleSpec):
        idle = IdleRun(BuiltMachine(scenario, observer=observer), scenario.workload)
        watch(idle)
        idle.run()
        return prediction_of(idle, idle.span, 0.0)
    prediction = _dd_prediction(scenario, scenario.workload, sample, watch, observer)
    return replace(prediction, figures={**prediction.figures, "cpu": cpu_share(prediction)})


def _dd_prediction(
    scenario: ScenarioSpec, dd: DdSpec, sample: Sample, watch: Callable[[Run], None], observer: Observer
) -> Prediction:
    total = dd.size * len(dd.targets)
    if dd.direction == "read":
        run = ReadRun(BuiltMachine(scenario, observer=observer), sample)
        watch(run)
        seconds = run.run() * dd.size
        return prediction_of(run, seconds, total / seconds)
    free = WriteRun(BuiltMachine(scenario, observer=observer), sample, throttled=False)
    watch(free)
    free.run()
    fills_after = free.fills_after(free.growth)
    if fills_after * free.rate >= total:
        return prediction_of(free, total / free.rate, free.rate)
    throttled = WriteRun(BuiltMachine(scenario, observer=observer), sample, throttled=True)
    watch(throttled)
    throttled.run()
    steady = _rate_without_growth(free, throttled)
    seconds = fills_after + (total - fills_after * free.rate) / steady
    return prediction_of(min(free, throttled, key=lambda run: abs(run.growth)), seconds, total / seconds)


def _load_prediction(
    scenario: ScenarioSpec, watch: Callable[[Run], None], sample: Sample, observer: Observer
) -> Prediction:
    workload = scenario.workload
    assert isinstance(workload, LoadSpec)
    load = LoadRun(BuiltMachine(scenario, observer=observer), sample)
    watch(load)
    rate = load.run()
    asked = workload.precision is not None
    prediction = prediction_of(load, load.span if asked else workload.duration, rate)
    return replace(
        prediction,
        figures=prediction.figures | latency_figures(prediction.latencies) | {"cpu": cpu_share(prediction)},
        estimates=load.estimates,
        saturated=load.saturated,
        precision_reached=load.precision_reached,
    )


def _rate_without_growth(free: WriteRun, throttled: WriteRun) -> float:
    """Rate (bytes/s) at which dirty memory stays as it is.

    The programs' rate and the growth of dirty memory both mix the times when the programs run and when the disks
    drain, so between two measurements one is linear in the other.
    """
    if free.growth - throttled.growth < _NO_GROWTH * free.rate:
        return throttled.rate
    share = -throttled.growth / (free.growth - throttled.growth)
    return throttled.rate + min(1.0, max(-1.0, share)) * (free.rate - throttled.rate)


class _DdRun(Run):
    """dd processes."""

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        super().__init__(machine, sample)
        workload = machine.scenario.workload
        assert isinstance(workload, DdSpec)
        self.workload = workload
        self._times = _BESIDE_REBUILD if machine.resyncs else 1


class ReadRun(_DdRun):
    """dd processes that read; the slowest one ends the run, as ``time`` has it."""

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        wanted = self.sample.read_bytes * self._times
        whole = min(int(wanted * (1 + self.sample.warm_up)), self.workload.size)
        begun = self.workload.start
        return min(dd.position - begun for dd in self.machine.dds) / whole

    def run(self) -> float:
        """Seconds per byte of one process."""
        engine = self.machine.engine
        wanted = self.sample.read_bytes * self._times
        measured = min(wanted, self.workload.size)
        warm_up = min(int(wanted * self.sample.warm_up), self.workload.size - measured)
        spans: list[float] = []

        def program(dd: Dd) -> Generator[Any, Any, None]:
            if warm_up:
                dd.size = warm_up
                yield engine.spawn(dd.read())
            if not self.began:
                self._begin()
            begun = engine.now
            dd.start, dd.size = dd.position, measured
            yield engine.spawn(dd.read())
            spans.append(engine.now - begun)

        engine.run(engine.all_of([engine.spawn(program(dd)) for dd in self.machine.dds]))
        return max(spans) / measured


class WriteRun(_DdRun):
    """dd processes that write, in the middle of a long run.

    Parameters
    ----------
    throttled
        Begin with as much dirty memory as throttles the programs; otherwise with as much as starts the write-back.

    Attributes
    ----------
    rate
        Bytes per second of all processes.
    growth
        Bytes per second by which dirty memory grows.
    kernel_limits
        The kernel's thresholds as they are without cutting the swing.
    """

    def __init__(self, machine: BuiltMachine, sample: Sample, throttled: bool) -> None:
        super().__init__(machine, sample)
        self.rate = 0.0
        self.growth = 0.0
        self._throttled = throttled
        memory = machine.memory
        limits = self.kernel_limits = memory.limits
        lowest = max(limits.flush_below, limits.flush_above - sample.dirty_swing_bytes)
        # A kernel that slows writers needs seconds to find the rate of the devices. Then dirty memory stays at one
        # level, so here it is held there.
        memory.limits = replace(limits, flush_below=lowest, limit=limits.settled, balance=False)
        for dd in machine.dds:
            dd.cache.balance = None
        dirty = (limits.settled if throttled else min(limits.flush_above, limits.limit)) // len(machine.dds)
        for dd in machine.dds:
            room = machine.kernel.cache.reach(dd.cache.device.capacity) - dd.size
            share = min(dirty, room) >> 20 << 20
            begin = min(dd.start, room - share)
            dd.cache.mark_dirty(begin, begin + share)
            dd.position = dd.start = begin + share

    @property
    def share(self) -> float:
        """See :attr:`Run.share`; a run that does not settle takes longer than this expects."""
        measured = min(self.sample.write_bytes * self._times, self.workload.size) * len(self.machine.dds)
        return sum(dd.bytes_done for dd in self.machine.dds) / (measured * (1 + self.sample.warm_up))

    def fills_after(self, growth: float) -> float:
        """When dirty memory that grows so fast (bytes/s) throttles the programs (s)."""
        limits = self.kernel_limits
        return max(0, limits.settled - limits.flush_above) / growth if growth > 0 else float("inf")

    def _is_open(self, rise: int, moved: int, seconds: float) -> bool:
        """Whether what dirty memory has risen by (bytes) may be a swing or a growth that throttles the programs."""
        if self._throttled or not 0 < rise <= _SWING_PASSES * self.kernel_limits.pass_bytes:
            return False
        total = self.workload.size * len(self.machine.dds)
        return self.fills_after(rise / seconds) * moved / seconds < total

    def run(self) -> None:
        """Measure rate and growth over whole cycles."""
        machine, engine, memory = self.machine, self.machine.engine, self.machine.memory
        cycle_s = machine.scheduler_cycle_s
        swings = memory.limits.flush_below < memory.limits.flush_above
        programs = [engine.spawn(dd.write()) for dd in machine.dds]
        measured = min(self.sample.write_bytes * self._times, self.workload.size) * len(programs)
        finished = engine.event()

        def state() -> tuple[int, int, float]:
            return sum(dd.bytes_done for dd in machine.dds), memory.dirty_bytes + memory.writeback_bytes, engine.now

        def watch() -> Generator[Any, Any, None]:
            step = cycle_s or _LOOK_S
            while state()[0] < measured * self.sample.warm_up:
                yield engine.timeout(step)
            self._begin()
            done, level, began = state()
            cycles, last = 0, done
            while True:
                yield engine.timeout(step)
                cycles += 1
                now_done, now_level, now = state()
                moved = now_done - done
                settled = not swings or (abs(now_level - level) <= _SAME_LEVEL_BYTES and now_done > last)
                last = now_done
                if moved <= now_level - level:
                    continue  # nothing has been written back yet, so this says nothing about the disks
                enough = moved >= measured and cycles >= self.sample.cycles * self._times
                if enough and moved < _LONGEST_OPEN * measured and self._is_open(now_level - level, moved, now - began):
                    continue
                if (enough and settled) or moved >= _LONGEST * measured:
                    self.rate = moved / (now - began)
                    self.growth = 0.0 if swings and settled else (now_level - level) / (now - began)
                    finished.succeed()
                    return

        engine.spawn(watch())
        engine.run(engine.any_of([finished, engine.all_of(programs)]))
        if not finished.triggered:
            self.rate = self.workload.size * len(programs) / engine.now
