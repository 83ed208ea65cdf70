"""What every kind of array sends its members of a discard, against chunks looked at one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, TRIM, WRITE, Request
from raidsim.model.layouts import LinearLayout, ParityLayout, Raid10Layout, StripedLayout, layout_for
from raidsim.model.raid.base.io_limit import behind_limit
from raidsim.model.raid.mirrors.barrier import BucketBarrier, PausingBarrier
from raidsim.model.raid.mirrors.discard_ranges import mirrored_ranges, striped_ranges
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md61
from raidsim.model.raid.resync.spares import MemberSlot
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.raid.discard_bench import Taker, discarded, takers
from raidsim.tests.model.recording import KIB, MIB, Recorder

CHUNK = 64 * KIB
TODAY: dict[str, Any] = {"hold": None, "direct_reads": True, "discards": True}


def parity(members: list[Any], engine: Engine, level: str = "raid5", failed: Any = (), **settings: Any) -> ParityArray:
    """RAID 5 or 6 of chunks of 64 KiB."""
    layout = layout_for(level, len(members), CHUNK, [member.capacity for member in members])
    assert isinstance(layout, ParityLayout)
    return ParityArray(engine, "md0", members, layout, ParitySettings(**{**TODAY, **settings}), failed=failed)


def freed(members: list[Taker]) -> list[list[tuple[int, int]]]:
    """What each member was told to free, as runs."""
    return [member.covered(TRIM) for member in members]


def bytes_of(ranges: Any) -> set[tuple[int, int]]:
    """Every unit of 4 KiB of some ranges, as (slot, number)."""
    return {(slot, at // 4096) for slot, offset, size in ranges for at in range(offset, offset + size, 4096)}


@pytest.mark.parametrize("algorithm", ["original", "alternate"])
def test_raid0_frees_one_range_of_each_member(algorithm: str) -> None:
    """raid0_handle_discard: one discard for each member of a zone, of just the bytes that its chunks have; also with
    members of three sizes.
    """
    draws = random.Random(4)
    for sizes in ([10, 10, 10], [7, 10, 13, 13]):
        layout = StripedLayout([size * CHUNK for size in sizes], CHUNK, algorithm)
        for _ in range(60):
            offset = draws.randrange(layout.capacity // 4096) * 4096
            size = draws.randrange(1, (layout.capacity - offset) // 4096 + 1) * 4096
            ranges = striped_ranges(layout, offset, size)
            assert bytes_of(ranges) == bytes_of((slot, at, n) for slot, at, n, _ in layout.extents(offset, size))
            assert len(ranges) <= len(sizes) * len(layout.zones)


@pytest.mark.parametrize(
    ("members", "algorithm", "copies"),
    [(4, "near", 2), (3, "near", 2), (5, "near", 3), (4, "far", 2), (3, "offset", 2), (5, "offset", 3), (3, "near", 3)],
)
def test_raid10_frees_all_copies(members: int, algorithm: str, copies: int) -> None:
    """raid10_handle_discard: just the bytes of all copies; whole stripes as one range of a member and copy."""
    draws = random.Random(5)
    layout = Raid10Layout([40 * CHUNK] * members, CHUNK, algorithm, copies)
    for _ in range(40):
        offset = draws.randrange(layout.capacity // 4096) * 4096
        size = draws.randrange(1, (layout.capacity - offset) // 4096 + 1) * 4096
        copied = ((slot, at, n) for _, n, places in layout.copies(offset, size) for slot, at in places)
        assert bytes_of(mirrored_ranges(layout, offset, size)) == bytes_of(copied)
    assert len(mirrored_ranges(layout, 0, layout.capacity)) <= members * (copies if algorithm == "far" else 1)


def test_linear_frees_what_lies_on_each() -> None:
    """A discard across the border of two members is one on each."""
    engine = Engine()
    members = takers(engine, 2)
    array = StripeArray(engine, "md0", members, LinearLayout([64 * MIB] * 2))
    assert discarded(engine, array, 60 * MIB, 10 * MIB) == pytest.approx(0.001)
    assert freed(members) == [[(60 * MIB, 4 * MIB)], [(0, 6 * MIB)]]
    assert array.writes == 0


def test_mirrors_free_the_same() -> None:
    """Each mirror that is there, in units of 64 MiB; a lost one gets nothing, one that is rebuilt does."""
    engine = Engine()
    members = takers(engine, 3, 256 * MIB)
    array = MirrorArray(engine, "md0", members, Md61(3, [False] * 3), failed=[0, 1], barrier=BucketBarrier)
    array.rebuild_onto(1)
    discarded(engine, array, 60 * MIB, 100 * MIB)
    assert [member.sent(TRIM) for member in members[1:]] == [
        [(60 * MIB, 4 * MIB), (64 * MIB, 64 * MIB), (128 * MIB, 32 * MIB)]
    ] * 2
    assert not members[0].log


def test_a_discard_waits_for_the_resync_of_its_place() -> None:
    """raise_barrier: as a write does; a discard elsewhere goes on."""
    engine = Engine()
    members = takers(engine, 2, 256 * MIB)
    array = MirrorArray(engine, "md0", members, Md61(2, [False] * 2), failed=[1], barrier=BucketBarrier)
    array.rebuild_onto(1)
    array.resync(0, 64 * KIB, lambda: None)
    array.submit(Request(TRIM, 0, 128 * MIB, lambda _: None))
    assert members[0].sent(TRIM) == [(64 * MIB, 64 * MIB)]
    engine.run()
    assert freed(members) == [[(0, 128 * MIB)]] * 2


def test_raid10_on_a_lost_member_frees_the_other_copy() -> None:
    """Whole stripes of a near layout: all members but the lost one, each a range."""
    engine = Engine()
    members = takers(engine, 4)
    layout = Raid10Layout([64 * MIB] * 4, CHUNK)
    balance = Md61(4, [False] * 4)
    array = Raid10Array(engine, "md0", members, layout, balance, failed=[2], barrier=PausingBarrier)
    discarded(engine, array, CHUNK, 16 * MIB)
    assert freed(members) == [[(CHUNK, 8 * MIB)], [(CHUNK, 8 * MIB)], [], [(0, 8 * MIB)]]


@pytest.mark.parametrize(("level", "members"), [("raid5", 4), ("raid6", 5)])
def test_raid5_frees_whole_stripes_on_all_members(level: str, members: int) -> None:
    """make_discard_request: of three rows and a half the three, data and parity alike; parts of a row stay."""
    engine = Engine()
    disks = takers(engine, members)
    array = parity(disks, engine, level)
    row = 3 * CHUNK
    discarded(engine, array, row // 2, 4 * row)
    assert freed(disks) == [[(CHUNK, 3 * CHUNK)]] * members
    assert array.cache.in_use == 0
    discarded(engine, array, row // 2, row)
    assert freed(disks) == [[(CHUNK, 3 * CHUNK)]] * members


def test_raid5_without_a_member_frees_on_the_others() -> None:
    """The lost member gets nothing, and the discard is done all the same."""
    engine = Engine()
    disks = takers(engine, 4)
    discarded(engine, parity(disks, engine, failed=[2]), 0, 6 * CHUNK)
    assert [bool(disk.log) for disk in disks] == [True, True, False, True]


def test_a_discard_needs_stripe_heads() -> None:
    """Of a cache of 17 heads it takes a few at a time, waits for more, and gives all of them back."""
    engine = Engine()
    disks = takers(engine, 4)
    array = parity(disks, engine, heads=17)
    assert discarded(engine, array, 0, 30 * CHUNK) > 0.01
    assert freed(disks) == [[(0, 10 * CHUNK)]] * 4
    assert (array.cache.in_use, array.cache.full) == (0, False)


def test_a_discard_ends_when_no_member_takes_it_any_more() -> None:
    """Members that take none come in their places meanwhile: they are sent none, and all heads are given back."""
    engine = Engine()
    slots = [MemberSlot(disk) for disk in takers(engine, 4)]
    array = parity(slots, engine, heads=17)
    late = [Recorder(engine, f"r{number}", 64 * MIB) for number in range(4)]

    def replaced(_: object) -> None:
        for slot, device in zip(slots, late, strict=True):
            slot.device = device

    engine.call_at(0.0045, replaced)
    assert discarded(engine, array, 0, 30 * CHUNK) > 0.0045
    assert [device.log for device in late] == [[]] * 4
    assert (array.cache.in_use, array.cache.full) == (0, False)


def test_a_spare_that_takes_no_discards_is_sent_none() -> None:
    """One that was planned for the member before it failed is over at once; a write goes to the spare."""
    engine = Engine()
    spare, ends = Recorder(engine, "spare", 64 * MIB), []
    slot = MemberSlot(spare)
    slot.read_elsewhere = lambda request: None
    for op in (TRIM, WRITE):
        slot.submit(Request(op, 0, CHUNK, lambda request: ends.append(request.op)))
    engine.run()
    assert ends == [TRIM, WRITE]
    assert [op for op, _, _ in spare.log] == [WRITE]


def test_a_discard_waits_for_writes_and_takes_what_is_cached() -> None:
    """A write under way in the row comes first; what the stripe cache knew of the row has to be read again."""
    engine = Engine()
    disks = takers(engine, 4)
    array = parity(disks, engine)
    ends: list[int] = []
    for op, size in ((WRITE, 3 * CHUNK), (TRIM, 3 * CHUNK)):
        array.submit(Request(op, 0, size, lambda request: ends.append(request.op)))
    engine.run()
    assert ends == [WRITE, TRIM]
    assert all([op for op, _, _ in disk.log] == [WRITE, TRIM] for disk in disks)
    array.submit(Request(WRITE, 0, 4 * KIB, lambda _: None))
    engine.run()
    assert sum(len(disk.sent(READ)) for disk in disks) == 2


def test_discards_of_neighbouring_rows_merge() -> None:
    """md's thread plugs: over queues, 64 rows of 64 KiB are few requests to each member."""
    engine = Engine()
    host = Host(Cpu(engine), FREE)
    disks = takers(engine, 4)
    queues = [BlkMqQueue(engine, host, disk, depth=32) for disk in disks]
    layout = layout_for("raid5", 4, CHUNK, [64 * MIB] * 4)
    assert isinstance(layout, ParityLayout)
    array = ParityArray(engine, "md0", queues, layout, ParitySettings(**TODAY), host)
    limited = behind_limit(array, layout, 128 * KIB)
    assert limited.discard_limits == array.discard_limits
    discarded(engine, limited, 0, 64 * 3 * CHUNK)
    assert freed(disks) == [[(0, 64 * CHUNK)]] * 4
    assert all(len(disk.log) < 32 for disk in disks)


