"""Loads beside DiskSim 4.0, the simulator of disks in C that others compare with: requests per CPU second.

DiskSim is not run here. Its figures were measured on a machine of the kind used for this project (DiskSim 4.0 from its
authors, gcc -O3, its memory leak of RAID 5 queues mended), and so was a bare SimPy loop (CPython 3.11.2, SimPy 4.1.2).
What is compared are ratios to that loop, so the factor means the same on any machine.

How fast DiskSim is depends on the drive that it simulates. Of those that come with it the HP C3323A takes the least
CPU time, so a factor over that one is the strictest; it was measured for two loads. Which drive the other figures are
of was not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.layouts.parity import ParityLayout
from raidsim.model.layouts.raid10 import Raid10Layout
from raidsim.model.layouts.striped import StripedLayout
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import READ_BALANCE
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.raid.stripes.settings import ParitySettings

from .commands import ReplayedTrace
from .loads import CHUNK, DRIVE, Load, random_draws, sequential_draws
from .measure import bare_timeouts_per_s

AIM, REPLAY_AIM = 3.0, 1.5
"""Times as many requests per CPU second as DiskSim: of a load alone, and of a trace behind a kernel's queues."""
BARE_TIMEOUTS = 1_700_000
"""Timeouts per CPU second of a bare SimPy loop where DiskSim was measured."""
CHEAPEST, UNRECORDED = "HP C3323A", "not recorded"
"""Drives of DiskSim's figures."""
_BARE_BESIDE = {CHEAPEST: 1_690_000}
"""The same where a figure has a measurement of its own."""
WRITE_SHARE = 0.3
_TIMEOUTS = 50_000


@dataclass(frozen=True, slots=True)
class Workload:
    """One load of requests to disks or an array.

    Attributes
    ----------
    disksim_per_s
        Requests per CPU second of DiskSim, by the drive that it simulated.
    disks
        How many.
    level
        "disk", "raid0", "raid10" or "raid5".
    size
        Bytes of a request.
    outstanding
        Requests under way.
    sequential
        If true, one stream of reads. If false, random requests, 70 % of them reads.
    """

    disksim_per_s: Mapping[str, float]
    disks: int
    level: str
    size: int = 4096
    outstanding: int = 16
    sequential: bool = False


def _figures(unrecorded: float, cheapest: float | None = None) -> dict[str, float]:
    """DiskSim's requests per CPU second: with the drive that was not recorded, and with its cheapest if measured."""
    return {UNRECORDED: unrecorded} if cheapest is None else {UNRECORDED: unrecorded, CHEAPEST: cheapest}


WORKLOADS = {
    "one disk, 1 outstanding": Workload(_figures(111_000), 1, "disk", outstanding=1),
    "one disk, 16 outstanding": Workload(_figures(103_000, 232_000), 1, "disk"),
    "stripe of 4": Workload(_figures(91_000), 4, "raid0"),
    "RAID 10 of 4": Workload(_figures(73_000), 4, "raid10"),
    "RAID 5 of 5": Workload(_figures(51_000), 5, "raid5"),
    "RAID 5 of 8": Workload(_figures(52_000, 92_000), 8, "raid5"),
    "one disk, sequential 128 KiB": Workload(_figures(11_600), 1, "disk", 128 << 10, 1, sequential=True),
    "stripe of 4, sequential 1 MiB": Workload(_figures(1_490), 4, "raid0", 1 << 20, 1, sequential=True),
    "RAID 5 of 5, sequential 1 MiB": Workload(_figures(1_630), 5, "raid5", 1 << 20, 1, sequential=True),
}
"""Random requests are of 4 KiB, 16 of them outstanding, unless the name says otherwise."""
REPLAYED = ("one disk, 16 outstanding", "RAID 5 of 8")
"""Loads that are also played from a trace, as `raidsim replay --closed --depth 16` does it once it has started."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One load with one kind of drives.

    Attributes
    ----------
    how
        "off" or "on", as the drives' write caches are, or "replayed": on, from a trace.
    per_cpu_s
        Requests (not I/Os of members) per second of CPU time, median of the rounds.
    ratio
        The same over bare timeouts per second of the same round, median of the rounds.
    """

    name: str
    how: str
    per_cpu_s: float
    ratio: float

    def disksim_ratio(self, drive: str) -> float:
        """DiskSim's requests with this drive over bare timeouts."""
        return WORKLOADS[self.name].disksim_per_s[drive] / _BARE_BESIDE.get(drive, BARE_TIMEOUTS)

    def times(self, drive: str) -> float:
        """How many times as many requests as DiskSim with this drive."""
        return self.ratio / self.disksim_ratio(drive)

    @property
    def aim(self) -> float:
        """How many times as many there should be."""
        return REPLAY_AIM if self.how == "replayed" else AIM


