"""Arrays on arrays a thousand deep, thousands of drives side by side, and a clock that has run for years."""

from __future__ import annotations

import sys

import pytest

from raidsim.benchmarks.loads import CHUNK, DRIVE, Load, random_draws, sequential_draws
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.layouts.striped import StripedLayout
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.workers.process_setup import DEEPEST

TEN_YEARS_S = 10 * 365.25 * 86400


def _deep(levels: int) -> str:
    lines = [
        "machine: {drives: {model: WD2500JB, count: 2}}",
        "arrays:",
        "  a0: {level: raid0, members: [disk0, disk1]}",
    ]
    lines += [f"  a{i}: {{level: linear, members: [a{i - 1}]}}" for i in range(1, levels)]
    lines.append(f"workload: {{kind: load, targets: [a{levels - 1}], depth: 2, warm_up: 0s, duration: 50ms}}")
    return "\n".join(lines)


def test_arrays_on_arrays_a_thousand_deep() -> None:
    """Protects nesting from Python's limit of calls: every level passes the I/Os on, none adds or loses any."""
    spec = document_from(_deep(1000)).spec()
    deep, flat = simulate(spec), simulate(document_from(_deep(1)).spec())
    assert sys.getrecursionlimit() > 1000
    assert deep.member_ios == pytest.approx(flat.member_ios, abs=4)


def test_more_levels_than_can_be_followed_are_refused() -> None:
    """Protects the stack: what is too deep is a message, and so is a circle, however long."""
    with pytest.raises(InputError, match=r"arrays\.a\d+: found more than 2,000 devices on each other"):
        document_from(_deep(DEEPEST + 1)).spec()
    circle = _deep(200).replace("members: [disk0, disk1]", "members: [a199, disk1]")
    with pytest.raises(InputError, match="built of itself"):
        document_from(circle).spec()


@pytest.mark.parametrize("drives", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_drives_side_by_side(drives: int) -> None:
    """Protects wide arrays: each drive is built, and the load reaches them."""
    text = f"machine: {{drives: {{model: WD2500JB, count: {drives}}}}}\narrays: {{md0: {{level: raid0}}}}\n"
    text += "workload: {kind: load, depth: 64, warm_up: 0s, duration: 100ms}"
    found = simulate(document_from(text).spec())
    assert sum(usage.kind == "disk" for usage in found.usages) == drives
    assert found.member_ios > 300


def test_more_drives_than_that_are_refused() -> None:
    """Counter-test: the limit is a message."""
    with pytest.raises(InputError, match="expected: a whole number, 1 to 10000"):
        document_from("machine: {drives: {model: WD2500JB, count: 10001}}").spec()


def _started(at: float) -> Engine:
    engine = Engine()
    if at:
        engine.run(until=at)
    return engine


def _random(engine: Engine) -> Load:
    disk = HardDisk(engine, hard_disk(DRIVE), "sda")
    return Load(engine, disk, [disk], random_draws(engine, disk.capacity, 4096, 0.3), 4096)


def _sequential(engine: Engine) -> Load:
    disks = [HardDisk(engine, hard_disk(DRIVE), f"sd{i}") for i in range(4)]
    array = StripeArray(engine, "md0", disks, StripedLayout([disk.capacity for disk in disks], CHUNK))
    return Load(engine, array, disks, sequential_draws(READ, array.capacity, 64 << 10), 64 << 10, outstanding=8)


@pytest.mark.parametrize("make", [_random, _sequential])
def test_a_clock_that_has_run_for_ten_years(make: object) -> None:
    """Protects long runs: a clock whose steps are 60 ns long by then gives the same rates, and time never goes back."""
    rates = []
    for at in (0.0, TEN_YEARS_S):
        engine = _started(at)
        load = make(engine)  # type: ignore[operator]
        load.run(500)
        began = engine.now
        assert began > at
        load.run(4000)
        rates.append(4000 / (engine.now - began))
    assert rates[1] == pytest.approx(rates[0], rel=1e-3)


def test_events_stay_in_order_after_ten_years() -> None:
    """Protects causality: no event is scheduled before the time at which it is scheduled."""
    engine = _started(TEN_YEARS_S)
    load = _random(engine)
    last = engine.now
    for _ in range(3000):
        following = engine.pending()[0]
        assert following >= last
        last = following
        engine.step()
        assert engine.now == last
    assert load.completed > 1000
