"""Runs of stripe heads are an optimization: heads handled one by one send the members the same."""

from __future__ import annotations

import random

import pytest

from raidsim.model.core.request import READ, WRITE
from raidsim.model.raid.parity_6_1 import stripe_handler
from raidsim.model.raid.parity_6_1.stripe_head_run import StripeHeadRun, cover
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench


def one_by_one(runs: list[StripeHeadRun], row: int, low: int, high: int) -> list[StripeHeadRun]:
    """The same as `cover`, in runs of one head."""
    return [run for at in range(low, high, PAGE) for run in cover(runs, row, at, at + PAGE)]


def played(level: str, failed: tuple[int, ...], seed: int, depth: int) -> list[list[list[tuple[int, int]]]]:
    """What the members are sent for random overlapping writes and reads, `depth` at a time."""
    members = 4 if level == "raid5" else 5
    bench = Bench(members, level, failed, hold=None, direct_reads=True, heads=64, most_heads=64)
    draw = random.Random(seed)
    found = []
    for _ in range(40):
        for _ in range(depth):
            size = draw.choice((512, PAGE, 2 * PAGE, 5 * PAGE, CHUNK // 2, CHUNK, 3 * CHUNK))
            offset = draw.randrange(0, 8 * CHUNK, 512)
            (bench.issuer.read if draw.random() < 0.2 else bench.issuer.write)(offset, size)
        bench.engine.run()
        found.append([[*disk.covered(READ), (-1, 0), *disk.covered(WRITE)] for disk in bench.disks])
        found.append([[(sum(size for _, size in disk.sent(op)), op) for op in (READ, WRITE)] for disk in bench.disks])
        bench.forget()
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize(("level", "failed"), [("raid5", ()), ("raid5", (1,)), ("raid6", ()), ("raid6", (0, 3))])
def test_runs_send_what_single_heads_send(
    monkeypatch: pytest.MonkeyPatch, level: str, failed: tuple[int, ...], depth: int, seed: int
) -> None:
    """Protects every decision of the write path: the same ranges and the same bytes of every member."""
    in_runs = played(level, failed, seed, depth)
    monkeypatch.setattr(stripe_handler, "cover", one_by_one)
    monkeypatch.setattr(StripeHeadRun, "like", lambda *_: False)
    assert in_runs == played(level, failed, seed, depth)


def test_a_partly_cached_range_is_read_where_it_is_not() -> None:
    """Protects the unit: of a chunk of which a block was written before, the other 60 KiB are read."""
    bench = Bench(4, hold=None, direct_reads=True)
    bench.issuer.write(PAGE, PAGE, sync=True)
    bench.engine.run()
    bench.forget()
    bench.issuer.write(0, CHUNK, sync=True)
    bench.engine.run()
    assert bench.reads() == [[], *[[(0, PAGE), (2 * PAGE, CHUNK - 2 * PAGE)]] * 2, []]
    assert [disk.sent(WRITE)[0] for disk in (bench.disks[0], bench.disks[3])] == [(PAGE, PAGE)] * 2


def test_a_lost_block_is_computed_once() -> None:
    """Protects degraded reads: what was computed stays in its head, and is not read again; its neighbor is."""
    bench = Bench(4, failed=(0,), hold=None, direct_reads=True)
    for offset, members in ((0, 3), (0, 0), (PAGE, 3)):
        bench.forget()
        bench.issuer.read(offset, PAGE)
        bench.engine.run()
        assert sum(len(disk.sent(READ)) for disk in bench.disks) == members