def load_of(workload: Workload, cached: bool) -> Load:
    """The load on new drives."""
    engine = Engine()
    spec = hard_disk(DRIVE) if cached else hard_disk(DRIVE).with_values(write_cache=False)
    disks = [HardDisk(engine, spec, f"sd{'abcdefgh'[i]}") for i in range(workload.disks)]
    sizes = [disk.capacity for disk in disks]
    device: Device = disks[0]
    if workload.level == "raid0":
        device = StripeArray(engine, "md0", disks, StripedLayout(sizes, CHUNK))
    elif workload.level == "raid10":
        balance = READ_BALANCE["md-6.1-raid10"](len(disks))
        device = Raid10Array(engine, "md0", disks, Raid10Layout(sizes, CHUNK), balance)
    elif workload.level == "raid5":
        layout = ParityLayout("raid5", sizes, CHUNK, "left-symmetric")
        device = ParityArray(engine, "md0", disks, layout, ParitySettings(heads=0))
    size, capacity = workload.size, device.capacity
    if workload.sequential:
        draws = sequential_draws(READ, capacity, size)
    else:
        draws = random_draws(engine, capacity, size, WRITE_SHARE)
    return Load(engine, device, disks, draws, size, outstanding=workload.outstanding)


def compare(rounds: int, requests: int) -> list[Comparison]:
    """All of them, with the drives' write caches off and on, and some replayed; a round does each once."""
    loads: dict[tuple[str, str], Load | ReplayedTrace] = {}
    for name, workload in WORKLOADS.items():
        loads[name, "off"] = load_of(workload, cached=False)
        loads[name, "on"] = load_of(workload, cached=True)
        if name in REPLAYED:
            loads[name, "replayed"] = ReplayedTrace(workload.disks)
    for load in loads.values():
        load.run(requests)  # fills the drives' buffers
    rates: dict[tuple[str, str], list[float]] = {key: [] for key in loads}
    ratios: dict[tuple[str, str], list[float]] = {key: [] for key in loads}
    bare = bare_timeouts_per_s(_TIMEOUTS)
    for _ in range(rounds):
        for key, load in loads.items():
            begin = process_time()
            load.run(requests)
            rate = requests / max(process_time() - begin, 1e-9)
            after = bare_timeouts_per_s(_TIMEOUTS)
            rates[key].append(rate)
            ratios[key].append(rate / (0.5 * (bare + after)))
            bare = after
    return [Comparison(*key, median(rates[key]), median(ratios[key])) for key in loads]


def as_text(comparisons: list[Comparison]) -> str:
    """The comparison to read: a line for each drive that DiskSim was measured with."""
    ours = f"{'load':<30} {'write cache':>11} {'requests per CPU s':>18} {'ratio':>7}"
    lines = [f"{ours}  {'DiskSim with':<12} {'ratio':>7} {'times':>6}  aim"]
    for one in comparisons:
        for drive in WORKLOADS[one.name].disksim_per_s:
            times = one.times(drive)
            lines.append(
                f"{one.name:<30} {one.how:>11} {one.per_cpu_s:>18,.0f} {one.ratio:>7.4f}  {drive:<12} "
                f"{one.disksim_ratio(drive):>7.4f} {times:>6.2f}  {'yes' if times >= one.aim else 'no'}"
            )
    aims = f"aim: {AIM:g} times, replayed {REPLAY_AIM:g}; {CHEAPEST}: the drive that costs DiskSim least"
    lines.append(f"{aims}; ratios are to a bare SimPy loop, DiskSim's to one on the machine it ran on")
    return "\n".join(lines)
