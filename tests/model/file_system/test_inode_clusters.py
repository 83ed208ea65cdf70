"""Inodes read by the cluster, and maps that the groups of a run at a scale share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from raidsim.model.core.request import READ
from raidsim.model.file_system import file_system_settings
from raidsim.model.file_system.groups import Groups
from raidsim.tests.model.file_system.test_file_system import BLOCK, GIB, KIB, Machine


def inode_reads(kind: str, files: int, **changes: int) -> list[tuple[int, int]]:
    """(address, bytes) of what is read for the inodes of that many files of a directory, after a mount."""
    machine = Machine(kind, **changes)
    machine.directory("d")
    for number in range(files):
        machine.create(f"d/{number}")
    machine.forget_all()
    machine.do(machine.system.stat("d/0", machine.program))
    of_files = {machine.system.file(f"d/{number}").inode for number in range(files)}
    for number in range(files):
        machine.do(machine.system.stat(f"d/{number}", machine.program))
    return [
        (address, size)
        for _, op, address, size in machine.device.requests
        if op == READ and any(address <= inode < address + size for inode in of_files)
    ]


@pytest.mark.parametrize(("kind", "together", "each"), [("xfs", 8 * KIB, 32), ("xfs-v5", 16 * KIB, 32)])
def test_inodes_are_read_by_the_cluster(kind: str, together: int, each: int) -> None:
    """Protects reading many files of XFS: one read brings 32 inodes. Counter-test: without clusters it is a block."""
    files = 2 * each - 4  # root and directory have the first inodes of their groups
    clustered, single = inode_reads(kind, files), inode_reads(kind, files, inode_cluster=0)
    assert {size for _, size in clustered} == {together}
    assert {size for _, size in single} == {BLOCK}
    assert len(single) == len(clustered) * together // BLOCK
    assert all(address - clustered[0][0] in (0, together) for address, _ in clustered)


def maps(kind: str, scale: int, numbers: Sequence[int]) -> list[int]:
    """How many different blocks say what is free in these groups: of space, and of inodes."""
    groups = Groups(file_system_settings(kind), 64 * GIB, np.random.default_rng(1), 0.0, scale)
    return [len({of(number) for number in numbers}) for of in (groups.space_map, groups.inode_map)]


def test_maps_are_as_few_for_the_memory_at_a_scale() -> None:
    """Protects runs at a scale from maps that do not fit into the smaller memory: where the number of groups does not
    shrink with the file system, eight of them share. Counter-tests: the whole run, and ext3, whose groups get fewer.
    """
    assert maps("jfs", 8, range(128)) == [16, 16]
    assert maps("xfs", 8, range(16)) == [2, 2]
    assert maps("jfs", 1, range(128)) == [128, 128]
    assert maps("ext3", 8, range(128)) == [128, 128]
