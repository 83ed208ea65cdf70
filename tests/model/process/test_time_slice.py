"""How long a program that writes keeps the CPU, and so how finely files written at the same time interleave."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.memory.dirty_memory import DirtyLimits
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.tests.model.memory.page_cache_bench import KIB, MIB, NO_LIMITS
from raidsim.tests.model.process.test_process import Machine, written

TIGHT = DirtyLimits(1 << 40, 1 << 40, limit=2 * MIB, duty=8 * MIB, pass_bytes=128 * KIB, counts_writeback=False)
"""What a writer dirties beyond 2 MiB it writes back itself."""


def runs(limits: DirtyLimits, **settings: Any) -> list[int]:
    """Two programs write 16 MiB each, at 256 KiB in 2.6 ms; the number of runs of each file's bytes on the disk."""
    kind = {"goal_shifts": 1}
    machine = Machine(kind=kind, limits=limits, settings=PageCacheSettings(**settings), copy_s_per_byte=1e-8)
    names = ["one", "other"]
    machine.run(*(written(16 * MIB, name=name) for name in names))
    return [len(machine.system.file(name).extents) for name in names]


@pytest.mark.parametrize(("limits", "lists"), [(NO_LIMITS, False), (TIGHT, True)])
def test_a_time_slice_writes_megabytes(limits: DirtyLimits, lists: bool) -> None:
    """Protects how files lie that are written at the same time: in 60 ms a program writes 5.7 MiB, so 16 MiB are in a
    few runs (more where a pointer block lies between), below the limit and above it, since write-back on a disk with
    room costs it nothing. The counter-test: in turns of a millisecond every 256 KiB of them lie by themselves.
    """
    assert max(runs(limits, turn=0.06, block_lists=lists)) <= 9
    assert min(runs(limits, block_lists=lists)) >= 32


def test_who_keeps_the_cpu_pays_for_what_it_writes_back() -> None:
    """Protects the account of a writer: the duty is its CPU time, of which the CPU has had all when it ends."""
    spent = []
    for turn_s in (0.06, 0.001):
        machine = Machine(limits=TIGHT, settings=PageCacheSettings(turn=turn_s), bio_s=1e-5)
        spent.append(machine.phase(written(16 * MIB)).cpu_s)
        assert machine.cpu.busy_s >= spent[-1]
    # A bio for each block of the 14 MiB above the limit, and of what a last duty takes with it.
    assert spent == pytest.approx([15 * 256 * 1e-5] * 2, rel=0.03)
