"""What a parity array reads to change part of a row: md's rule, case by case.

Rows have data members 0, 1, 2 ... and then P (and Q), so the data index is the member. A comment of the form
rmw 2, rcw 3 is what the two ways would read.
"""

from __future__ import annotations

import random
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidsim.model.layouts import Row
from raidsim.model.raid.stripes.write_plan import RmwLevel, WritePlan, plan_write


def row(members: int, parities: int = 1) -> Row:
    """Data first, parity last."""
    data = tuple(range(members - parities))
    return Row(data, len(data), len(data) + 1 if parities == 2 else None)


def plan(
    members: int,
    full: Collection[int] = (),
    partial: Collection[int] = (),
    lost: Collection[int] = (),
    parities: int = 1,
    cached: Collection[int] = (),
    rmw_level: int = RmwLevel.IF_CHEAPER,
) -> WritePlan:
    """The plan with members that are lost altogether."""
    return plan_write(row(members, parities), full, partial, lost, lost, cached, rmw_level)


@pytest.mark.parametrize(
    ("members", "reads", "mode"),
    [
        (3, (1,), "rcw"),  # rmw 2, rcw 1
        (4, (1, 2), "rcw"),  # rmw 2, rcw 2: a tie goes to reconstruct-write
        (5, (0, 4), "rmw"),  # rmw 2, rcw 3
        (8, (0, 7), "rmw"),
    ],
)
def test_one_block_on_raid_5(members: int, reads: tuple[int, ...], mode: str) -> None:
    """Protects the small write: the other data up to four members, old data and P from five on."""
    assert plan(members, [0]) == WritePlan(reads, (0, members - 1), members - 1 if mode == "rcw" else 3, mode)


@pytest.mark.parametrize(
    ("members", "reads"),
    [
        (4, (1,)),  # rmw 3, rcw 1
        (6, (1, 2, 3)),  # rmw 3, rcw 3
        (7, (0, 5, 6)),  # rmw 3, rcw 4
    ],
)
def test_one_block_on_raid_6(members: int, reads: tuple[int, ...]) -> None:
    """Protects the small write with two parities: read-modify-write pays from seven members on."""
    assert plan(members, [0], parities=2).reads == reads
    assert plan(members, [0], parities=2).writes == (0, members - 2, members - 1)


@pytest.mark.parametrize("parities", [1, 2])
def test_a_full_row_reads_nothing(parities: int) -> None:
    """Protects full-stripe writes, also of a degraded row, which is written but for the lost member."""
    clean = plan(6, range(6 - parities), parities=parities)
    assert (clean.reads, clean.writes, clean.mode) == ((), tuple(range(6)), "full")
    assert plan(6, range(6 - parities), lost=[1], parities=parities).writes == (0, 2, 3, 4, 5)


def test_a_block_written_in_part_is_read_itself() -> None:
    """Protects writes below 4 KiB: on three members both data blocks (rmw 2, rcw 2), where a whole block needs one."""
    assert plan(3, partial=[0]).reads == (0, 1)
    assert plan(3, full=[0]).reads == (1,)
    assert plan(4, partial=[0]).reads == (0, 3), "rmw 2, rcw 3"


def test_more_blocks_turn_the_scale() -> None:
    """Protects the count: on eight members one to three blocks are modified (rmw 2, 3, 4), from three on rebuilt."""
    modes = [plan(8, range(blocks)).mode for blocks in range(1, 8)]
    # rmw 2 3 4 5 6 7 against rcw 6 5 4 3 2 1
    assert modes == ["rmw", "rmw", "rcw", "rcw", "rcw", "rcw", "full"]


def test_a_lost_block_that_is_not_written() -> None:
    """Protects degraded writes: what reconstruct-write cannot read makes it read-modify-write, 4 members or 5."""
    assert plan(4, [0], lost=[1]) == WritePlan((0, 3), (0, 3), 3, "rmw")
    assert plan(5, [0], lost=[1]).mode == "rmw"
    assert plan(4, [0]).mode == "rcw", "the counter-test: clean it is the other way"


def test_a_lost_block_that_is_written() -> None:
    """Protects degraded writes: its old contents are gone, so the others are read, and only P is written."""
    assert plan(5, [0], lost=[0]) == WritePlan((1, 2, 3), (4,), 4, "rcw")


def test_a_lost_parity() -> None:
    """Protects md's habit: without P it still reads all other data for a write of one block, and writes that block."""
    plan_without_p = plan(5, [0], lost=[4])
    assert (plan_without_p.reads, plan_without_p.writes) == ((1, 2, 3), (0,))


def test_when_neither_way_works_all_survivors_are_read() -> None:
    """Protects the corner: part of a lost block is written, so its old contents have to be computed first."""
    assert plan(5, partial=[0], lost=[0]).reads == (1, 2, 3, 4)
    assert plan(6, [0], lost=[1, 5], parities=2).reads == (0, 2, 3, 4), "RAID 6 with data and Q lost"


