"""What differs between the pages and the planes of a die: read times, independent reads, and parity."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from raidsim.model.core.request import READ
from raidsim.model.drives.catalogue import drive, solid_state_names
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.solid_state.placement import Placement
from raidsim.model.solid_state.spec import USUAL_STEPS, SolidStateSpec
from raidsim.model.solid_state.steady_state import write_amplification
from raidsim.model.solid_state.superblocks import RESERVE
from raidsim.tests.model.solid_state.drive_bench import KIB, Bench, Loaded, small

CATALOGUE = [spec for spec in map(drive, solid_state_names()) if isinstance(spec, SolidStateSpec)]


@pytest.mark.parametrize("spec", CATALOGUE, ids=lambda spec: spec.model)
def test_the_mean_of_the_pages_is_the_read_time(spec: SolidStateSpec) -> None:
    """Every drive: the kinds of pages differ around `read_time`, and data at random lie on all of them alike."""
    times = spec.read_times
    assert sum(times) / len(times) == pytest.approx(spec.read_time)
    found = Counter(Placement(spec, np.random.default_rng(1)).read_s)
    assert set(found) == set(times)
    assert sum(time * count for time, count in found.items()) / 4096 == pytest.approx(spec.read_time, rel=1e-3)


@pytest.mark.parametrize(
    ("steps", "times"),
    [([1, 2], (48, 64)), ([1, 2, 4], (51.7, 68.9, 103.4)), ([2], (56,))],
)
def test_a_page_with_more_steps_takes_longer(steps: list[int], times: tuple[float, ...]) -> None:
    """The two kinds of Micron's L95B: 48 and 64 us, a mean of 56; TLC with 1, 2 and 4 steps, mean 74.7 us."""
    mean = sum(times) / len(times)
    spec = small(read_time=f"{mean}us", read_steps=steps)
    assert [each * 1e6 for each in spec.read_times] == pytest.approx(times, rel=1e-3)


@pytest.mark.parametrize("state", ["steady", "sequential"])
def test_reads_one_at_a_time_differ_by_the_page(state: str) -> None:
    """TLC, 2-3-2 steps: two thirds of the reads take 46.2 us in the die, a third 57.7; with one kind all take 50."""
    bench = Bench(state, read_steps=[2, 3, 2])
    step = (128 + 36) * KIB
    taken = [round(bench.timed(READ, i * step, 4 * KIB) - 16, 1) for i in range(300)]
    slow = sum(each > 50 for each in taken) / len(taken)
    assert set(taken) == {46.2, 57.7}
    assert slow == pytest.approx(1 / 3, abs=0.08)
    alike = Bench(state)
    assert {round(alike.timed(READ, i * step, 4 * KIB) - 16, 1) for i in range(50)} == {50.0}


@pytest.mark.parametrize("state", ["steady", "sequential"])
@pytest.mark.parametrize("read_share", [1.0, 0.7])
def test_small_reads_go_the_short_way_in_either_state(state: str, read_share: float) -> None:
    """What `submit` works out for a small read is what the long way gives, to the last bit, writes among them too."""
    found = []
    for simple in (True, False):
        bench = Bench(state, read_steps=[2, 3, 2])
        drive = bench.drive
        drive._simple = simple
        drive._changed()
        load = ClosedLoad(bench.engine, drive, size=4 * KIB, depth=16, read_share=read_share)
        bench.engine.run(until=0.005)
        found.append((drive.reads, drive.writes, load.read_latency.mean, drive.die_busy_s))
    assert found[0] == found[1]


def test_steps_are_counted_from_one() -> None:
    """A kind of page that is sensed in no step at all is refused."""
    with pytest.raises(ValidationError, match="at least 1 for each kind of page"):
        small(read_steps=[0, 2])


def test_independent_planes_multiply_random_reads() -> None:
    """16 dies of 50 us give 320,000 reads/s; with two planes for commands of their own twice that."""
    wide: dict[str, Any] = {"command_rate": 5e6, "channel_rate": "8GB/s", "interface_rate": "16GB/s"}
    rates = [Loaded(depth=512, seconds=0.01, independent_planes=each, **wide).iops for each in (False, True)]
    assert rates[0] == pytest.approx(16 / 50e-6, rel=0.05)
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.06)


def test_independent_planes_program_no_more() -> None:
    """Writes in the steady state are as fast with either kind of die, within what the size of a program makes."""
    rates = [
        Loaded(read_share=0.0, depth=64, warm_up=0.05, seconds=0.1, independent_planes=each).iops
        for each in (False, True)
    ]
    assert rates[1] == pytest.approx(rates[0], rel=0.06)


def test_parity_takes_spare_flash_and_programs() -> None:
    """One page in 8 is parity: less spare flash, and 8 programs for 7 of data, as the law of collection has it."""
    plain, parity = small(), small(parity_of=8)
    found = []
    for spec in (plain, parity):
        load = Loaded(read_share=0.0, depth=64, warm_up=0.1, seconds=0.2, parity_of=spec.parity_of)
        data = (spec.superblocks - RESERVE) * spec.superblock_data
        expected = write_amplification(spec.capacity / data) / (1 - spec.parity_share)
        found.append(load.drive.write_amplification)
        assert found[-1] == pytest.approx(expected, rel=0.1)
    assert found[1] > 1.3 * found[0]


def test_parity_may_not_take_all_spare_flash() -> None:
    """The message says what is left for data."""
    with pytest.raises(ValidationError, match=r"without parity \(parity_of: 4\)"):
        small(parity_of=4)


@pytest.mark.parametrize("spec", CATALOGUE, ids=lambda spec: spec.model)
def test_planes_are_independent_where_the_sheet_needs_it(spec: SolidStateSpec) -> None:
    """Every drive: its dies give the reads that its controller takes, with independent planes if not without."""
    if spec.in_place:
        return
    assert spec.command_rate <= spec.by_commands.dies / spec.read_time


@pytest.mark.parametrize("bits", USUAL_STEPS)
def test_every_border_of_a_cell_is_sensed_for_one_page(bits: int) -> None:
    """Protects the read times of the pages of a cell: n bits have 2^n - 1 borders, and each tells one page apart."""
    assert len(USUAL_STEPS[bits]) == bits
    assert sum(USUAL_STEPS[bits]) == 2**bits - 1
