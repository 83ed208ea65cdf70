"""Which mirror serves a read, by sequences one can follow by hand. Positions and sizes in sectors."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest

from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.raid.read_balance import (
    READ_BALANCE,
    Md24,
    Md26,
    Md30Raid10,
    Md36,
    Md61,
    Md61Raid10,
    Mirrors,
    PrimaryOnly,
    ReadBalance,
    balance,
)

SECTOR = 512
STAYING = ["md-2.4", "md-2.6", "md-3.6", "md-6.1", "primary"]
"""Policies that keep one sequential reader on one mirror."""


def read(balance: ReadBalance, sector: int, sectors: int = 8, candidates: tuple[int, ...] | None = None) -> int:
    """Choose a mirror for a read and send it there."""
    request = Request(READ, sector * SECTOR, sectors * SECTOR, lambda _: None)
    slot = balance.choose(request, candidates if candidates is not None else range(len(balance.head)))
    balance.started(slot, request)
    return slot


def one_by_one(balance: ReadBalance, *sectors: int, size: int = 8) -> list[int]:
    """Reads that each wait for the one before."""
    slots = []
    for sector in sectors:
        slot = read(balance, sector, size)
        balance.ended(slot, (sector + size) * SECTOR)
        slots.append(slot)
    return slots


@pytest.mark.parametrize("policy", STAYING)
def test_a_sequential_reader_stays(policy: str) -> None:
    """Protects why RAID 1 reads like one disk: a sequential reader, waiting or not, is served by one mirror."""
    assert set(one_by_one(READ_BALANCE[policy](3), *range(0, 8000, 8))) == {0}
    ahead = READ_BALANCE[policy](3)
    assert {read(ahead, sector) for sector in range(0, 8000, 8)} == {0}, "also with many reads under way"


def test_2_4_takes_the_nearest_head() -> None:
    """Protects head distance in 2.4: after mirror 1 was sent to 1000, reads go to whoever is nearer."""
    balance = Md24(2)
    balance.head[:] = [0, 1000 * SECTOR]
    assert one_by_one(balance, 990, 12, 980, 30) == [1, 0, 1, 0]


def test_2_4_leaves_a_mirror_only_for_a_nearer_one() -> None:
    """Protects ties: with all heads at 0 the last used mirror is kept."""
    balance = Md24(3)
    balance.last = 1
    assert read(balance, 100) == 1


def test_2_4_moves_on_after_128_sectors() -> None:
    """Protects the limit that wakes idle disks: 16 reads of 8 sectors near mirror 0's head stay, the 17th goes to the
    other mirror, however far its head is.
    """
    balance = Md24(2)
    balance.head[:] = [0, 10**9]
    jumps = [16 * number + 4 for number in range(20)]
    assert one_by_one(balance, *jumps)[:17] == [0] * 16 + [1]


def test_2_4_counts_sequential_reads_but_does_not_leave_them() -> None:
    """The counter-test: sequential reads pass the limit and stay; the first read elsewhere moves on at once."""
    balance = Md24(2)
    balance.head[:] = [0, 10**9]
    assert set(one_by_one(balance, *range(0, 400, 8))) == {0}
    assert read(balance, 404) == 1


def test_2_4_goes_downwards() -> None:
    """Protects the order of three mirrors: moving on goes from 0 to 2 to 1 to 0."""
    balance = Md24(3)
    seen = [0]
    for number in range(60):
        balance.head[:] = [number * 10**6 * SECTOR] * 3
        seen += one_by_one(balance, number * 10**6 + 100, size=128)
    changes = [after for before, after in pairwise(seen) if after != before]
    assert changes[:4] == [2, 1, 0, 2]


def test_2_4_moves_the_head_when_it_submits() -> None:
    """Protects the difference of generations: a second read next to the first is sequential before that has ended."""
    balance = Md24(2)
    assert read(balance, 1000) == read(balance, 1008)
    assert balance.head[balance.last] == 1016 * SECTOR


def test_2_6_takes_the_idle_one_of_the_others() -> None:
    """Protects random readers of 2.6: one at a time they alternate between two mirrors, whatever the distance."""
    assert one_by_one(Md26(2), 5000, 70, 9000, 300) == [1, 0, 1, 0]
    assert one_by_one(Md26(3), 5000, 70, 9000, 300) == [2, 1, 0, 2], "downwards, as 2.4"


def test_2_6_takes_the_nearest_when_all_are_busy() -> None:
    """The counter-test: with reads under way everywhere the distance decides, and the last used wins a tie."""
    balance = Md26(2)
    balance.head[:] = [0, 1000 * SECTOR]
    balance.pending[:] = [1, 1]
    assert read(balance, 990) == 1
    assert read(balance, 10) == 0
    assert read(balance, 500) == 0


def test_2_6_counts_writes_as_work() -> None:
    """Protects mixed loads: a mirror with only a write under way is not idle; and where it ends the head is."""
    balance = Md26(2)
    balance.head[:] = [0, 10**6 * SECTOR]
    write = Request(WRITE, 0, 8 * SECTOR, lambda _: None)
    for slot in (0, 1):
        balance.started(slot, write)
    assert balance.last == 0, "a write does not make a mirror the last read from"
    assert read(balance, 100) == 0, "the nearest; an idle mirror 1 would have been taken"
    balance.ended(1, 500 * SECTOR)
    assert balance.head[1] == 500 * SECTOR


@pytest.mark.parametrize("policy", STAYING)
def test_only_readable_mirrors_are_chosen(policy: str) -> None:
    """Protects degraded arrays: slot 0, though last used and sequential, is not read when it has failed."""
    balance = READ_BALANCE[policy](3)
    read(balance, 0)
    slots = {read(balance, sector, candidates=(1, 2)) for sector in (8, 16, 5000, 20, 9000, 70, 300)}
    assert slots <= {1, 2}
    assert {read(balance, sector, candidates=(1,)) for sector in (8, 5000, 20)} == {1}


def test_primary_only_is_slot_0() -> None:
    """Protects the firmware that does not balance: all reads go to the first mirror there is."""
    assert set(one_by_one(PrimaryOnly(2), 5000, 70, 9000)) == {0}
    assert read(PrimaryOnly(2), 8, candidates=(1,)) == 1


def busy(balance: ReadBalance, *pending: int) -> None:
    """Say how many requests are under way on each mirror."""
    balance.pending[:] = pending


def test_6_1_prefers_an_idle_mirror_in_slot_order() -> None:
    """Protects random reads one at a time: all go to mirror 0, turning or not, wherever the heads are."""
    for rotational in (True, False):
        balance = Md61(3, [rotational] * 3)
        balance.head[:] = [10**9, 80 * SECTOR, 90 * SECTOR]
        assert one_by_one(balance, 5000, 70, 9000, 300) == [0, 0, 0, 0]
        busy(balance, 1, 0, 0)
        assert read(balance, 777) == 1


def test_6_1_continues_where_the_mirror_is() -> None:
    """Protects sequential reads: the first mirror whose last read or whose head ends there, busy or not."""
    balance = Md61(3)
    busy(balance, 0, 0, 3)
    balance.head[2] = 1000 * SECTOR
    assert read(balance, 1000) == 2, "its head is there"
    assert read(balance, 1008) == 2, "its next sector, though its head has not moved"
    assert read(balance, 1017) == 0, "a sector further on it is not"


def test_6_1_takes_the_calmest_if_one_does_not_turn_and_the_nearest_otherwise() -> None:
    """Protects what the kind of member changes when all are busy: counts for flash, distance for disks."""
    for rotational, slot in (((True, True), 0), ((True, False), 1), ((False, False), 1)):
        balance = Md61(2, rotational)
        balance.head[:] = [990 * SECTOR, 10**9]
        busy(balance, 3, 2)
        assert read(balance, 1000) == slot


def test_6_1_wraps_to_a_mirror_that_still_stands_at_the_start() -> None:
    """Protects the 80/20 of one stream: at the end of the file it begins anew on the mirror whose head is at 0."""
    balance = Md61(3)
    first = one_by_one(balance, 0, 8, 16)
    again = one_by_one(balance, 0, 8, 16)
    assert (first, again) == ([0, 0, 0], [1, 1, 1])


def test_6_1_above_the_resync_reads_the_first() -> None:
    """Protects a dirty array: where copies may differ only the first mirror is read; below, any."""
    balance = Md61(2)
    balance.in_sync_below = 1000 * SECTOR
    busy(balance, 5, 0)
    assert read(balance, 900) == 1
    assert read(balance, 996) == 0, "it ends above"


def test_6_1_leaves_a_long_stream_to_a_mirror_that_it_continues_too() -> None:
    """Protects optimal_io_size: past it a later mirror at the same place takes over; disks that turn never do."""
    for rotational, slots in ((False, [0, 0, 1]), (True, [0, 0, 0])):
        balance = Md61(2, [rotational] * 2, optimal_io_bytes=16 * SECTOR)
        read(balance, 100)
        read(balance, 108)
        balance.head[1] = 116 * SECTOR
        assert [0, 0, read(balance, 116)] == slots


def test_write_mostly_mirrors_are_read_last() -> None:
    """Protects write-mostly: nothing is read there while another mirror is left; the counter-test is without."""
    spread = Md61.for_members(Mirrors.of([False, False]), balance(Md61.name))
    spared = Md61.for_members(Mirrors.of([False, False], frozenset({0})), balance(Md61.name))
    sectors = range(0, 64000, 1600)
    assert {read(spread, sector) for sector in sectors} == {0, 1}
    assert {read(spared, sector) for sector in sectors} == {1}
    assert read(spared, 5, candidates=(0,)) == 0, "if no other is left"
    assert spared.rebuild_source((0, 1)) == 1, "nor does a rebuild read there"
    assert spread.rebuild_source((0, 1)) == 0


def raid10_read(balance: Md61Raid10, *places: tuple[int, int]) -> int:
    """Choose among copies at (slot, sector)."""
    request = Request(READ, 0, 8 * SECTOR, lambda _: None)
    return balance.choose(request, [slot for slot, _ in places], [sector * SECTOR for _, sector in places])


def test_raid10_near_takes_the_first_idle_copy_else_the_nearest_head() -> None:
    """Protects near copies on disks that turn: the order of the copies among idle members, distance among busy ones."""
    balance = Md61Raid10(4)
    balance.head[:] = [0, 0, 10**9, 1000 * SECTOR]
    assert raid10_read(balance, (2, 1000), (3, 1000)) == 2
    busy(balance, 0, 0, 1, 0)
    assert raid10_read(balance, (2, 1000), (3, 1000)) == 3
    busy(balance, 0, 0, 1, 1)
    assert raid10_read(balance, (2, 10**9 // SECTOR), (3, 2000)) == 2


def test_raid10_far_takes_the_lowest_address() -> None:
    """Protects what makes far a stripe: the copy in the first part of its member, however busy that is."""
    balance = Md61Raid10(4, near=False)
    busy(balance, 0, 9, 0, 0)
    assert raid10_read(balance, (1, 50), (2, 5000)) == 1
    assert raid10_read(balance, (2, 5000), (1, 50)) == 1


def test_raid10_counts_on_members_that_do_not_turn() -> None:
    """Protects flash: the calmest copy, far or near; a member that turns is left out while another does not."""
    for near in (True, False):
        balance = Md61Raid10(3, [False, False, True], near)
        busy(balance, 2, 1, 0)
        assert raid10_read(balance, (0, 50), (1, 5000)) == 1
        assert raid10_read(balance, (0, 50), (2, 5000)) == 0


def test_raid10_above_the_resync_reads_the_first_copy() -> None:
    """Protects a dirty RAID 10: where copies may differ the first copy is read, however busy its member is."""
    balance = Md61Raid10(2, [False, False])
    busy(balance, 5, 0)
    assert raid10_read(balance, (0, 0), (1, 0)) == 1
    balance.in_sync_below = 0
    assert raid10_read(balance, (0, 0), (1, 0)) == 0


def test_3_6_prefers_an_idle_mirror_to_a_later_one_that_the_read_continues() -> None:
    """Protects the order in which 3.10 looks: the first mirror that is idle or that the read continues. Counter-tests:
    6.1, where the one that the read continues comes first, and an earlier mirror that is busy.
    """
    for policy, idle, slot in ((Md36(3), True, 0), (Md61(3), True, 2), (Md36(3), False, 2)):
        policy._next[2] = 100 * SECTOR
        if not idle:
            busy(policy, 1, 1, 0)
        assert read(policy, 100) == slot


@pytest.mark.parametrize(("rotational", "slot"), [(False, 1), (True, 0)])
def test_3_6_takes_the_least_loaded_where_one_does_not_turn(rotational: bool, slot: int) -> None:
    """Protects flash in mirrors since 3.6: with all mirrors busy, the one with the least under way. Counter-test:
    disks, the nearest head.
    """
    policy = Md36(2, [rotational] * 2)
    policy.head[:] = [0, 10**9]
    busy(policy, 3, 1)
    assert read(policy, 500) == slot


@pytest.mark.parametrize(("kind", "slot"), [(Md30Raid10, 0), (Md61Raid10, 1)])
def test_raid10_until_5_2_takes_flash_for_disks(kind: type[Md61Raid10], slot: int) -> None:
    """Protects RAID 10 of before "read balance chooses idlest disk for SSD": with both copies busy, the nearest head.
    Counter-test: 6.1 on flash, the copy with the least under way.
    """
    policy = kind.for_members(Mirrors.of([False, False]), balance(kind.name))
    policy.head[:] = [0, 10**9]
    busy(policy, 2, 1)
    assert raid10_read(policy, (0, 16), (1, 16)) == slot


@pytest.mark.parametrize("name", list(READ_BALANCE))
def test_options_go_to_other_processes(name: str) -> None:
    """Protects sweeps and studies with workers: a scenario with this policy can be sent to another process."""
    options = balance(name)
    assert pickle.loads(pickle.dumps(options)) == options
