"""Rates as ratios to bare SimPy, with their spread, events per member I/O, and memory over a long run.

All times are CPU times of this process, so what else the machine does matters less.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

import simpy

from .components import Chore, Loaded
from .loads import LOADS, MEMORY_LOAD, WITHOUT_AIM

RATIO_AIM = 0.12
"""Member I/Os per second over bare timeouts per second, at least."""
EVENTS_AIM = 1.1
"""Scheduled events per member I/O, at most."""
GROWTH_AIM_MIB = 1.0
"""Growth of resident memory over the long run that counts as flat, at most."""
_ERROR_OF_MEDIAN = 1.2533
"""Standard error of a median over that of a mean, of normal values: the root of pi / 2."""
_DEVIATION = 1.4826
"""Standard deviation over the median absolute deviation, of normal values."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one load or component is.

    Attributes
    ----------
    per_s
        Times per second of CPU time, median of the rounds: member I/Os of a load.
    ratio
        The same over bare timeouts per second, both of the same round; median of the rounds.
    error
        Standard error of the ratio, as a share of it.
    events_per_io
        Scheduled events per member I/O; None for a component.
    """

    name: str
    per_s: float
    ratio: float
    error: float
    events_per_io: float | None = None

    @property
    def aim_met(self) -> bool | None:
        """Whether it is fast enough with few enough events; None for what has no aim."""
        if self.events_per_io is None or self.name in WITHOUT_AIM:
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
    """Timeouts per second of CPU time of a SimPy process that does nothing else."""
    environment = simpy.Environment()

    def tick() -> Iterator[simpy.Event]:
        while True:
            yield environment.timeout(1)

    environment.process(tick())  # type: ignore[arg-type]
    begin = process_time()
    environment.run(until=count)
    return count / max(process_time() - begin, 1e-9)


def measure(chores: Mapping[str, Callable[[], Chore]], rounds: int, seconds: float, timeouts: int) -> list[Speed]:
    """The speed of each.

    A round does each for a short while, with bare timeouts before and after it, so that a machine that is slower for
    some time is slower for both.

    Parameters
    ----------
    seconds
        CPU time (s) that each takes in a round, about.
    """
    made = {name: make() for name, make in chores.items()}
    counts = {name: _count(chore, seconds) for name, chore in made.items()}
    rates: dict[str, list[float]] = {name: [] for name in made}
    ratios: dict[str, list[float]] = {name: [] for name in made}
    events: dict[str, float] = {}
    bare = bare_timeouts_per_s(timeouts)
    for _ in range(rounds):
        for name, chore in made.items():
            before = chore.load.engine.scheduled_events if isinstance(chore, Loaded) else 0
            begin = process_time()
            done = chore.run(counts[name])
            rate = done / max(process_time() - begin, 1e-9)
            after = bare_timeouts_per_s(timeouts)
            if isinstance(chore, Loaded) and name in LOADS:
                events[name] = (chore.load.engine.scheduled_events - before) / done
            rates[name].append(rate)
            ratios[name].append(rate / (0.5 * (bare + after)))
            bare = after
    return [
        Speed(name, median(rates[name]), median(ratios[name]), spread(ratios[name]), events.get(name)) for name in made
    ]


def _count(chore: Chore, seconds: float) -> int:
    """How many it does in about so much CPU time; it is warm then, and the drives' buffers are full."""
    count = 256
    while True:
        begin = process_time()
        chore.run(count)
        took = process_time() - begin
        if took >= 0.3 * seconds or count >= 1 << 24:
            return max(1, round(count * seconds / max(took, 1e-9)))
        count *= 2


def spread(values: list[float]) -> float:
    """Standard error of the median, as a share of it; from the median absolute deviation, which no outlier moves."""
    middle = median(values)
    deviation = median(abs(value - middle) for value in values)
    error: float = _ERROR_OF_MEDIAN * _DEVIATION * deviation / len(values) ** 0.5 / middle
    return error


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
