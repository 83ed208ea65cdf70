"""What arrays do to I/Os, by counting: small writes, full stripes, and rates in multiples of a member's."""

from __future__ import annotations

from collections.abc import Callable

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.layouts import Raid10Layout, layout_for
from raidsim.model.layouts.parity import ParityLayout
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.base.array import Array
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md61
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.oracles.oracle import Oracle, exact
from raidsim.tests.oracles.queues import GIB, KIB

CHUNK = 64 * KIB
MEMBERS = 8
SERVICE_S = 1e-3
RATE = 100e6
_PATTERSON = "Patterson, Gibson and Katz 1988; Chen and others 1994"
_DEPTH = 128
_EDGE = 0.005
"""What an I/O more or less at the ends of a measurement of a second makes."""
_LARGE = 4096 * GIB
"""Bytes of a member: two I/Os never meet in a stripe."""


def array_of(engine: Engine, level: str, per_byte_s: float) -> Array:
    """An array of eight members of constant service: 1 ms an I/O, or so much a byte."""
    service = linear_service(0.0, per_byte_s) if per_byte_s else linear_service(SERVICE_S)
    members = [FixedServiceDevice(engine, f"d{i}", _LARGE, service) for i in range(MEMBERS)]
    if level == "raid1":
        return MirrorArray(engine, "md0", members, Md61(MEMBERS))
    layout = layout_for(level, MEMBERS, CHUNK, [_LARGE] * MEMBERS)
    if isinstance(layout, ParityLayout):
        settings = ParitySettings(heads=1 << 16, most_heads=1 << 16, hold=None, direct_reads=True)
        return ParityArray(engine, "md0", members, layout, settings)
    if isinstance(layout, Raid10Layout):
        return Raid10Array(engine, "md0", members, layout, Md61(MEMBERS))
    return StripeArray(engine, "md0", members, layout)


def member_ios(level: str, size: int) -> Callable[[int], float]:
    """Member I/Os for a write at random, counted over a thousand of them until the last is over."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        array = array_of(engine, level, 0.0)
        load = ClosedLoad(engine, array, size=size, depth=4, read_share=0.0)
        while load.writes < 1000:
            engine.run_to(engine.now + 0.1)
        load.stop()
        engine.run_to(engine.now + 1.0)
        return (array.member_reads + array.member_writes) / array.writes

    return simulate


def most_iops(level: str, read_share: float) -> Callable[[int], float]:
    """I/Os of 4 KiB a second at random with many outstanding, as a share of what all members together can do."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        load = ClosedLoad(engine, array_of(engine, level, 0.0), size=4 * KIB, depth=_DEPTH, read_share=read_share)
        engine.run_to(0.5)
        load.start_statistics(engine.now)
        engine.run_to(1.5)
        return (load.reads + load.writes) / 1.0 * SERVICE_S / MEMBERS

    return simulate


def rate(level: str, read_share: float, row: int) -> Callable[[int], float]:
    """Bytes a second in order in whole rows, four rows at a time, in rates of one member."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        array = array_of(engine, level, 1 / RATE)
        load = ClosedLoad(engine, array, size=row, depth=16, read_share=read_share, sequential=True)
        engine.run_to(0.5)
        load.start_statistics(engine.now)
        engine.run_to(1.5)
        return load.bytes / RATE

    return simulate


def arithmetic() -> list[Oracle]:
    """The oracles."""
    n = MEMBERS
    found = [
        exact(f"member I/Os of a small write, {title}", _PATTERSON, ios, "", member_ios(level, 4 * KIB), 2)
        for level, title, ios in (
            ("raid0", "RAID 0", 1.0),
            ("raid10", "RAID 10", 2.0),
            ("raid5", "RAID 5 (2 reads, 2 writes)", 4.0),
            ("raid6", "RAID 6 (3 reads, 3 writes)", 6.0),
            ("raid1", "RAID 1 of 8", 8.0),
        )
    ]
    found += [
        exact(f"member I/Os of a full stripe, {title}", _PATTERSON, float(n), "", member_ios(level, row * CHUNK), 2)
        for level, title, row in (("raid5", "RAID 5 of 8", n - 1), ("raid6", "RAID 6 of 8", n - 2))
    ]
    found += [
        Oracle(
            f"{title}: rate over that of all members, {_DEPTH} outstanding",
            f"{_PATTERSON}; asymptotic bound",
            0.96 * share,
            share,
            "",
            most_iops(level, reads),
            5,
            _EDGE,
        )
        for level, title, reads, share in (
            ("raid0", "random reads of RAID 0", 1.0, 1.0),
            ("raid10", "random reads of RAID 10", 1.0, 1.0),
            ("raid5", "random reads of RAID 5", 1.0, 1.0),
            ("raid10", "small writes of RAID 10", 0.0, 1 / 2),
            ("raid5", "small writes of RAID 5", 0.0, 1 / 4),
            ("raid6", "small writes of RAID 6", 0.0, 1 / 6),
            ("raid1", "small writes of RAID 1", 0.0, 1 / n),
        )
    ]
    found += [
        Oracle(
            f"{title}: rate in rates of a member",
            _PATTERSON,
            times,
            times,
            "",
            rate(level, reads, row * CHUNK),
            1,
            _EDGE,
        )
        for level, title, reads, row, times in (
            ("raid0", "RAID 0 of 8 read in order", 1.0, n, n),
            ("raid0", "RAID 0 of 8 written in order", 0.0, n, n),
            ("raid5", "RAID 5 of 8 written in full stripes", 0.0, n - 1, n - 1),
            ("raid6", "RAID 6 of 8 written in full stripes", 0.0, n - 2, n - 2),
            ("raid10", "RAID 10 of 8 written in order", 0.0, n // 2, n // 2),
            ("raid1", "RAID 1 of 8 written in order", 0.0, 1, 1),
        )
    ]
    return found
