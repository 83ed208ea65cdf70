"""What a checkpoint of XFS holds, what lies in inodes and headers of groups, and what mkfs makes of an array."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.file_system import file_system_settings, on_array
from raidsim.model.file_system.geometry import group_count, group_size, journal_bytes, journal_group
from raidsim.model.layouts import Layout
from raidsim.model.layouts.parity import ParityLayout
from raidsim.tests.model.file_system.test_file_system import BLOCK, GIB, KIB, MIB, Machine


def records(files: int, **changes: Any) -> list[int]:
    """Bytes of the log that each create with fsync writes, in a directory of its own."""
    machine = Machine("xfs-v5", **changes)
    machine.directory("d")
    area = machine.system.journal.area  # type: ignore[attr-defined]
    sizes = []
    for number in range(files):
        file = machine.create(f"d/{number:07d}", BLOCK)
        machine.do(
            machine.system.settle(machine.program) if not number else machine.system.fsync(file, machine.program)
        )
        machine.device.requests, written = [], machine.device.requests
        sizes.append(sum(size for _, op, at, size in written if op == WRITE and 0 <= at - area.start < area.size))
    return sizes[1:]


def test_a_directory_costs_the_log_more_with_each_name() -> None:
    """Protects the size of a checkpoint: a buffer is logged with all that changed since it was written, so records
    grow by 32 bytes a name once names are in a block. Counter-test: while names fit into the inode they do not grow.
    """
    sizes = records(90)
    assert len(set(sizes[:18])) == 1
    assert sizes[-1] - sizes[24] == pytest.approx((len(sizes) - 25) * 32, abs=512)


@pytest.mark.parametrize(("kind", "kept"), [("xfs-v5", "a quarter"), ("xfs", "the buffers")])
def test_a_log_keeps_room_free(kind: str, kept: str) -> None:
    """Protects the moment at which XFS writes metadata back to free its log: with checkpoints when less than a quarter
    is free (xlog_grant_push_threshold), before them when its buffers do not fit any more.
    """
    system = Machine(kind).system
    area, settings = system.journal.area, file_system_settings(kind)  # type: ignore[attr-defined]
    free = area.size // 4 if kept == "a quarter" else settings.log_buffer * settings.log_buffers
    for used, full in ((0, False), (area.size - free, False), (area.size - free + 1, True), (area.size, True)):
        area.used = used
        assert system.journal.full == full


def test_names_of_a_small_directory_lie_in_its_inode() -> None:
    """Protects small directories of XFS: a name is found without a read beside the inode's. Counter-test: without room
    in the inode there is a block to read.
    """

    def reads(**changes: Any) -> int:
        machine = Machine("xfs-v5", **changes)
        machine.directory("d")
        machine.create("d/f")
        machine.forget_all()
        machine.do(machine.system.stat("d/f", machine.program))
        return len(machine.device.addresses(READ))

    assert reads() == 1
    assert reads(inline_directory=0) > 1


def test_a_directory_leaves_its_inode_and_comes_to_nothing() -> None:
    """Protects names that move out of the inode: all are found, and all can be removed."""
    machine = Machine("xfs-v5")
    directory = machine.directory("d")
    for number in range(40):
        machine.create(f"d/{number}")
        assert directory.inline == (number < 34), number
    for number in range(40):
        machine.do(machine.system.unlink(f"d/{number}", machine.program))
    assert directory.entries == 0
    assert directory.rooms == [BLOCK]


def test_a_header_is_read_in_the_parts_that_are_needed() -> None:
    """Protects the first use of a group after a mount: header and trees of inodes for a name, of space for its bytes;
    what the mount has read is not read again. Counter-test: with one map for a group it is one read each.
    """
    machine = Machine("xfs-v5")
    machine.create("f", BLOCK)
    machine.forget_all()
    machine.do(machine.system.create("g", machine.program))
    sizes = [size for _, op, _, size in machine.device.requests if op == READ]
    assert sizes == [16 * KIB, 512, BLOCK, BLOCK]
    machine.device.requests.clear()
    machine.create("h", BLOCK)
    machine.do(machine.system.sync(machine.program))
    sizes = [size for _, op, _, size in machine.device.requests if op == READ]
    assert sizes == [512, 512, BLOCK, BLOCK]


def test_inodes_ahead_of_the_log_stay_in_memory() -> None:
    """Protects drop_caches on XFS: an inode that is only in the log cannot go. Counter-test: one in its place goes."""

    def reads(settled: bool) -> int:
        machine = Machine("xfs-v5")
        machine.create("f")
        machine.do(machine.system.journal.commit())
        if settled:
            machine.do(machine.system.settle(machine.program))
        machine.system.drop_inodes()
        machine.pages.drop_clean()
        machine.device.requests.clear()
        machine.do(machine.system.stat("f", machine.program))
        return len(machine.device.addresses(READ))

    assert reads(settled=False) == 0
    assert reads(settled=True) == 1


def striped(members: int, chunk: int, member: int) -> Layout:
    """A RAID 5."""
    return ParityLayout.made("raid5", [member] * members, chunk, "left-symmetric", 1)


@pytest.mark.parametrize(("member", "members", "count"), [(MIB * 1536, 4, 8), (40 * GIB, 4, 16), (500 * GIB, 4, 32)])
def test_mkfs_makes_more_groups_on_an_array(member: int, members: int, count: int) -> None:
    """Protects agcount and agsize of mkfs.xfs: more groups on an array, of whole stripe units, and none that is a
    multiple of the stripe width. Counter-test: four groups on a drive.
    """
    layout, plain = striped(members, 64 * KIB, member), file_system_settings("xfs-v5")
    made = on_array(plain, layout)
    assert (made.stripe_unit, made.stripe_width) == (64 * KIB, 192 * KIB)
    assert group_count(made, layout.capacity) == count
    size = group_size(made, layout.capacity)
    assert size % made.stripe_unit == 0
    assert size % made.stripe_width != 0
    assert group_count(plain, layout.capacity) == 4


@pytest.mark.parametrize(
    ("blocks", "journal", "where"), [(393216, 8192, 6), (1179648, 16384, 17), (1572864, 16384, 17), (786432, 16384, 11)]
)
def test_mke2fs_puts_the_journal_into_the_emptiest_group_around_the_middle(
    blocks: int, journal: int, where: int
) -> None:
    """Protects size and place of ext4's journal, as `dumpe2fs` showed them on four devices of so many blocks."""
    ext4 = file_system_settings("ext4")
    assert journal_bytes(ext4, blocks * BLOCK) == journal * BLOCK
    assert journal_group(ext4, blocks * BLOCK) == where


