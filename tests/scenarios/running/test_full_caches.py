"""A controller's cache that a load keeps full begins full, with the figures that filling it gives."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.full_caches import settle_caches
from raidsim.scenarios.running.simulate import simulate

TEXT = """
kernel: linux-6.1
machine:
  model: server
  drives: {{model: Exos-15E900-900GB, count: 4}}
  controllers: {{raid: {{model: LSI-9460-16i, overrides: {{cache: {cache}, partial_age: 100ms}}}}}}
arrays: {{volume: {{level: {level}, chunk: 64KiB, controller: raid}}}}
workload: {{kind: load, targets: [volume], read_share: 0%, depth: 32, {load}}}
"""
SLOW_LOAD = "jobs: 4, think_time: 400ms"


def text(load: str = "", cache: str = "8MiB", level: str = "raid5") -> str:
    """Random writes to a volume whose rows are old after a tenth of a second."""
    return TEXT.format(load=load, cache=cache, level=level)


def run(load: str = "", **changes: Any) -> Prediction:
    """Random writes to a volume."""
    return simulate(document_from(text(load, **changes)).spec())


def begun_full(load: str = "", longest: float = 100.0, **changes: Any) -> set[str]:
    """Volumes whose cache the run would begin with full."""
    machine = BuiltMachine(document_from(text(load, **changes)).spec())
    workload = machine.scenario.workload
    assert isinstance(workload, LoadSpec)
    full = settle_caches(machine, workload, longest)
    cache = machine.controllers["volume"].cache
    filled = (cache.unwritten_bytes + cache.reserved_bytes) / cache.capacity_bytes
    assert filled > 0.99 if full else filled < 0.9
    return full


@pytest.mark.parametrize(
    ("load", "level"),
    [
        ("", "raid5"),
        ("", "raid10"),
        ("locality: {kind: hot, share: 80%, of: 5%}", "raid5"),
        ("pattern: mixed, block_size: {4KiB: 70%, 16KiB: 30%}", "raid5"),
    ],
)
def test_it_has_the_figures_of_a_cache_that_was_filled(load: str, level: str) -> None:
    """The law: a run that begins full settles at the rate at which one that fills the cache settles."""
    begun = run(f"{load}, precision: 3%" if load else "precision: 3%", level=level)
    times = "warm_up: 8s, duration: 6s"
    filled = run(f"{load}, {times}" if load else times, level=level)
    assert filled.drift is None
    assert sum(begun.iops.values()) == pytest.approx(sum(filled.iops.values()), rel=0.06)


def test_a_run_of_a_given_time_begins_empty() -> None:
    """Counter-test: who asks for the first second sees it, when the cache takes writes at its own speed."""
    assert sum(run("warm_up: 0s, duration: 20ms").iops.values()) > 10 * sum(run("precision: 3%").iops.values())


def test_a_load_that_the_drives_keep_up_with_does_not_fill_it() -> None:
    """Counter-test: with a pause between two writes the drives are faster, and the cache begins empty."""
    assert begun_full() == {"volume"}
    assert begun_full(SLOW_LOAD) == set()


@pytest.mark.parametrize(
    ("load", "changes", "longest"),
    [
        ("read_share: 100%", {}, 100.0),
        ("pattern: sequential", {}, 100.0),
        ("block_size: 64KiB", {"cache": "16MiB"}, 100.0),
        ("total_iops: 100, depth: 1", {}, 1.0),
        ("", {"cache": "1MiB"}, 100.0),
    ],
    ids=["reads", "in order", "few large writes", "too slow to fill it in time", "small"],
)
def test_what_fills_soon_or_never_is_left_alone(load: str, changes: dict[str, Any], longest: float) -> None:
    """Protects loads for which it would be wrong, or not worth it."""
    given = text(load, **changes)
    for field in ("read_share: 0%, ", "depth: 32, "):
        if field.partition(":")[0] in load:
            given = given.replace(field, "", 1)
    machine = BuiltMachine(document_from(given).spec())
    workload = machine.scenario.workload
    assert isinstance(workload, LoadSpec)
    assert settle_caches(machine, workload, longest) == set()
    assert machine.engine.now == 0.0
