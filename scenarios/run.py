"""Run a scenario and say how fast it was and why."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from ..model.dd import Dd
from ..model.statistics import Usage, bottleneck
from .build import BuiltMachine
from .scenario import ScenarioSpec


@dataclass(frozen=True, slots=True)
class Sample:
    """How much of a long, steady run is simulated.

    Attributes
    ----------
    read_bytes, write_bytes
        Bytes per program that are measured; the rest of the run is taken to go on at the same rate.
    warm_up
        Bytes per program before the measurement, as a share of the measured ones.
    """

    read_bytes: int = 64 << 20
    write_bytes: int = 32 << 20
    warm_up: float = 0.25


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a run gives.

    Attributes
    ----------
    seconds
        Duration of the whole workload (s).
    rate
        Bytes per second of all programs together.
    usages
        How busy every device, link and CPU was.
    bottleneck
        What limits, in words.
    member_ios
        Commands that the drives served.
    events
        Scheduled events of the simulation.
    """

    seconds: float
    rate: float
    usages: tuple[Usage, ...]
    bottleneck: str
    member_ios: int
    events: int


def simulate(scenario: ScenarioSpec, sample: Sample | None = None) -> Prediction:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        What to run.
    sample
        How much of it; default :class:`Sample`.

    Returns
    -------
    Prediction
        Rates are those of the measured part; seconds are scaled to the whole workload.
    """
    machine = BuiltMachine(scenario)
    return DdRun(machine, sample or Sample()).run()


class DdRun:
    """A run of dd processes on a built machine: warm-up, measurement, result."""

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        self.machine = machine
        self.workload = machine.scenario.workload
        self.writes = self.workload.direction == "write"
        wanted = sample.write_bytes if self.writes else sample.read_bytes
        self.measured = min(wanted, self.workload.size)
        self.warm_up = min(int(wanted * sample.warm_up), self.workload.size - self.measured)
        self.begun: list[float] = []
        self.ended: list[float] = []

    def run(self) -> Prediction:
        """Simulate and evaluate."""
        engine = self.machine.engine
        if self.writes:
            self._fill_with_dirty()
        for resync in self.machine.resyncs.values():
            engine.spawn(resync.run())
        runs = [engine.spawn(self._program(dd)) for dd in self.machine.dds]
        engine.run(engine.all_of(runs))
        scale = self.workload.size / self.measured
        seconds = max(e - b for b, e in zip(self.begun, self.ended, strict=True)) * scale
        usages = self._usages()
        total = self.workload.size * len(self.machine.dds)
        return Prediction(
            seconds=seconds,
            rate=total / seconds,
            usages=usages,
            bottleneck=bottleneck(usages),
            member_ios=sum(disk.reads + disk.writes for disk in self.machine.disks.values()),
            events=engine.scheduled_events,
        )

    def _program(self, dd: Dd) -> Generator[Any, Any, None]:
        engine = self.machine.engine
        dd.size = self.warm_up
        if dd.size:
            yield engine.spawn(dd.write() if self.writes else dd.read())
        self.begun.append(engine.now)
        dd.start, dd.size = dd.position, self.measured
        yield engine.spawn(dd.write() if self.writes else dd.read())
        self.ended.append(engine.now)

    def _fill_with_dirty(self) -> None:
        """Begin in the state that a long write reaches: as much dirty memory as starts the write-back."""
        memory, dds = self.machine.memory, self.machine.dds
        share = memory.limits.flush_above // len(dds) >> 20 << 20
        for dd in dds:
            dd.cache.mark_dirty(dd.start, dd.start + share)
            dd.start += share
            dd.position = dd.start

    def _usages(self) -> tuple[Usage, ...]:
        return ()