def test_a_journal_of_ext4_grows_with_the_device() -> None:
    """Protects the largest one: 1 GiB from 128 GiB on."""
    assert journal_bytes(file_system_settings("ext4"), 4096 * GIB) == GIB


def test_the_first_file_of_ext4_is_in_the_second_block_group() -> None:
    """Protects the place of data beside flexible groups' metadata. Counter-test: on a device of one block group."""
    assert next(Machine("ext4").create("f", MIB).extents.runs(), (0, 0))[0] == 0  # not before it is written
    for capacity, second in ((8 * GIB, True), (100 * MIB, False)):
        machine = Machine("ext4", capacity)
        file = machine.create("f", MIB)
        machine.do(machine.system.sync(machine.program))
        assert (next(file.extents.runs())[0] >= 128 * MIB) == second


def test_a_directory_of_several_blocks_has_an_index() -> None:
    """Protects ext4's directories: a lookup reads the index and a leaf. Counter-test: without an index, the leaf."""

    def reads(**changes: Any) -> int:
        machine = Machine("ext4", **changes)
        machine.directory("d")
        for number in range(400):
            machine.create(f"d/{number}")
        machine.forget_all()
        directory = machine.system.place_directory("d")
        names = {directory.index, *directory.blocks}
        machine.do(machine.system.stat("d/399", machine.program))
        return len(names.intersection(machine.device.addresses(READ)))

    assert reads() == 2
    assert reads(index_fill=0.0) == 1


def test_unknown_names_are_refused() -> None:
    """Protects the catalogue from a name that is not in it."""
    with pytest.raises(InputError):
        file_system_settings("btrfs")
