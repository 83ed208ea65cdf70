"""Where dRAID puts a block: groups, rows, orders of the members, and what is read when members are lost."""

from __future__ import annotations

import struct
from collections import Counter

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.zfs.map.draid import ROW_BYTES, Draid
from raidsim.model.zfs.map.draid_orders import FEWEST, MOST, draid_orders, draid_seeds, orders_of
from raidsim.model.zfs.map.vdev import DATA, PARITY

SHAPES = [(8, 2, 4, 1), (11, 1, 3, 2), (14, 1, 8, 2), (12, 3, 6, 0), (6, 2, 4, 0)]


@pytest.mark.parametrize("members", [2, 3, 8, 11, 14, 31, 32, 40])
def test_orders_have_the_published_checksum(members: int) -> None:
    """Every order is a shuffle of all members, and their sum is the one that ZFS verifies."""
    orders = draid_orders(members)
    assert len(orders) == orders_of(members)
    assert all(sorted(order) == list(range(members)) for order in orders)
    raw = b"".join(map(bytes, orders))
    words = len(raw) // 4
    assert sum(struct.unpack(f"<{words}I", raw[: 4 * words])) == draid_seeds()[members][1]


def test_every_number_of_members_has_a_seed() -> None:
    """The catalogue has 2 to 255 members, each with a seed of its own."""
    assert list(draid_seeds()) == list(range(FEWEST, MOST + 1))
    assert len({seed for seed, _ in draid_seeds().values()}) == MOST - FEWEST + 1
    with pytest.raises(InputError, match="256 members"):
        draid_orders(256)


def test_recorded_blocks() -> None:
    """Reads that a pool draid2:4d:8c:1s got for two blocks."""
    vdev = Draid(8, 2, 4, 1, 12)
    assert vdev.asize(131072) == 196608
    for offset, sector in ((98304, 32), (26394624, 8592)):
        assert {piece.sector for piece in vdev.reads(offset, 131072)} == {sector}
    writes = vdev.writes(98304, 131072)
    assert [piece.member for piece in writes][:3] == [5, 6, 1]
    assert all((piece.sector, piece.sectors) == (32, 64) for piece in writes)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_slice_fills_its_rows_without_gap_or_overlap(shape: tuple[int, int, int, int]) -> None:
    """The groups of two slices cover every row of the members that are not spare exactly once."""
    vdev = Draid(*shape, 12)
    groups = 2 * vdev.width * vdev.disks // _common(vdev.width, vdev.disks)
    rows: Counter[tuple[int, int]] = Counter()
    for group in range(groups):
        for piece in vdev.writes(group * vdev.group_bytes, vdev.data * 4096):
            assert piece.sector % (ROW_BYTES // 512) == 0
            rows[piece.member, piece.sector] += 1
    assert set(rows.values()) == {1}
    by_row = Counter(sector for _, sector in rows)
    assert set(by_row.values()) == {vdev.disks}
    spares = {vdev.spare(0, number) for number in range(vdev.spares)}
    used = {piece.member for group in range(groups // 2) for piece in vdev.writes(group * vdev.group_bytes, 4096)}
    assert not spares & used


def _common(first: int, second: int) -> int:
    while second:
        first, second = second, first % second
    return first


def test_a_block_at_the_end_of_a_group_goes_on_in_the_next() -> None:
    """The part that does not fit lies at the start of the next group."""
    vdev = Draid(8, 2, 4, 1, 12)
    offset = vdev.group_bytes - 2 * vdev.width * 4096
    pieces = vdev.reads(offset, 131072)
    assert sum(piece.sectors for piece in pieces) == 256
    assert Counter(piece.sectors for piece in pieces) == {16: 4, 48: 4}
    assert pieces[4:] == vdev.reads(vdev.group_bytes, 131072 - 8 * 4096)


def test_short_columns_are_filled_with_zeros() -> None:
    """A block of one unit writes a whole row, and reads one unit unless a member is lost."""
    vdev = Draid(8, 2, 4, 1, 12)
    assert vdev.asize(4096) == 6 * 4096
    assert len(vdev.writes(0, 4096)) == 6
    (read,) = vdev.reads(0, 4096)
    assert (read.kind, read.sectors) == (DATA, 8)
    columns = vdev.scrubs(0, 4096)
    parity = frozenset([columns[0].member])
    # Without a parity the zeros are read too; without a data column, empty or not, also all parities.
    assert [piece.kind for piece in vdev.reads(0, 4096, parity)] == [DATA] * 4
    empty = frozenset([columns[5].member])
    assert Counter(piece.kind for piece in vdev.reads(0, 4096, empty)) == {PARITY: 2, DATA: 3}


def test_a_member_outside_the_group_costs_nothing() -> None:
    """Only members with a column of the block matter."""
    vdev = Draid(8, 2, 4, 1, 12)
    outside = frozenset(range(8)) - {piece.member for piece in vdev.scrubs(0, 131072)}
    assert vdev.reads(0, 131072, outside) == vdev.reads(0, 131072)
