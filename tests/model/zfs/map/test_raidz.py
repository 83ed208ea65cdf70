"""Where raidz puts a block: columns, the swap of raidz1, padding, and what is read when members are lost."""

from __future__ import annotations

from itertools import combinations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.zfs.map.raidz import SWAP, Raidz
from raidsim.model.zfs.map.vdev import DATA, PADDING, PARITY, joined

KIB = 1024
SIZES = (512, 4096, 8192, 12288, 16384, 20480, 69632, 131072, 1048576)
SHAPES = [(members, parity) for parity in (1, 2, 3) for members in range(parity + 1, 10)]


def test_asize_of_recorded_blocks() -> None:
    """Parity for each row of data, rounded up to p + 1 units: sizes as zdb prints them for recorded pools."""
    assert Raidz(3, 1, 12).asize(8 * KIB) == 16 * KIB
    assert Raidz(3, 1, 12).asize(128 * KIB) == 192 * KIB
    assert Raidz(4, 1, 12).asize(128 * KIB) == 176 * KIB
    assert Raidz(4, 1, 12).asize(33 * KIB) == 48 * KIB
    assert Raidz(6, 2, 12).asize(1024 * KIB) == 1536 * KIB
    # 512-byte units need less parity for a small block.
    assert Raidz(6, 2, 9).asize(4096) == 12 * 512


def test_columns_of_a_recorded_block() -> None:
    """A 128 KiB record on raidz1 of 4 writes four columns of 44 KiB, one of them with padding, and reads three."""
    vdev = Raidz(4, 1, 12)
    writes = joined(vdev.writes(0, 128 * KIB))
    assert writes == [(member, 0, 88) for member in range(4)]
    assert sorted(piece.sectors for piece in vdev.reads(0, 128 * KIB)) == [80, 88, 88]


@pytest.mark.parametrize(("members", "parity"), SHAPES)
def test_a_block_fills_its_asize_exactly(members: int, parity: int) -> None:
    """Columns and padding are the units from the block's first to its last, each once: blocks can lie side by side."""
    vdev = Raidz(members, parity, 12)
    for size in SIZES:
        for offset in (0, 4096 * 7, SWAP, SWAP + 4096 * 5):
            units = sorted(
                (piece.sector // 8 + row) * members + piece.member
                for piece in vdev.writes(offset, size)
                for row in range(piece.sectors // 8)
            )
            first = offset >> 12
            assert units == list(range(first, first + vdev.asize(size) // 4096)), (size, offset)


@pytest.mark.parametrize(("members", "parity"), SHAPES)
def test_no_member_has_two_columns_of_a_block(members: int, parity: int) -> None:
    """A lost member costs a block one column at most."""
    for size in SIZES:
        columns = [piece.member for piece in Raidz(members, parity, 12).scrubs(SWAP + 4096 * 3, size)]
        assert len(set(columns)) == len(columns)


def test_raidz1_swaps_parity_with_data_in_every_other_mebibyte() -> None:
    """Parity moves to the second column there; with two or three parities it does not."""
    single, double = Raidz(3, 1, 12), Raidz(4, 2, 12)
    here, swapped = single.scrubs(0, 8 * KIB), single.scrubs(SWAP, 8 * KIB)
    assert [(piece.member, piece.kind) for piece in here] == [(0, PARITY), (1, DATA), (2, DATA)]
    first = (SWAP >> 12) % 3
    assert [(piece.member, piece.kind) for piece in swapped] == [
        ((first + 1) % 3, PARITY),
        (first, DATA),
        ((first + 2) % 3, DATA),
    ]
    first = (SWAP >> 12) % 4
    assert double.scrubs(SWAP, 8 * KIB)[0].member == first


def test_padding_stays_where_the_swap_moved_the_columns() -> None:
    """An 8 KiB block on raidz1 of 3 has its padding behind the member of column 0 before the swap, as recorded."""
    pieces = Raidz(3, 1, 12).writes(SWAP, 8 * KIB)
    padding = [piece for piece in pieces if piece.kind == PADDING]
    assert [(piece.member, piece.sector) for piece in padding] == [((SWAP >> 12) % 3, (SWAP >> 12) // 3 * 8 + 8)]


def test_padding_on_a_member_of_its_own_is_not_written() -> None:
    """A 4 KiB block on raidz2 of 6 takes three units, and an 8 KiB block six: two of these follow nothing."""
    vdev = Raidz(6, 2, 12)
    assert vdev.asize(8 * KIB) == 6 * 4096
    assert len(joined(vdev.writes(0, 8 * KIB))) == 4


@pytest.mark.parametrize(("members", "parity"), [(3, 1), (4, 1), (4, 2), (6, 2), (7, 3)])
def test_degraded_reads(members: int, parity: int) -> None:
    """A lost data column costs all surviving columns, every parity among them; lost parity costs nothing."""
    vdev = Raidz(members, parity, 12)
    for size in SIZES:
        for offset in (0, 4096 * 9, SWAP):
            data = vdev.reads(offset, size)
            for count in range(1, parity + 1):
                for lost in map(frozenset, combinations(range(members), count)):
                    reads = vdev.reads(offset, size, lost)
                    if any(piece.member in lost for piece in data):
                        assert reads == [piece for piece in vdev.scrubs(offset, size) if piece.member not in lost]
                    else:
                        assert reads == data
                    assert all(piece.member not in lost for piece in vdev.writes(offset, size, lost))


def test_too_many_lost_members_are_refused() -> None:
    """A block with more columns lost than parities cannot be read."""
    with pytest.raises(InputError, match="2 of 4 members lost"):
        Raidz(4, 1, 12).reads(0, 128 * KIB, frozenset((1, 2)))
