"""What a journal of blocks takes, where it begins, and when a commit says that its oldest part is free again."""

from __future__ import annotations

import pytest

from raidsim.model.core.request import READ, WRITE
from raidsim.model.file_system.block_journal import BlockJournal
from raidsim.tests.model.file_system.test_file_system import BLOCK, MIB, Machine


def superblock_writes(tail: float, synced: bool) -> tuple[int, int]:
    """Writes of the journal's superblock during 600 commits of some blocks each, and the bytes that are in use then."""
    machine = Machine("ext4", 512 * MIB, journal_size=4 * MIB, transaction=MIB, journal_tail=tail)
    system, by = machine.system, machine.program
    file = machine.do(system.create("f", by))
    for number in range(600):
        machine.write(file, (number + 1) * BLOCK)
        machine.do(system.fsync(file, by))
        if synced:
            machine.do(system.sync(by))
    journal = system.journal
    assert isinstance(journal, BlockJournal)
    area = journal.area
    first = min(
        at for _, op, at, _ in machine.device.requests if op == WRITE and area.start < at < area.start + area.size
    )
    assert first == area.start + BLOCK
    written = [at for _, op, at, _ in machine.device.requests if op == WRITE and at == area.start]
    return len(written), area.used


def test_a_commit_frees_a_quarter_of_the_journal() -> None:
    """Protects the superblock of ext4's journal: it is written each time that a quarter of the journal is in its place
    again, so that the journal is never full. Counter-tests: not while the blocks are not in their places, and not on
    ext3, which waits for a full journal.
    """
    writes, used = superblock_writes(0.25, synced=True)
    assert writes >= 3
    assert used < 1.2 * MIB
    assert superblock_writes(0.25, synced=False)[0] < writes
    assert superblock_writes(0.0, synced=True)[0] == 0


@pytest.mark.parametrize("kind", ["ext3", "ext4"])
def test_removing_a_file_changes_the_superblock(kind: str) -> None:
    """Protects what unlink writes: the superblock begins the list of files without a name, and is in memory.
    Counter-test: without that list it is not written.
    """
    for listed in (True, False):
        machine = Machine(kind, orphan_list=listed)
        machine.create("f", BLOCK)
        machine.forget_all()
        machine.do(machine.system.unlink("f", machine.program))
        machine.do(machine.system.settle(machine.program))
        assert (0 in machine.device.addresses(WRITE)) == listed
        assert 0 not in machine.device.addresses(READ)


def test_the_journal_keeps_what_it_has_not_forgotten() -> None:
    """Protects what is read again after drop_caches: a block that is in its place stays until the next commit.
    Counter-test: then it goes, but for the descriptors, which a mount keeps.
    """
    machine = Machine("ext4", 512 * MIB)
    system, by = machine.system, machine.program
    machine.do(system.mkdir("d", by))
    first = machine.do(system.create("d/f", by))
    machine.do(system.sync(by))
    journal = system.journal
    assert isinstance(journal, BlockJournal)
    kept = set(journal.keeps())
    assert {first.item, first.parent.blocks[0]} <= kept
    system.drop_metadata()
    assert system.metadata.in_memory(first.parent.blocks[0])
    machine.create("other", BLOCK)
    machine.do(system.sync(by))
    assert first.parent.blocks[0] not in journal.keeps()
    system.drop_metadata()
    assert not system.metadata.in_memory(first.parent.blocks[0])
    assert system.metadata.in_memory(BLOCK)
