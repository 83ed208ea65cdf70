"""Tests of where a volume's blocks are."""

from __future__ import annotations

from raidsim.model.zfs.allocation.allocator import Allocator, Place
from raidsim.model.zfs.allocation.fill import Fill
from raidsim.model.zfs.map.kinds import vdevs_for
from raidsim.model.zfs.map.pool import PoolMap
from raidsim.model.zfs.records.block_table import BlockTable
from raidsim.model.zfs.records.metadata import indirect_psize

KIB, GIB = 1 << 10, 1 << 30


def test_first_places_are_those_that_the_allocator_gives() -> None:
    """A volume that was written in order lies where the allocator puts its blocks one after the other."""
    for kinds in (("mirror", 2), ("raidz1", 4)), (("raidz2", 6),):
        pool = PoolMap([vdev for kind, members in kinds for vdev in vdevs_for(kind, members, 12)])
        fills = [Fill(GIB, 0)] * len(pool.vdevs)
        allocator, numbers = Allocator(pool, fills), range(len(pool.vdevs))
        table = BlockTable(pool, fills, numbers, [0] * len(pool.vdevs), 128 * KIB)
        for block in range(200):
            assert table.places(block) == allocator.allocate(128 * KIB)


def test_used_space_counts_the_blocks_of_each_vdev() -> None:
    """The space of a volume on each vdev is that of the blocks that lie there."""
    pool = PoolMap([*vdevs_for("mirror", 2, 12), *vdevs_for("raidz1", 4, 12)])
    table = BlockTable(pool, [Fill(GIB, 0)] * 2, (0, 1), [0, 0], 16 * KIB)
    for blocks in (1, 64, 65, 300, 1001):
        found = [0, 0]
        for block in range(blocks):
            vdev = table.places(block)[0].vdev
            found[vdev] += pool.vdevs[vdev].asize(16 * KIB)
        assert table.used(blocks) == found


def test_moved_block_is_at_its_new_place() -> None:
    """A rewritten block is found where it was written, and its old place is given back once."""
    pool = PoolMap(vdevs_for("stripe", 1, 12))
    table = BlockTable(pool, [Fill(GIB, 0)], (0,), [0], 16 * KIB)
    new = [Place(0, 512 * KIB, 16 * KIB)]
    assert table.move(3, new) == [Place(0, 48 * KIB, 16 * KIB)]
    assert table.places(3) == new
    assert table.places(4) == [Place(0, 64 * KIB, 16 * KIB)]


def test_indirect_block_of_512_pointers() -> None:
    """512 pointers compress to 32 KiB, as recorded, and one to the smallest block."""
    assert indirect_psize(512) == 32 * KIB
    assert indirect_psize(1) == 4 * KIB
