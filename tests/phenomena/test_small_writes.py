"""Why RAID 5 is slow at small writes, and when it is not: the cause switched on and off."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.layouts import layout_for
from raidsim.model.layouts.parity import ParityLayout
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.raid.stripes.write_plan import RmwLevel
from raidsim.tests.model.recording import KIB, MIB, Recorder

CHUNK = 64 * KIB
TODAY: dict[str, Any] = {"most_heads": 4096, "hold": None, "direct_reads": True}
OLD: dict[str, Any] = {"heads": 256}
KERNELS = pytest.mark.parametrize("kernel", [TODAY, OLD], ids=["6.1", "2.6"])


class Run:
    """A closed load of direct writes on a parity array of members that take 2 ms a request, 32 at a time."""

    def __init__(
        self,
        members: int,
        level: str = "raid5",
        size: int = 4 * KIB,
        depth: int = 1,
        sequential: bool = False,
        failed: tuple[int, ...] = (),
        seconds: float = 2.0,
        **settings: Any,
    ) -> None:
        engine = Engine(3)
        self.disks = [Recorder(engine, f"d{i}", 4096 * MIB, 0.002, 32) for i in range(members)]
        layout = layout_for(level, members, CHUNK, [4096 * MIB] * members)
        assert isinstance(layout, ParityLayout)
        self.array = ParityArray(engine, "md0", self.disks, layout, ParitySettings(**settings), None, failed)
        load = ClosedLoad(engine, self.array, size=size, depth=depth, read_share=0.0, sequential=sequential)
        engine.run(until=seconds)
        self.iops = load.writes / seconds
        self.writes = load.writes
        self.ios_per_write = (self.array.member_reads + self.array.member_writes) / self.array.writes
        self.reads_per_write = self.array.member_reads / self.array.writes

    @property
    def full_share(self) -> float:
        """Share of the runs of rows that were written full."""
        rows = self.array.row_writes
        return rows["full"] / sum(rows.values())


@KERNELS
@pytest.mark.parametrize("members", [5, 6, 8])
def test_a_small_write_costs_four(members: int, kernel: dict[str, Any]) -> None:
    """RAID 5 of five disks or more: old data and old parity read, new data and new parity written, in two turns."""
    run = Run(members, **kernel)
    assert run.ios_per_write == pytest.approx(4, rel=0.01)
    assert run.iops == pytest.approx(1 / 0.004, rel=0.01)


@KERNELS
def test_a_small_write_costs_six_on_raid_6(kernel: dict[str, Any]) -> None:
    """RAID 6: old data, P and Q read, and all three written."""
    assert Run(8, "raid6", **kernel).ios_per_write == pytest.approx(6, rel=0.01)
    assert Run(6, "raid6", rmw_level=RmwLevel.UNLESS_DEARER, **kernel).ios_per_write == pytest.approx(6, rel=0.01)


@KERNELS
@pytest.mark.parametrize("members", [5, 8])
def test_without_read_modify_write_it_costs_the_row(members: int, kernel: dict[str, Any]) -> None:
    """The counter-test (rmw_level 0): all other data is read instead, n - 2 reads and two writes."""
    run = Run(members, rmw_level=RmwLevel.NEVER, **kernel)
    assert run.ios_per_write == pytest.approx(members, rel=0.01)


@KERNELS
def test_a_full_stripe_costs_no_read(kernel: dict[str, Any]) -> None:
    """The counter-test of the penalty: a write of the whole row needs no old contents, and one turn."""
    run = Run(5, size=4 * CHUNK, sequential=True, **kernel)
    assert run.reads_per_write == 0
    assert run.ios_per_write == pytest.approx(5, rel=0.01)
    assert run.iops == pytest.approx(1 / 0.002, rel=0.01)


@KERNELS
def test_a_degraded_small_write_reads_what_is_left(kernel: dict[str, Any]) -> None:
    """RAID 5 of four with one lost: by where the lost member stands, 2 + 2, 2 + 1 or 2 + 1 I/Os instead of 2 + 2."""
    whole, degraded = Run(4, **kernel), Run(4, failed=(0,), **kernel)
    assert whole.ios_per_write == pytest.approx(4, rel=0.01)
    assert degraded.ios_per_write == pytest.approx((2 * 4 + 3 + 3) / 4, rel=0.03)


def test_a_stream_of_chunks_becomes_full_stripes() -> None:
    """64 KiB writes one after the other, eight outstanding: most rows are complete when md's thread looks at them."""
    run = Run(4, size=CHUNK, depth=8, sequential=True, **TODAY)
    assert run.full_share >= 0.5
    assert run.reads_per_write < 0.3


def test_one_at_a_time_they_do_not() -> None:
    """The counter-test: with one outstanding no row is ever complete; each is read up once and written in three."""
    run = Run(4, size=CHUNK, depth=1, sequential=True, **TODAY)
    assert run.full_share == 0
    assert run.reads_per_write == pytest.approx(2 / 3, rel=0.02)
    assert run.iops == pytest.approx(3 / 0.008, rel=0.02)


def test_without_heads_they_do_not_either() -> None:
    """The other counter-test: four heads that may not grow are all taken by the start of one chunk, and read up."""
    tight = Run(4, size=CHUNK, depth=8, sequential=True, heads=4, **TODAY | {"most_heads": 0})
    wide = Run(4, size=CHUNK, depth=8, sequential=True, **TODAY)
    assert tight.full_share == 0
    assert tight.array.cache.waits > 0
    assert tight.iops < wide.iops / 10


def test_a_whole_array_is_read_past_the_stripe_cache() -> None:
    """Reads of today's kernel occupy no heads: 64 outstanding on a cache of two heads are as fast as on any."""

    def iops(heads: int, **kernel: Any) -> float:
        engine = Engine(3)
        disks = [Recorder(engine, f"d{i}", 4096 * MIB, 0.002, 64) for i in range(4)]
        layout = layout_for("raid5", 4, CHUNK, [4096 * MIB] * 4)
        assert isinstance(layout, ParityLayout)
        array = ParityArray(engine, "md0", disks, layout, ParitySettings(heads=heads, **kernel))
        load = ClosedLoad(engine, array, size=4 * KIB, depth=64)
        engine.run(until=1.0)
        return load.reads / 1.0

    assert iops(2, hold=None, direct_reads=True) == pytest.approx(64 / 0.002, rel=0.01)
    assert iops(2) < 2100, "the counter-test: through the cache two heads serve two reads at a time"
