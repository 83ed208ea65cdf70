"""Bounds: arithmetic one can do by hand, and that no simulation beats them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.layouts import layout_for
from raidsim.scenarios.advice.bounds.bounds import refusals
from raidsim.scenarios.advice.bounds.drive_times import drive_time
from raidsim.scenarios.advice.bounds.member_visits import Visits, visits_for
from raidsim.scenarios.advice.bounds.positioning_bound import least_positioning, log_moments
from raidsim.scenarios.designs.designs import Design, families
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.scenarios.running.full_load import as_much_as_it_takes
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.designs.test_requirement import DRIVE, wanted

KIB = 1024


def design_of(spec: RequirementSpec) -> Design:
    """The first design of a requirement."""
    family, counts = families(spec)[0]
    return Design(family, counts[0])


@pytest.mark.parametrize(
    ("level", "disks", "size", "visits"),
    [
        ("raid0", 4, 8 * KIB, Visits(writes=1)),
        ("raid10", 4, 8 * KIB, Visits(writes=2, copies=1)),
        ("raid5", 8, 8 * KIB, Visits(reads=2, returns=2)),
        ("raid6", 12, 8 * KIB, Visits(reads=3, returns=3)),
        ("raid5", 3, 8 * KIB, Visits(reads=1, writes=2)),
        ("raid5", 5, 256 * KIB, Visits(writes=5)),
    ],
)
def test_the_small_write(level: str, disks: int, size: int, visits: Visits) -> None:
    """RAID 5 takes four commands, RAID 6 six, a mirror two; a small RAID 5 reads the rest, a full stripe nothing."""
    layout = layout_for(level, disks, 64 * KIB, 10**12)
    found = visits_for(layout, True, size)
    assert (found.reads, found.writes, found.returns) == pytest.approx((visits.reads, visits.writes, visits.returns))


def test_no_place_is_beyond_the_end_of_an_array() -> None:
    """An array of one row has one place for three chunks of its four: the fourth is read for the parity."""
    layout = layout_for("raid5", 5, 64 * KIB, 64 * KIB)
    found = visits_for(layout, True, 192 * KIB)
    assert (found.reads, found.writes, found.returns) == (1, 4, 0)


def test_a_read_that_crosses_a_border_takes_two_visits() -> None:
    """Unaligned reads of a quarter of a chunk cross a border as often as arithmetic says."""
    layout = layout_for("raid0", 4, 64 * KIB, 10**12)
    assert visits_for(layout, False, 16 * KIB).reads == 1.0
    assert visits_for(layout, False, 16 * KIB, align=4 * KIB).reads == pytest.approx(1 + 3 / 16)


def test_more_to_choose_from_takes_less_time() -> None:
    """With nothing to choose from a command takes the mean positioning time; a choice shortens it, without end."""
    spec = hard_disk(DRIVE)
    moments = log_moments(spec, False, spec.capacity, 8 * KIB, 0.0)
    times = [least_positioning([(1.0, moments)], math.log(choices)) for choices in (1, 4, 16, 64)]
    assert times == sorted(times, reverse=True)
    # Half a turn is 2 ms, the mean seek from the middle of the stroke a little less than the average seek.
    assert 0.0035 < times[0] < 0.0047


def test_no_drive_is_faster_than_the_bound() -> None:
    """With 16 commands for every drive the simulation stays above the bound, and not far: it is no idle one."""
    spec = wanted(levels=["raid0"], load={"total_iops": 500, "block_size": "8KiB"}, limits={})
    scenario = as_much_as_it_takes(design_of(spec).scenario(spec))
    brief = scenario.workload.model_copy(update={"warm_up": 0.3, "duration": 1.5})
    served = sum(simulate(scenario.model_copy(update={"workload": brief})).iops.values())
    disk = hard_disk(DRIVE)
    moments = log_moments(disk, False, disk.capacity, 8 * KIB, 1e-3)
    # 64 I/Os in all; the queues of four drives share them.
    bound = least_positioning([(1.0, moments)], math.log(16))
    assert bound < 4 / served < 2 * bound


RANDOM = [
    ("raid0", 4, "8KiB", "70%", "25ms", "none", 200),
    ("raid10", 4, "8KiB", "70%", "30ms", "none", 200),
    ("raid10", 6, "64KiB", "0%", "40ms", "none", 150),
    ("raid5", 4, "8KiB", "50%", "60ms", "none", 150),
    ("raid6", 6, "4KiB", "30%", "80ms", "none", 120),
    ("raid1", 2, "16KiB", "90%", "20ms", "none", 80),
    ("raid10", 4, "8KiB", "100%", "15ms", "none", 150),
]


@pytest.mark.slow
@pytest.mark.parametrize(("level", "count", "size", "share", "limit", "controller", "iops"), RANDOM)
def test_nothing_that_would_do_is_refused(
    level: str, count: int, size: str, share: str, limit: str, controller: str, iops: float
) -> None:
    """The load is raised until the simulation does not keep the limit any more: bounds had let pass all before."""
    rate, kept = float(iops), 0.0
    changes: dict[str, Any] = {
        "levels": [level],
        "drives": [{"model": DRIVE, "count": count}],
        "limits": {"p99": limit},
        "controllers": [controller],
        "chunks": ["64KiB"],
        "bitmap": "none",
    }
    while True:
        spec = wanted(load={"total_iops": rate, "read_share": share, "block_size": size}, **changes)
        load = spec.load.document(warm_up=200 / rate, duration=1200 / rate)
        found = simulate(design_of(spec).scenario(spec, load))
        limits = [spec.limits.of(op, "p99") for op in spec.load.ops]
        if any(
            found.latencies[op]["p99_s"] > (most or math.inf) for op, most in zip(spec.load.ops, limits, strict=True)
        ):
            break
        kept = rate
        assert not refusals(design_of(spec).scenario(spec), spec)
        rate *= 1.4
    assert kept > 0


def test_what_cannot_be_is_refused() -> None:
    """The counter-test: losses, capacity, budget, an idle drive that is too slow, and too many commands."""
    cases: list[tuple[str, dict[str, Any]]] = [
        ("failures", {"levels": ["raid5"], "survives": 2}),
        ("capacity", {"levels": ["raid10"], "capacity": "2TB"}),
        ("budget", {"levels": ["raid10"], "budget": 100, "drives": [{"model": DRIVE, "count": 4, "price": 30}]}),
        ("latency", {"levels": ["raid6"], "limits": {"write_p99": "6ms"}}),
        ("drive time", {"levels": ["raid10"], "load": {"total_iops": 6000, "block_size": "8KiB"}}),
    ]
    for bound, changes in cases:
        spec = wanted(**changes)
        assert [each.bound for each in refusals(design_of(spec).scenario(spec), spec)] == [bound]


def test_what_a_cache_can_answer_is_not_bounded() -> None:
    """Hot places and sequential I/Os may come from caches, and a write-back cache answers writes at once."""
    hot = wanted(load={"total_iops": 60000, "locality": "hot"}, levels=["raid10"], limits={"p99": "1ms"})
    assert not refusals(design_of(hot).scenario(hot), hot)
    cached = wanted(controllers=["LSI-9260-8i"], levels=["raid10"], limits={"write_p99": "1ms"})
    time = drive_time(design_of(cached).scenario(cached))
    assert time.writes_back
    assert time.least_latency("write", "p99") == 0.0
    assert time.least_latency("read", "p99") > 0.003