def test_who_takes_no_discards_says_why() -> None:
    """RAID 5 unless it is told that its drives are safe, or if its stripes are too large; arrays of hard disks; an old
    block layer; and what is sent a discard all the same refuses it.
    """
    engine = Engine()
    disks = takers(engine, 4)
    assert parity(disks, engine).discard_limits.granularity == 4 * CHUNK
    unsafe = parity(disks, engine, discards=False)
    assert "devices_handle_discard_safely, which is off" in unsafe.discard_limits.refusal
    narrow = [Taker(engine, most_bytes=2 * CHUNK) for _ in range(4)]
    assert "frees whole stripes" in parity(narrow, engine).discard_limits.refusal
    old = parity(disks, engine, hold=0.003)
    assert old.discard_limits.refusal
    with pytest.raises(ModelError, match="which is off"):
        old.submit(Request(TRIM, 0, MIB, lambda _: None))
    none = [Recorder(engine, "d0"), Recorder(engine, "d1")]
    assert MirrorArray(engine, "md0", none, Md61(2, [True] * 2)).discard_limits.refusal == "d0 takes no discards"
    queue = BlockQueue(engine, Host(Cpu(engine)), disks[0], Noop(MIB), 1, MIB, 64, None)
    assert "passes no discards on" in MemberSlot(queue).discard_limits.refusal


def test_a_member_that_takes_none_is_left_out() -> None:
    """A mirror of a drive that takes discards and one that does not passes them to the first."""
    engine = Engine()
    taker, other = Taker(engine, "d0"), Recorder(engine, "d1")
    array = MirrorArray(engine, "md0", [taker, other], Md61(2, [False] * 2))
    assert not array.discard_limits.refusal
    discarded(engine, array, 0, MIB)
    assert (taker.sent(TRIM), other.log) == ([(0, MIB)], [])
    stripe = StripeArray(engine, "md1", [taker, other], StripedLayout([64 * MIB] * 2, CHUNK))
    assert discarded(engine, stripe, CHUNK, CHUNK) == 0
