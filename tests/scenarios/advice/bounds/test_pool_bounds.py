"""Bounds of pools: none is beaten by a simulation, whatever the vdevs, and what memory may hold is not bounded."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.scenarios.advice.bounds.below import PoolBelow, below
from raidsim.scenarios.advice.bounds.bounds import refusals
from raidsim.scenarios.advice.bounds.drive_times import drive_time
from raidsim.scenarios.advice.bounds.member_visits import Visits
from raidsim.scenarios.designs.designs import Design, families
from raidsim.scenarios.running.full_load import as_much_as_it_takes
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.designs.test_requirement import DRIVE, wanted

SOLID = "Samsung-870-EVO-1TB"
KINDS = ("stripe", "mirrors", "raidz1", "raidz2", "draid1:2d:6c:1s")


def _design(level: str, drive: str = DRIVE, **changes: Any) -> tuple[Any, Design]:
    spec = wanted(drives=[{"model": drive, "count": 6}], levels=[level], **changes)
    family, counts = families(spec)[-1]
    return spec, Design(family, counts[0])


def _load(**changes: Any) -> dict[str, Any]:
    return {"total_iops": 500, "read_share": "70%", "block_size": "8KiB", **changes}


@pytest.mark.parametrize("level", KINDS)
@pytest.mark.parametrize("drive", [DRIVE, SOLID])
def test_no_simulation_beats_the_bounds(level: str, drive: str) -> None:
    """With as many I/Os as it takes a pool serves fewer than the bound says; few of them are later than the least."""
    spec, design = _design(level, drive)
    times = {"warm_up": 1.0, "duration": 2.0} if drive == DRIVE else {"warm_up": 0.05, "duration": 0.05}
    scenario = design.scenario(spec, spec.load.document(**times))
    time = drive_time(scenario)
    full = simulate(as_much_as_it_takes(scenario))
    assert full.served_iops < time.most_iops()
    few = simulate(design.scenario(spec, spec.load.document(total_iops=20.0 if drive == DRIVE else 2000.0, **times)))
    for op in ("read", "write"):
        assert few.figures[f"{op}_mean_seconds"] > time.least_latency(op, "mean")
        assert few.figures[f"{op}_p99_seconds"] > time.least_latency(op, "p99")


def test_the_bounds_bind() -> None:
    """Counter-test: reads of a raidz visit every data disk, and the bound of these refuses what is far off."""
    visits = {level: below(_design(level)[1].scenario(_design(level)[0]), "tank/data").visits for level in KINDS}
    assert visits["raidz1"]("read", 8192, None) == Visits(reads=4)
    assert visits["raidz2"]("read", 8192, None) == Visits(reads=4)
    assert visits["mirrors"]("read", 8192, None) == Visits(reads=1, copies=2)
    assert visits["raidz1"]("write", 8192, None) == Visits(reads=4)
    assert visits["raidz1"]("write", 16384, None) == Visits()
    spec, design = _design("raidz2", load=_load(total_iops=4000, read_share="100%"), limits={"p99": "20ms"})
    assert [each.bound for each in refusals(design.scenario(spec), spec)] == ["drive time"]
    spec, design = _design("raidz2", load=_load(read_share="100%"), limits={"p99": "2ms"})
    (refusal,) = refusals(design.scenario(spec), spec)
    assert (refusal.bound, refusal.needed > 2e-3) == ("latency", True)


def test_what_the_arc_may_hold_is_not_bounded() -> None:
    """A load on less than the ARC is not refused, nor is one whose whole blocks wait as dirty data."""
    several: tuple[dict[str, Any], ...] = (
        {"load": _load(total_iops=50_000, read_share="100%", span="1GiB")},
        {"load": _load(total_iops=50_000, read_share="0%", block_size="16KiB")},
    )
    for changes in several:
        spec, design = _design("raidz2", limits={"p99": "20ms"}, **changes)
        assert refusals(design.scenario(spec), spec) == []


def test_compression_is_in_the_bound() -> None:
    """Blocks that are compressed are fewer bytes, of which the ARC holds more."""
    spec, design = _design("raidz2")
    packed, tight = _design("raidz2", dataset={"compression": 4.0})
    plain, small = (PoolBelow(each.scenario(of), "tank/data") for of, each in ((spec, design), (packed, tight)))
    assert small.stored(65536) == plain.stored(65536) / 4
    assert small.held(10**13) > plain.held(10**13)
