"""Rates as ratios to bare SimPy, events per member I/O, and memory over a long run."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import simpy

from .loads import LOADS, MEMORY_LOAD, WITHOUT_AIM

RATIO_AIM = 0.12
"""Member I/Os per second over bare timeouts per second, at least."""
EVENTS_AIM = 1.1
"""Scheduled events per member I/O, at most."""
GROWTH_AIM_MIB = 1.0
"""Growth of resident memory over the long run that counts as flat, at most."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one load is.

    Attributes
    ----------
    member_ios_per_s
        Member I/Os per second of wall time, median of the rounds.
    ratio
        The same over bare timeouts per second, both of the same round; median of the rounds.
    events_per_io
        Scheduled events per member I/O.
    """

    name: str
    member_ios_per_s: float
    ratio: float
    events_per_io: float

    @property
    def aim_met(self) -> bool | None:
        """Whether it is fast enough with few enough events; None for a load without an aim."""
        if self.name in WITHOUT_AIM:
            return None
        return self.ratio >= RATIO_AIM and self.events_per_io <= EVENTS_AIM


@dataclass(frozen=True, slots=True)
class Memory:
    """How resident memory grows over a long run (MiB)."""

    name: str
    member_ios: int
    growth_mib: float

    @property
    def aim_met(self) -> bool:
        """Whether it is flat."""
        return self.growth_mib <= GROWTH_AIM_MIB


def bare_timeouts_per_s(count: int) -> float:
    """Timeouts per second of a SimPy process that does nothing else."""
    environment = simpy.Environment()

    def tick() -> Iterator[simpy.Event]:
        while True:
            yield environment.timeout(1)

    environment.process(tick())  # type: ignore[arg-type]
    begin = perf_counter()
    environment.run(until=count)
    return count / (perf_counter() - begin)


def measure_speed(rounds: int, requests: int, timeouts: int) -> tuple[float, list[Speed]]:
    """Bare timeouts per second, and the speed of every load.

    A round runs every load for a short while, with bare timeouts before and after it, so that a machine that is
    slower for some time is slower for both.
    """
    loads = {name: make() for name, make in LOADS.items()}
    for load in loads.values():
        load.run(requests)  # fills the drives' buffers
    rates: dict[str, list[float]] = {name: [] for name in loads}
    ratios: dict[str, list[float]] = {name: [] for name in loads}
    events = dict.fromkeys(loads, 0)
    ios = dict.fromkeys(loads, 0)
    bare = [bare_timeouts_per_s(timeouts)]
    for _ in range(rounds):
        for name, load in loads.items():
            ios_before, events_before = load.member_ios, load.engine.scheduled_events
            begin = perf_counter()
            load.run(requests)
            seconds = perf_counter() - begin
            bare.append(bare_timeouts_per_s(timeouts))
            moved = load.member_ios - ios_before
            ios[name] += moved
            events[name] += load.engine.scheduled_events - events_before
            rates[name].append(moved / seconds)
            ratios[name].append(moved / seconds / (0.5 * (bare[-2] + bare[-1])))
    speeds = [Speed(name, median(rates[name]), median(ratios[name]), events[name] / ios[name]) for name in loads]
    return median(bare), speeds


def measure_memory(member_ios: int, steps: int = 10) -> Memory:
    """Resident memory after each of `steps` equal parts of the run: how far it rises above that after a warm-up."""
    load = LOADS[MEMORY_LOAD]()
    load.run(max(1, member_ios // steps))
    before = resident_mib()
    highest = before
    ios_before = load.member_ios
    for step in range(1, steps + 1):
        while load.member_ios - ios_before < member_ios * step // steps:
            load.run(max(1, member_ios // (10 * steps)))
        highest = max(highest, resident_mib())
    return Memory(MEMORY_LOAD, load.member_ios - ios_before, highest - before)


def resident_mib() -> float:
    """Resident memory of this process; where the system does not tell, the most there has been."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() / 2**20
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
