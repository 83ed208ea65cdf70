"""Four loads beside DiskSim 4.0, the simulator of disks in C that others compare with: requests per CPU second.

DiskSim is not run here. What it takes was measured elsewhere, on a machine of the kind used for this project: 7 to 12 s
of CPU for one million random 4 KiB requests to one disk with all its mechanics, and more for the same number of
requests to RAID 5 of 8 disks, 70 % of them reads. For the other two there is no figure of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import process_time

from .loads import DRIVE, Load, disk_load, random_raid0_load, random_raid5_load, sequential_disk_load

AIM = 3.0
"""Times as many requests per CPU second as DiskSim."""
LEAST_S, MOST_S = 7.0, 12.0
"""CPU seconds of DiskSim for a million random requests to one disk."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """One load.

    Attributes
    ----------
    per_cpu_s
        Requests (not I/Os of members) per second of CPU time, median of the rounds.
    disksim
        The fewest and the most that DiskSim does; the first None where it is known only that it does fewer than the
        second, both None where nothing is known.
    """

    name: str
    per_cpu_s: float
    disksim: tuple[float | None, float | None]

    @property
    def times(self) -> tuple[float | None, float | None]:
        """How many times as many as DiskSim, at least and at most."""
        least, most = self.disksim
        return (None if most is None else self.per_cpu_s / most, None if least is None else self.per_cpu_s / least)


_ONE_DISK = (MILLION / MOST_S, MILLION / LEAST_S)
_FEWER = (None, MILLION / LEAST_S)
_UNKNOWN = (None, None)
WORKLOADS: dict[str, tuple[Callable[[], Load], tuple[float | None, float | None]]] = {
    "one disk, random 4 KiB reads": (lambda: disk_load(DRIVE), _ONE_DISK),
    "RAID 5 of 8 disks, random 4 KiB, 70 % reads": (random_raid5_load, _FEWER),
    "RAID 0 of 4 disks, random 4 KiB, 70 % reads": (random_raid0_load, _UNKNOWN),
    "one disk, sequential 64 KiB reads": (sequential_disk_load, _UNKNOWN),
}


def compare(rounds: int, requests: int) -> list[Comparison]:
    """All four; a round does each once."""
    loads = {name: make() for name, (make, _) in WORKLOADS.items()}
    rates: dict[str, list[float]] = {name: [] for name in loads}
    for load in loads.values():
        load.run(requests)  # fills the drives' buffers
    for _ in range(rounds):
        for name, load in loads.items():
            begin = process_time()
            load.run(requests)
            rates[name].append(requests / max(process_time() - begin, 1e-9))
    return [Comparison(name, median(rates[name]), WORKLOADS[name][1]) for name in loads]


def as_text(comparisons: list[Comparison]) -> str:
    """The comparison to read."""
    lines = [f"{'load':<46} {'requests per CPU s':>18} {'DiskSim 4.0':>18} {'times':>11}"]
    for one in comparisons:
        least, most = one.disksim
        if most is None:
            theirs = "not known"
        elif least is None:
            theirs = f"below {most:,.0f}"
        else:
            theirs = f"{least:,.0f}-{most:,.0f}"
        low, high = one.times
        times = "-" if low is None else f"over {low:.2f}" if high is None else f"{low:.2f}-{high:.2f}"
        lines.append(f"{one.name:<46} {one.per_cpu_s:>18,.0f} {theirs:>18} {times:>11}")
    lines.append(f"aim: {AIM:g} times; DiskSim's figures were measured elsewhere, on a machine of this kind")
    return "\n".join(lines)
