"""md's thread of RAID 5 as the kernels of 2004 run it: completions wake it, and it sleeps over superblocks."""

from __future__ import annotations

import pytest

from raidsim.model.core.request import READ, Request
from raidsim.model.raid.metadata.array_metadata import ArrayMetadata
from raidsim.model.raid.metadata.superblock import VERSION_0_90
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench

CLEAN_AFTER_S = 0.021
SWITCH_S = 5e-6


def _read_at(bench: Bench, at: float, offset: int) -> float:
    """How long a read takes that is sent at a time (s)."""
    over: list[float] = []
    bench.engine.call_at(
        at,
        lambda _: bench.array.submit(Request(READ, offset, PAGE, lambda _: over.append(bench.engine.now - at), 1)),
    )
    bench.engine.run()
    return over[0]


def _marking_clean(members: int = 3) -> tuple[Bench, float]:
    """An array that was written to once, and when it begins to be marked clean (s)."""
    bench = Bench(members)
    bench.array.keep_metadata(ArrayMetadata(bench.engine, bench.array, None, CLEAN_AFTER_S, superblock=VERSION_0_90))
    bench.issuer.write(0, (members - 1) * CHUNK)
    while not bench.times():
        bench.engine.step()
    return bench, bench.engine.now + CLEAN_AFTER_S


def test_a_read_waits_while_the_thread_marks_the_array_clean() -> None:
    """Protects a pause that programs see: three superblocks of 1 ms each, one after the other, and what the members
    have read meanwhile lies there until the thread is back.
    """
    bench, marks = _marking_clean()
    assert _read_at(bench, marks + 0.0001, 9 * CHUNK) == pytest.approx(0.0029)


def test_a_read_waits_for_nothing_before() -> None:
    """The counter-test: a read that is over when the thread begins takes 1 ms."""
    bench, marks = _marking_clean()
    assert _read_at(bench, marks - 0.002, 9 * CHUNK) == pytest.approx(0.001)


def test_marking_dirty_is_the_writers_business() -> None:
    """A writer marks the array dirty himself: the thread goes on meanwhile, and so do reads."""
    bench, marks = _marking_clean()
    bench.engine.run(until=marks + 1.0)
    bench.issuer.write(0, PAGE, sync=True)
    assert _read_at(bench, bench.engine.now, 9 * CHUNK + PAGE) == pytest.approx(0.002)  # behind a superblock


def test_what_is_in_the_cache_needs_no_thread() -> None:
    """Who asks for what the stripe cache holds gets it at once, also while superblocks are written."""
    bench, marks = _marking_clean()
    bench.array.cache.remember_all(0, (0, 1, 2), 0, CHUNK)
    assert _read_at(bench, marks + 0.0001, 0) == 0.0


@pytest.mark.parametrize(("prices", "switches"), [({"switch_s": SWITCH_S}, 1), ({"switch_s": 0.0}, 0)])
def test_a_completion_wakes_the_thread_and_others_find_it_awake(prices: dict[str, float], switches: int) -> None:
    """Protects its price: a switch for each time that it is woken; what comes while it works costs none."""
    bench = Bench(3, prices=prices | {"stripe_s": 0.0001})
    bench.array.submit(Request(READ, 0, 2 * CHUNK, lambda _: None, 1))  # two members are done at the same moment
    bench.engine.run()
    work = 2 * 16 * 2 * 0.0001
    assert bench.cpu.kernel_s == pytest.approx(work + switches * prices["switch_s"], abs=1e-9)
    bench.engine.run(until=1.0)
    bench.array.submit(Request(READ, 8 * CHUNK, PAGE, lambda _: None, 1))  # when it has long gone to sleep
    bench.engine.run()
    assert bench.cpu.kernel_s == pytest.approx(work + 0.0002 + 2 * switches * prices["switch_s"], abs=1e-9)


def _read_two(cores: int) -> list[float]:
    """When two reads of a degraded array are over whose members are done at the same moment (s)."""
    bench = Bench(3, failed=(0,), prices={"xor_s_per_byte": 0.001 / PAGE}, cores=cores)
    over: list[float] = []
    for row in (0, 3):  # their first chunk is on the lost member
        bench.array.submit(Request(READ, row * 2 * CHUNK, PAGE, lambda _: over.append(bench.engine.now), 1))
    bench.engine.run()
    return over


@pytest.mark.parametrize("cores", [1, 4])
def test_the_thread_computes_one_block_after_the_other(cores: int) -> None:
    """Protects what a single thread limits: XOR of two blocks of 4 KiB takes 2 ms, and four cores make it no faster."""
    first, second = _read_two(cores)
    assert second - first == pytest.approx(0.002)
