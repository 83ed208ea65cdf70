"""The benchmarks run, and the price of a member I/O in scheduled events; never how long anything takes."""

from __future__ import annotations

import json

import pytest

from raidsim.benchmarks.__main__ import as_json, as_table
from raidsim.benchmarks.loads import LOADS, OUTSTANDING
from raidsim.benchmarks.measure import EVENTS_AIM, Memory, Speed, bare_timeouts_per_s, measure_memory, measure_speed

REQUESTS = 3000


@pytest.mark.parametrize("name", LOADS)
def test_a_member_io_is_one_event(name: str) -> None:
    """Protects the budget: at most 1.1 scheduled events per member I/O, with the full model of the drive."""
    load = LOADS[name]()
    load.run(REQUESTS)
    before = load.member_ios, load.engine.scheduled_events
    load.run(REQUESTS)
    assert 2 * REQUESTS <= load.completed < 2 * REQUESTS + OUTSTANDING
    ios, events = load.member_ios - before[0], load.engine.scheduled_events - before[1]
    assert ios >= REQUESTS
    assert events <= EVENTS_AIM * ios


def test_small_writes_cost_four_member_ios() -> None:
    """Protects what is measured: 30 % small writes on RAID 5 of 8 are 0.7 + 0.3 * 4 = 1.9 member I/Os each."""
    load = LOADS["RAID 5 of 8, random 4 KiB 70/30"]()
    load.run(REQUESTS)
    assert load.member_ios / REQUESTS == pytest.approx(1.9, rel=0.05)


def test_sequential_writes_fill_rows() -> None:
    """Protects what is measured: a stream of 64 KiB chunks is written as full rows, 8 member I/Os for 7 requests."""
    load = LOADS["RAID 5 of 8, sequential 64 KiB writes"]()
    load.run(REQUESTS)
    assert load.member_ios / REQUESTS == pytest.approx(8 / 7, rel=0.02)


def test_loads_repeat() -> None:
    """Protects comparisons between versions: a load is the same every time."""
    name = "RAID 0 of 4, random 4 KiB 70/30"
    ends = set()
    for _ in range(2):
        load = LOADS[name]()
        load.run(REQUESTS)
        ends.add((load.engine.now, load.member_ios))
    assert len(ends) == 1


def test_everything_is_measured_and_shown() -> None:
    """Protects the table and the JSON: every load has its line, whatever the machine makes of it."""
    bare, speeds = measure_speed(rounds=1, requests=200, timeouts=1000)
    memory = measure_memory(2000)
    assert bare > 0
    assert bare_timeouts_per_s(1000) > 0
    assert [speed.name for speed in speeds] == list(LOADS)
    assert all(speed.member_ios_per_s > 0 and speed.ratio > 0 for speed in speeds)
    assert memory.member_ios >= 2000
    table = as_table(bare, speeds, memory)
    assert all(name in table for name in LOADS)
    found = json.loads(as_json(bare, speeds, memory))
    assert [entry["name"] for entry in found["speeds"]] == list(LOADS)
    assert found["memory"]["growth_mib"] == memory.growth_mib


def test_aims() -> None:
    """Protects the judgement: an aim is met at the limit, missed beyond it, and comparing commands has none."""
    assert Speed("x", 1.0, 0.12, 1.1).aim_met
    assert not Speed("x", 1.0, 0.119, 1.0).aim_met
    assert not Speed("x", 1.0, 0.2, 1.11).aim_met
    assert Speed("disk with NCQ, random 4 KiB reads", 1.0, 0.01, 1.0).aim_met is None
    assert Memory("x", 1, 1.0).aim_met
    assert not Memory("x", 1, 1.1).aim_met