def test_a_fresh_member_is_written_and_not_read() -> None:
    """Protects rebuilding: unreadable as a lost one, but it takes its new block."""
    rebuilding = plan_write(row(5), [0], unreadable=[0], absent=[])
    assert rebuilding.reads == (1, 2, 3)
    assert rebuilding.writes == (0, 4)


def test_cached_blocks_are_not_read() -> None:
    """Protects the stripe cache: what is there is free, and may turn the scale."""
    assert plan(5, [0], cached=[0, 4]).reads == ()
    assert plan(5, [0], cached=[1, 2, 3]).reads == ()
    assert plan(5, [0], cached=[1, 2]).reads == (3,), "rmw 2, rcw 1"
    assert plan(5, [0], cached=[4]).reads == (0,)


def test_rmw_level_decides() -> None:
    """Protects md's setting: 0 never modifies, 1 if it reads less, 2 also if it reads as much."""
    never, cheaper, unless = RmwLevel.NEVER, RmwLevel.IF_CHEAPER, RmwLevel.UNLESS_DEARER
    assert [plan(4, [0], rmw_level=level).mode for level in (never, cheaper, unless)] == ["rcw", "rcw", "rmw"]
    assert [plan(5, [0], rmw_level=level).mode for level in (never, cheaper, unless)] == ["rcw", "rmw", "rmw"]
    assert [plan(3, [0], rmw_level=level).mode for level in (never, cheaper, unless)] == ["rcw", "rcw", "rcw"]
    assert plan(5, [0], lost=[1], rmw_level=never).reads == (0, 2, 3, 4), "then all survivors are read"


@given(st.data(), st.integers(1, 2), st.integers(3, 9), st.sampled_from(list(RmwLevel)))
def test_what_is_read_suffices(data: st.DataObject, parities: int, members: int, level: RmwLevel) -> None:
    """Protects the data: whatever is written, lost and cached, the new parity can be computed from what is at hand."""
    members = max(members, parities + 2)
    width = members - parities
    lost = data.draw(st.sets(st.integers(0, members - 1), max_size=parities))
    touched = data.draw(st.sets(st.integers(0, width - 1), min_size=1))
    full = data.draw(st.sets(st.sampled_from(sorted(touched))))
    cached = data.draw(st.sets(st.integers(0, members - 1))) - lost
    found = plan(members, full, touched - full, lost, parities, cached, level)
    assert not set(found.reads) & (lost | cached)
    assert set(found.writes) == (touched | set(range(width, members))) - lost
    known = set(found.reads) | cached
    modifies = touched | set(range(width, members)) <= known
    reconstructs = set(range(width)) - full <= known
    solves = len(known) >= width
    assert found.mode == "full" or modifies or reconstructs or solves


@given(st.data(), st.integers(1, 2), st.integers(3, 12))
def test_a_clean_row_reads_the_lesser_number(data: st.DataObject, parities: int, members: int) -> None:
    """Protects the rule as a formula: min(T + p, n_d - O) reads."""
    members = max(members, parities + 2)
    width = members - parities
    touched = data.draw(st.sets(st.integers(0, width - 1), min_size=1))
    full = data.draw(st.sets(st.sampled_from(sorted(touched))))
    reads = plan(members, full, touched - full, parities=parities).reads
    assert len(reads) == min(len(touched) + parities, width - len(full))


def test_a_plan_counts_what_the_whole_row_would() -> None:
    """Protects wide rows, of which only a few blocks are looked at: the reads are those that md's count gives."""
    draw = random.Random(2)
    for _ in range(2000):
        width = draw.randrange(2, 9)
        of = Row(tuple(range(width)), width, draw.choice([None, width + 1]))
        members = [*of.data, of.p] if of.q is None else [*of.data, of.p, of.q]
        blocks = draw.sample(range(width), draw.randrange(1, width + 1))
        full, partial = (sorted(part) for part in (blocks[: len(blocks) // 2], blocks[len(blocks) // 2 :]))
        cached = draw.sample(members, draw.randrange(len(members)))
        level = draw.choice(list(RmwLevel))
        found = plan_write(of, full, partial, cached=cached, rmw_level=level)
        parities = [slot for slot in members if slot >= width]
        assert found.writes == (*sorted(blocks), *parities)
        if len(full) == width:
            assert (found.reads, found.mode) == ((), "full")
            continue
        modify = [slot for slot in (*sorted(blocks), *parities) if slot not in cached]
        rebuild = [slot for slot in of.data if slot not in full and slot not in cached]
        tie = len(modify) == len(rebuild) and level == RmwLevel.UNLESS_DEARER
        rmw = level != RmwLevel.NEVER and (len(modify) < len(rebuild) or tie)
        assert (found.reads, found.mode) == ((tuple(modify), "rmw") if rmw else (tuple(rebuild), "rcw"))
