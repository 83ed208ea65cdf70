"""Pools begin with the ARC that the described loads leave in the long run."""

from __future__ import annotations

import pytest

from raidsim.model.zfs.arc.cache import Arc
from raidsim.scenarios.description.any_workload import LoadsSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.load_run import LoadRun
from raidsim.scenarios.running.several_loads import SeveralLoadsRun

MACHINE = """
machine: {model: server, memory: 8GiB, drives: {model: WD5000AAKS, count: 4}}
kernel: linux-6.1
"""


def arc_of(pool: str, load: str) -> Arc:
    """The ARC of a pool with a volume `vm` of 40 GiB before a run."""
    text = f"""{MACHINE}pools: {{tank: {{vdevs: raidz1, datasets: {{vm: {{volume: 40GiB}}}}{pool}}}}}
workload: {{kind: load, targets: [tank/vm], block_size: 16KiB, {load}}}
"""
    return run_of(text).machine.pools["tank"].arc


def run_of(text: str) -> LoadRun:
    """A run that has not begun."""
    return LoadRun(BuiltMachine(document_from(text).spec()), Sample())


HOT = "locality: {kind: hot, share: 90%, of: 5%}"


def held(arc: Arc, first: int, end: int) -> float:
    """Share of some blocks of the volume that are in memory."""
    step = (end - first) // 1000
    return sum(arc.holds((1 << 40) + block) for block in range(first, end, step)) / 1000


def test_the_arc_is_full_of_what_the_load_asks_for() -> None:
    """All of a hot part that has room, and some of the rest; counter-test: nothing if the pool is cold."""
    clustered = f"{HOT[:-1]}, clustered: true}}"
    arc, blocks = arc_of("", clustered), (40 << 30) >> 14
    assert arc.size == pytest.approx(arc.target, rel=0.01)
    assert held(arc, 0, blocks // 20) > 0.99
    assert 0.05 < held(arc, blocks // 10, blocks) < 0.2
    assert arc_of(", arc: cold", clustered).size == 0


def test_a_sequential_load_has_left_the_end() -> None:
    """The last part of a volume that is read in order, and nothing of its start."""
    arc, blocks = arc_of("", "pattern: sequential"), (40 << 30) >> 14
    assert held(arc, blocks - blocks // 10, blocks) > 0.95
    assert held(arc, 0, blocks // 2) == 0.0


def test_writers_and_several_loads_share_it() -> None:
    """Of two loads with areas of their own, the one with more I/Os has more in memory."""
    text = f"""{MACHINE}pools: {{tank: {{vdevs: raidz1, datasets: {{a: {{volume: 20GiB}}, b: {{volume: 20GiB}}}}}}}}
workload:
  kind: several
  loads:
    - {{name: busy, targets: [tank/a], block_size: 16KiB, jobs: 9, read_share: 50%}}
    - {{name: idle, targets: [tank/b], block_size: 16KiB, jobs: 1}}
"""
    spec = document_from(text).spec()
    machine = BuiltMachine(spec)
    assert isinstance(spec.workload, LoadsSpec)
    SeveralLoadsRun(machine, spec.workload)
    arc, blocks = machine.pools["tank"].arc, (20 << 30) >> 14
    busy, idle = (
        sum(arc.holds((number << 40) + block) for block in range(0, blocks, blocks // 1000)) / 1000 for number in (1, 2)
    )
    assert busy > 2 * idle > 0.0
