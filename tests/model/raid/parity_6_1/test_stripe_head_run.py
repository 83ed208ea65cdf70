"""Runs of stripe heads: split, filled up, joined, and what belongs to whom meanwhile."""

from __future__ import annotations

from raidsim.model.core.request import WRITE, Request
from raidsim.model.raid.parity_6_1.stripe_head_run import Piece, StripeHeadRun, cover
from raidsim.model.raid.stripes.owner import Owner

PAGE = 4096


def piece(sync: int = 1) -> Piece:
    """A piece of row 0."""
    return Piece(0, 0, PAGE, Owner(Request(WRITE, 0, PAGE, lambda _: None, sync=sync), 1))


def spans(runs: list[StripeHeadRun]) -> list[tuple[int, int]]:
    """Where the runs lie, in pages."""
    return [(run.low // PAGE, run.high // PAGE) for run in runs]


def test_a_run_is_split_where_a_write_begins_and_ends() -> None:
    """Protects partial overlap: a write of pages 2-4 cuts a run of pages 0-8 in three."""
    runs = [StripeHeadRun(0, 0, 8 * PAGE)]
    assert spans(cover(runs, 0, 2 * PAGE, 4 * PAGE)) == [(2, 4)]
    assert spans(runs) == [(0, 2), (2, 4), (4, 8)]


def test_what_is_between_runs_is_filled_up() -> None:
    """Protects gaps: before, between and after what is there, in order."""
    runs = [StripeHeadRun(0, 2 * PAGE, 3 * PAGE), StripeHeadRun(0, 5 * PAGE, 9 * PAGE)]
    assert spans(cover(runs, 0, 0, 7 * PAGE)) == [(0, 2), (2, 3), (3, 5), (5, 7)]
    assert spans(runs) == [(0, 2), (2, 3), (3, 5), (5, 7), (7, 9)]
    assert spans(cover(runs, 0, 10 * PAGE, 12 * PAGE)) == [(10, 12)]
    assert spans(runs)[-1] == (10, 12)
    runs = [StripeHeadRun(0, 8 * PAGE, 9 * PAGE)]
    assert spans(cover(runs, 0, 0, PAGE)) == [(0, 1)]
    assert spans(runs) == [(0, 1), (8, 9)]


def test_both_parts_of_a_split_owe_the_writer() -> None:
    """Protects completion: a write is done when both parts of its run are, and both know whether somebody waits."""
    run = StripeHeadRun(0, 0, 2 * PAGE)
    part = piece()
    run.add(1, 0, 2 * PAGE, part)
    upper = run.split(PAGE)
    assert part.left == 2
    assert upper.full == run.full == 0b10
    assert upper.sync
    assert upper.pieces == [part]


def test_a_block_written_again_waits() -> None:
    """Protects overwriting: new data of a block that has some not yet written is deferred, in pages of its own."""
    run = StripeHeadRun(0, 0, 2 * PAGE)
    first, second = piece(), piece()
    run.add(0, 0, 2 * PAGE, first)
    run.add(0, 0, 2 * PAGE, second)
    assert run.pieces == [first]
    upper = run.split(PAGE)
    assert run.deferred == [(0, 0, PAGE, second)]
    assert upper.deferred == [(0, PAGE, 2 * PAGE, second)]
    assert second.left == 2


def test_halves_of_a_block_make_a_whole_one() -> None:
    """Protects small sequential writes: two halves that touch are a whole block, two that do not stay apart."""
    run = StripeHeadRun(0, 0, PAGE)
    run.add(0, 0, 2048, piece())
    assert (run.full, run.partial) == (0, 1)
    run.add(0, 2048, PAGE, piece())
    assert (run.full, run.partial) == (1, 0)
    run = StripeHeadRun(0, 0, PAGE)
    run.add(0, 0, 1024, piece())
    run.add(0, 3072, PAGE, piece())
    assert len(run.deferred) == 1


def test_like_neighbours_join() -> None:
    """Protects merging of small writes: neighbors with new data of the same blocks are one run, others are not."""
    low, high = StripeHeadRun(0, 0, PAGE), StripeHeadRun(0, PAGE, 2 * PAGE)
    for run in (low, high):
        run.queued = True
        run.add(0, run.low, run.high, piece(sync=0))
    assert low.like(high)
    high.reading = True
    assert not low.like(high)
    high.reading = False
    high.known = 1
    assert not low.like(high)
    high.known = 0
    low.join(high)
    assert (low.low, low.high, len(low.pieces)) == (0, 2 * PAGE, 2)


def test_taken_data_leaves_the_run_open() -> None:
    """Protects writes that come while the last ones are on their way: they are new data, not a second time."""
    run = StripeHeadRun(0, 0, PAGE)
    run.add(0, 0, PAGE, piece())
    assert len(run.take()) == 1
    assert (run.full, run.sync, run.pieces) == (0, False, [])
    run.add(0, 0, PAGE, piece())
    assert run.deferred == []
