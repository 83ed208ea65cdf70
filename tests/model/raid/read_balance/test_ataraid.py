"""ataraid's balance, by sequences one can follow by hand. Positions in sectors of 512 bytes."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.layouts import StripedLayout
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import AtaRaid
from raidsim.model.raid.read_balance.ataraid import Turn
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.tests.model.recording import KIB, Issuer, recorders

SECTOR = 512


def read(balance: AtaRaid, sector: int, candidates: tuple[int, ...] = (0, 1)) -> int:
    """Choose for a read of 128 sectors, and send it."""
    request = Request(READ, sector * SECTOR, 128 * SECTOR, lambda _: None)
    slot = balance.choose(request, candidates)
    balance.started(slot, request)
    return slot


def test_a_sequential_reader_stays() -> None:
    """Protects what sets it apart from gmirror: one reader is served by one disk."""
    balance = AtaRaid(2)
    assert {read(balance, sector) for sector in range(0, 10**5, 128)} == {0}


def test_a_read_elsewhere_goes_to_the_other_disk() -> None:
    """Protects the toggle: far from both, the disk that was not used last."""
    balance = AtaRaid(2)
    assert [read(balance, sector) for sector in (10**6, 2 * 10**6, 3 * 10**6, 4 * 10**6)] == [1, 0, 1, 0]


def test_two_readers_settle_on_a_disk_each() -> None:
    """Protects the effect of both: two sequential readers, taking turns, each have a disk of their own."""
    balance = AtaRaid(2)
    slots = [read(balance, start + step * 128) for step in range(50) for start in (10**6, 5 * 10**6)]
    assert set(slots[::2]) == {1}
    assert set(slots[1::2]) == {0}


def test_three_readers_push_each_other_about() -> None:
    """The counter-test: with a third one in turn nobody finds the place he left, and each uses both disks."""
    balance = AtaRaid(2)
    slots = [read(balance, start + step * 128) for step in range(50) for start in (10**6, 5 * 10**6, 9 * 10**6)]
    assert all(set(slots[reader::3]) == {0, 1} for reader in range(3))


def test_near_is_2048_sectors_either_way() -> None:
    """Protects AR_PROXIMITY, from the end of the last request; the source is looked at before the mirror."""
    for distance, slot in ((2048, 1), (2049, 0), (-2048, 1), (-2049, 0)):
        balance = AtaRaid(2)
        assert read(balance, 10**6) == 1
        assert read(balance, 10**6 + 128 + distance) == slot
    balance = AtaRaid(2)
    read(balance, 10**6)
    read(balance, 2 * 10**6)
    read(balance, 2 * 10**6 + 5000, (1,))
    assert read(balance, 2 * 10**6 + 2000) == 0


def test_writes_move_the_position_too() -> None:
    """Protects reading back what was just written: near both, so from the source."""
    balance = AtaRaid(2)
    for slot in (0, 1):
        balance.started(slot, Request(WRITE, 10**6 * SECTOR, SECTOR, lambda _: None))
    assert read(balance, 10**6) == 0


def test_a_lost_disk_is_not_read() -> None:
    """Protects degraded mirrors: near or not, all reads go to the one that is left."""
    balance = AtaRaid(2)
    assert [read(balance, 0, (1,)), read(balance, 10**6, (1,)), read(balance, 0, (0,))] == [1, 1, 0]


def places(turn: Turn | None) -> list[tuple[int, int]]:
    """On which side two readers, begun one after the other, end up on each of two mirrors of a stripe."""
    columns = [AtaRaid(2, columns=2, turn=turn) for _ in range(2)]
    slots = [
        [read(column, start + step * 128) for column in columns] for step in range(20) for start in (10**6, 5 * 10**6)
    ]
    return [(slots[-2][column], slots[-1][column]) for column in range(2)]


def test_the_mirrors_of_a_stripe_share_the_turn() -> None:
    """Protects the cost of RAID 0+1: two readers, in step on both disks of a stripe, find each other on the same disks.

    The turn passes twice before the second reader comes, so he takes the side that the first one took. With a turn for
    each mirror, the counter-test, each reader has a side of his own.
    """
    assert places(Turn()) == [(1, 1), (0, 0)]
    assert places(None) == [(1, 0), (1, 0)]


def test_near_is_measured_in_addresses_of_the_array() -> None:
    """Protects AR_PROXIMITY on a stripe of two, on whose disks addresses are half as large."""
    for distance, slot in ((1024, 1), (1025, 0)):
        balance = AtaRaid(2, columns=2)
        assert read(balance, 10**6) == 1
        assert read(balance, 10**6 + 128 + distance) == slot


def test_there_are_always_two() -> None:
    """Protects from an array that these controllers cannot make."""
    with pytest.raises(ModelError, match="always 2"):
        AtaRaid(3)


def test_raid_01_is_a_mirror_of_stripes() -> None:
    """Protects RAID 0+1 by nesting: a read is cut over the disks of one side, one far away over the other's."""
    engine = Engine()
    disks = recorders(engine, 4)
    stripes = [
        StripeArray(engine, f"s{side}", pair, StripedLayout([disk.capacity for disk in pair], 64 * KIB))
        for side, pair in enumerate((disks[:2], disks[2:]))
    ]
    issuer = Issuer(engine, MirrorArray(engine, "ar0", stripes, AtaRaid(2)))
    issuer.read(0, 128 * KIB)
    issuer.read(64 * 1024 * KIB, 128 * KIB)
    engine.run()
    assert [len(disk.sent(READ)) for disk in disks] == [1, 1, 1, 1]
    issuer.write(0, 128 * KIB)
    engine.run()
    assert [disk.sent(WRITE) for disk in disks] == [[(0, 64 * KIB)]] * 4
