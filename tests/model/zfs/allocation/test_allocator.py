"""Tests of where blocks get their space."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.zfs.allocation.allocator import Allocator, aliquot
from raidsim.model.zfs.allocation.fill import Fill
from raidsim.model.zfs.map.kinds import vdevs_for
from raidsim.model.zfs.map.pool import LOG, NORMAL, SPECIAL, PoolMap
from raidsim.model.zfs.map.vdev import Vdev

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def allocator(*vdevs: Vdev, size: int = GIB, used: int = 0, roles: tuple[str, ...] = ()) -> Allocator:
    """An allocator over vdevs of one size."""
    return Allocator(PoolMap(vdevs, roles), [Fill(size, used)] * len(vdevs))


def test_neighbors_are_adjacent_and_vdevs_take_turns_of_1_mib() -> None:
    """Two mirrors get 1 MiB each in turn, as recorded, and the blocks of a turn follow each other."""
    made = allocator(*vdevs_for("mirror", 2, 12), *vdevs_for("mirror", 2, 12))
    places = [made.allocate(128 * KIB)[0] for _ in range(24)]
    assert [place.vdev for place in places] == [0] * 8 + [1] * 8 + [0] * 8
    assert [place.offset for place in places if place.vdev == 0] == [at * 128 * KIB for at in range(16)]


def test_turn_of_a_raidz_is_1_mib_for_each_data_member() -> None:
    """The turn of a vdev grows with its data members; a mirror has one."""
    assert aliquot(vdevs_for("raidz2", 6, 12)[0]) == 4 * MIB
    assert aliquot(vdevs_for("mirror", 3, 12)[0]) == MIB


def test_copies_go_to_different_metaslabs() -> None:
    """The copies of a metadata block are apart: raidz1 of four 640 MiB members has them 256 MiB apart, as recorded."""
    made = allocator(*vdevs_for("raidz1", 4, 12), size=2560 * MIB)
    places = made.allocate(4 * KIB, NORMAL, 3)
    assert [place.offset for place in places] == [0, 256 * MIB, 512 * MIB]


def test_log_blocks_go_to_the_log_device_or_a_metaslab_of_their_own() -> None:
    """With a log device its vdev takes log blocks; without one a large vdev keeps a metaslab for them."""
    log = allocator(*vdevs_for("stripe", 2, 12), roles=(NORMAL, LOG))
    assert log.allocate_log(8 * KIB).vdev == 1
    large = allocator(*vdevs_for("stripe", 1, 12), size=64 * GIB)
    assert large.allocate(8 * KIB)[0].offset == 0
    assert large.allocate_log(8 * KIB).offset >= 512 * MIB
    small = allocator(*vdevs_for("stripe", 1, 12))
    assert small.allocate(8 * KIB)[0].offset == 0
    assert small.allocate_log(8 * KIB).offset == 8 * KIB


def test_freed_space_is_used_again_two_groups_later() -> None:
    """A freed block is not overwritten before two transaction groups are on disk."""
    made = allocator(*vdevs_for("stripe", 1, 12), size=64 * MIB)
    places = [made.allocate(MIB)[0] for _ in range(64)]
    made.free(places[5])
    for _ in range(2):
        with pytest.raises(ModelError, match="full"):
            made.allocate(MIB)
        made.group_done()
    made.group_done()
    assert made.allocate(MIB) == [places[5]]


def test_full_special_vdev_spills_to_the_normal_ones() -> None:
    """Metadata go to the normal vdevs once the special one is full."""
    made = allocator(*vdevs_for("stripe", 2, 12), size=16 * MIB, roles=(NORMAL, SPECIAL))
    found = [made.allocate(MIB, SPECIAL)[0].vdev for _ in range(20)]
    assert found == [1] * 16 + [0] * 4


def test_gang_block_where_no_segment_is_large_enough() -> None:
    """A block that fits nowhere in one piece becomes a header and smaller parts, which hold all of it."""
    pool = PoolMap(vdevs_for("stripe", 1, 12))
    made = Allocator(pool, [Fill(GIB, GIB // 2, fragmentation=0.8)])
    header, *parts = made.allocate(MIB)
    assert header.psize == 512
    assert len(parts) > 3
    assert sum(part.psize for part in parts if part.psize > 512) == MIB


@pytest.mark.parametrize("fragmentation", [0.0, 0.3, 0.6])
def test_used_and_free_space_do_not_overlap(fragmentation: float) -> None:
    """No block that was there is in free space, whatever the fragmentation."""
    fill = Fill(GIB, GIB // 4, fragmentation)
    free = fill.free(0, GIB)
    for number in range(0, GIB // 4 // (128 * KIB), 7):
        start = fill.place(number * 128 * KIB, 128 * KIB)
        assert all(end <= start or first >= start + 128 * KIB for first, end in free)


@pytest.mark.parametrize("kind", ["draid1:3d:7c:1s", "draid2:4d:8c:1s", "raidz2", "mirror"])
@pytest.mark.parametrize("fragmentation", [0.0, 0.4])
def test_blocks_lie_where_their_vdev_lets_them(kind: str, fragmentation: float) -> None:
    """A block of dRAID is whole rows, in each metaslab: one that began within a row had a piece without a sector."""
    vdevs = vdevs_for(kind, int(kind.split(":")[2][:-1]) if ":" in kind else 8, 12)
    unit = vdevs[0].place_bytes
    fill = Fill(40 * GIB, 20 * GIB // unit * unit, fragmentation, unit)
    made = Allocator(PoolMap(vdevs, [NORMAL]), [fill])
    places = [place for _ in range(300) for place in made.allocate(16 * KIB, NORMAL, 3)]
    assert len({place.offset // (512 * MIB) for place in places}) >= 3
    assert not [place for place in places if place.offset % unit]
    for place in places:
        assert all(piece.sectors for piece in vdevs[0].writes(place.offset, place.psize))


def test_a_large_fragmented_vdev_holds_its_blocks() -> None:
    """The last used block of a vdev of 7 TB with free segments of 4 MiB lies inside it; products exceed 64 bits."""
    size, used, block = 7 * 10**12, 3 * 10**12, 32 * KIB
    fill = Fill(size, used, 0.2)
    places = [fill.place(offset, block) for offset in range(0, used // block * block, used // 1000 // block * block)]
    assert places == sorted(places)
    assert places[-1] + block <= size
