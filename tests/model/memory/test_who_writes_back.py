"""Who pays for writing back: a writer that has a duty (2.4 and later), or the flusher alone (bdflush of 2.2)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from raidsim.model.kernels import kernel, kernel_names
from raidsim.model.memory.dirty_memory import DirtyLimits
from raidsim.tests.model.memory.page_cache_bench import KIB, MIB, Bench

BIO_S = 1e-6


def written(duty: int) -> tuple[float, float]:
    """CPU seconds that a writer of 16 MiB pays for writing back, and those of everybody."""
    limits = DirtyLimits(2 * MIB, 2 * MIB, 2 * MIB + 128 * KIB, duty, 64 * KIB, counts_writeback=False)
    bench = Bench(limits=limits, bio_s=BIO_S)
    file = bench.file(16 * MIB)

    def work() -> Generator[Any, Any, None]:
        for start in range(0, file.size, 64 * KIB):
            dirtied = bench.cache.mark_dirty(file, start, start + 64 * KIB)
            if bench.cache.memory.over_limit:
                yield from bench.cache.throttle(bench.program, dirtied)

    bench.do(work())
    return bench.program.cpu_s, bench.cpu.busy_s


def test_a_writer_without_a_duty_submits_nothing() -> None:
    """Protects bonnie's writes on two processors under 2.2: bdflush's work is none of the writer's, where a duty
    (counter-test) is, for a good part.
    """
    own, all_s = written(0)
    assert own == 0.0
    assert all_s > 13 * MIB / (4 * KIB) * BIO_S
    own, _ = written(256 * KIB)
    assert own > 1 * MIB / (4 * KIB) * BIO_S


@pytest.mark.parametrize("name", kernel_names())
def test_who_only_waits_is_waited_for(name: str) -> None:
    """Protects from a kernel that stops for ever: where writers have no duty, the flusher starts below their limit."""
    cache = kernel(name).cache
    if not cache.duty and cache.throttle == "limit":
        assert cache.flush_above < cache.limit


def test_2_2_leaves_it_to_bdflush() -> None:
    """Protects the catalogue: bdf_prm of 2.2 has an nfract of 40 %, and no writer writes there; in 2.4.18 they do."""
    assert (kernel("linux-2.2.7").cache.duty, kernel("linux-2.2.7").cache.flush_above) == (0, 0.4)
    assert kernel("linux-2.4.18").cache.duty == 8 * MIB
