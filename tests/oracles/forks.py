"""Forks and joins: requests that are over when the last of their parts is."""

from __future__ import annotations

from collections.abc import Callable

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.layouts import layout_for
from raidsim.model.layouts.parity import ParityLayout
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.raid.base.array import Array
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md61
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.oracles import theory
from raidsim.tests.oracles.oracle import Oracle, exact
from raidsim.tests.oracles.queues import GIB, KIB, SERVICE_S, exponential

CHUNK = 4 * KIB
_FLATTO = "Flatto and Hahn 1984"
_NELSON = "Nelson and Tantawi 1988, within 5 %"
_NELSON_SLACK = 0.05


def array_of(engine: Engine, level: str, members: int) -> Array:
    """An array of exponential members of 1 ms."""
    disks = [FixedServiceDevice(engine, f"d{i}", 64 * GIB, exponential(engine, f"d{i}")) for i in range(members)]
    if level == "raid1":
        return MirrorArray(engine, "md0", disks, Md61(members))
    layout = layout_for(level, members, CHUNK, [disk.capacity for disk in disks])
    if level == "raid0":
        return StripeArray(engine, "md0", disks, layout)
    assert isinstance(layout, ParityLayout)
    return ParityArray(engine, "md0", disks, layout, ParitySettings(most_heads=4096, hold=None, direct_reads=True))


def row(level: str, members: int) -> int:
    """Bytes of a request that has one part at every member."""
    return {"raid0": members, "raid1": 1, "raid5": members - 1}[level] * CHUNK


def whole_rows(level: str, members: int, load: float, reads: bool, ios: int = 3000) -> Callable[[int], float]:
    """Mean time (s) of requests for whole rows that come at random to an array that is so busy."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        array = array_of(engine, level, members)
        rate = load / SERVICE_S
        sender = OpenLoad(engine, array, size=row(level, members), iops=rate, read_share=float(reads))
        engine.run_to(0.1 * ios / rate)
        sender.start_statistics(engine.now)
        engine.run_to(1.1 * ios / rate)
        return (sender.read_latency if reads else sender.write_latency).mean

    return simulate


def forks() -> list[Oracle]:
    """The oracles."""
    found = []
    for load in (0.3, 0.7):
        rate = load / SERVICE_S
        two = theory.fork_join(rate, SERVICE_S, 2)
        many = theory.fork_join(rate, SERVICE_S, 4)
        one = SERVICE_S / (1 - load)
        busy = f"{load:.0%} busy"
        found += [
            exact(
                f"fork-join, a row of RAID 0 of 2, {busy}: time", _FLATTO, two, "s", whole_rows("raid0", 2, load, True)
            ),
            exact(
                f"fork-join, a write to RAID 1 of 2, {busy}: time",
                _FLATTO,
                two,
                "s",
                whole_rows("raid1", 2, load, False),
            ),
            Oracle(
                f"fork-join, a row of RAID 0 of 4, {busy}: time",
                _NELSON,
                many,
                many,
                "s",
                whole_rows("raid0", 4, load, True, 2000),
                12,
                _NELSON_SLACK,
            ),
            Oracle(
                f"fork-join, a full stripe of RAID 5 of 4, {busy}: time",
                _NELSON,
                many,
                many,
                "s",
                whole_rows("raid5", 4, load, False, 1500),
                8,
                _NELSON_SLACK,
            ),
            Oracle(
                f"fork-join, a write to RAID 1 of 3, {busy}: time within bounds",
                "Nelson and Tantawi 1988: the longest of independent ones, without and with queues",
                theory.harmonic(3) * SERVICE_S,
                theory.harmonic(3) * one,
                "s",
                whole_rows("raid1", 3, load, False, 1500),
                10,
            ),
        ]
    return found
