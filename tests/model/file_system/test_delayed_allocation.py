"""Bytes that get their place at write-back: files in one piece, and files that never reach the disk."""

from __future__ import annotations

import pytest

from raidsim.model.core.request import WRITE
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.tests.model.file_system.test_file_system import KIB, MIB, Machine, runs


def pieces(kind: str, files: int = 4) -> int:
    """In how many runs on the disk files lie that grow by 64 KiB in turn."""
    machine = Machine(kind, commit_interval=1e6)
    machine.directory("d")
    system, by = machine.system, machine.program
    made = [machine.do(system.create(f"d/{i}", by)) for i in range(files)]
    for end in range(64 * KIB, 4 * MIB + 1, 64 * KIB):
        for file in made:
            machine.write(file, end)
    for file in made:
        machine.do(machine.cache.write_back(file, by.issuer))
    return sum(len(runs(file)) for file in made)


@pytest.mark.parametrize("kind", ["ext4", "xfs-v5"])
def test_files_that_grow_side_by_side_are_whole(kind: str) -> None:
    """Protects delayed allocation: each of four files that grow together lies in one piece. Counter-test: ext3, which
    gives a place at once and sets nothing aside, mixes them.
    """
    assert pieces(kind) == 4
    assert pieces("ext3") > 50


def written(kind: str, seconds: float) -> int:
    """Bytes written in the area of data for files of 64 KiB that live so long."""
    machine = Machine(kind)
    machine.cache.use(PageCacheSettings(expire=30.0))
    machine.directory("d")
    data = 0
    system, by = machine.system, machine.program
    for number in range(5):
        file = machine.create(f"d/{number}", 64 * KIB)
        machine.engine.run(until=machine.engine.now + seconds)
        data += sum(size for _, _, size in file.extents.pieces(0, file.size))
        machine.do(system.unlink(f"d/{number}", by))
    return data if any(op == WRITE for _, op, _, _ in machine.device.requests) else 0


def test_a_file_that_lives_for_seconds_is_never_written() -> None:
    """Protects temporary files: one that is removed after twelve seconds got no place on ext4. Counter-tests: on ext3
    it has one, and its data went out with the commit after five seconds; on ext4 what lives longer than dirty pages
    may get old is written.
    """
    assert written("ext4", 12.0) == 0
    assert written("ext3", 12.0) == 5 * 64 * KIB
    assert written("ext4", 45.0) == 5 * 64 * KIB
