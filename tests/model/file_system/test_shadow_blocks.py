"""A metadata block that is being written to the journal itself: who wants to change it waits until that is over.

The device takes 1 ms for every request. A commit without data writes to the journal in its first ms, and in its second
the block that makes it count; ordered data take a ms before.
"""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.tests.model.file_system.test_file_system import BLOCK, KIB, SERVICE_S, Machine, all_of

FILE, BESIDE, ELSEWHERE = "a/f", "a/g", "b"


class Committing:
    """A file system whose journal has just begun to commit that the inode of a file has changed.

    Parameters
    ----------
    kind, changes
        Of the file system.
    grown
        Bytes of another file that are to be on the device before.
    """

    def __init__(self, kind: str = "ext3", grown: int = 0, **changes: Any) -> None:
        self.machine = machine = Machine(kind, directories="rotor", **changes)
        machine.directory("a")
        machine.directory(ELSEWHERE)
        machine.create(FILE)
        machine.create(BESIDE)
        machine.do(machine.system.sync(machine.program))
        if grown:
            machine.write(machine.system.file(BESIDE), grown)
        assert self.change(FILE) == 0.0
        self.began = machine.engine.now
        self.commit = machine.engine.spawn(machine.system.journal.commit())

    def wait(self, services: float) -> None:
        """Until so many times the device's 1 ms are over since the commit began."""
        self.machine.engine.run(until=self.began + services * SERVICE_S)

    def change(self, *paths: str, owed: float = 0.0) -> float:
        """Change inodes in one operation, owing so much CPU time; how long it takes, both in times of the device."""
        machine, system = self.machine, self.machine.system
        nodes = [system.place_directory(path) if path == ELSEWHERE else system.file(path) for path in paths]
        began, machine.program.owed_s = machine.engine.now, owed * SERVICE_S
        changed = system.metadata.change([node.inode for node in nodes], (), machine.program)
        machine.engine.run(machine.engine.spawn(all_of(changed)))
        return (machine.engine.now - began) / SERVICE_S


@pytest.mark.parametrize("at", [0.25, 0.75])
def test_who_changes_a_block_on_its_way_to_the_journal_waits(at: float) -> None:
    """Protects the waits behind a commit: they last as long as the write to the journal does. Counter-test: where
    blocks are copied nobody waits.
    """
    for copies, expected in ((False, 1.0 - at), (True, 0.0)):
        committing = Committing(journal_copies=copies)
        committing.wait(at)
        assert committing.change(FILE) == pytest.approx(expected)


@pytest.mark.parametrize(("kind", "waits"), [("ext3", True), ("ext4", True), ("reiserfs", False)])
def test_kinds_copy_or_do_not(kind: str, waits: bool) -> None:
    """Protects the data: jbd writes the blocks themselves, reiserfs copies of them."""
    committing = Committing(kind)
    committing.wait(0.5)
    assert bool(committing.change(FILE)) == waits


@pytest.mark.parametrize("kind", ["ext3", "ext4"])
def test_nobody_waits_for_the_block_that_makes_a_commit_count(kind: str) -> None:
    """Protects the end of the wait: what is in the journal may be changed, though the commit goes on. Counter-test:
    1 ms before, it is waited for.
    """
    for at, expected in ((0.5, 0.5), (1.5, 0.0)):
        committing = Committing(kind)
        committing.wait(at)
        assert committing.change(FILE) == pytest.approx(expected)
        assert committing.commit.is_alive
        committing.wait(2.5)
        assert not committing.commit.is_alive


def test_a_block_that_the_next_transaction_has_taken_is_not_waited_for() -> None:
    """Protects who changes an inode again and again: taken while data are written, it may be changed during the write
    to the journal, where what it was before is written. Counter-test: who comes for the first time then, waits.
    """
    for early, expected in ((True, 0.0), (False, 0.5)):
        committing = Committing(grown=64 * KIB)
        committing.wait(0.5)
        if early:
            assert committing.change(FILE) == 0.0
        committing.wait(1.5)
        assert committing.change(FILE) == pytest.approx(expected)


def test_who_has_waited_once_does_not_wait_again() -> None:
    """Protects the next transaction: it has the block when the wait is over, and writes it with its own commit."""
    committing = Committing()
    machine = committing.machine
    committing.wait(0.5)
    committing.change(FILE)
    assert committing.change(FILE) == 0.0
    committing.wait(2.5)
    machine.device.requests.clear()
    machine.do(machine.system.journal.commit())
    assert [size for _, _, _, size in machine.device.requests] == [BLOCK] * 3
    machine.device.requests.clear()
    assert not machine.do(machine.system.journal.commit())


def test_other_blocks_are_not_waited_for() -> None:
    """Protects operations elsewhere: only who needs a block of the transaction waits, also if he needs others too."""
    for paths, expected in (((ELSEWHERE,), 0.0), ((BESIDE,), 0.5), ((ELSEWHERE, FILE), 0.5)):
        committing = Committing()
        committing.wait(0.5)
        assert committing.change(*paths) == pytest.approx(expected), paths


def test_who_waits_pays_meanwhile_what_he_owes() -> None:
    """Protects CPU time from being spent after the wait: the longer of the two counts."""
    for owed, expected in ((0.25, 0.5), (0.75, 0.75), (3.0, 3.0)):
        committing = Committing()
        committing.wait(0.5)
        assert committing.change(FILE, owed=owed) == pytest.approx(expected)
        assert committing.machine.program.owed_s == 0.0


def test_a_reader_waits_behind_a_commit_when_a_second_is_over() -> None:
    """Protects the pauses of who reads for long beside a writer. Counter-tests: within the second, and where reading
    changes no inode, the commit is nothing to him.
    """

    def read(second_is_over: bool, **changes: Any) -> float:
        committing = Committing(grown=4 * KIB, **changes)
        machine, by = committing.machine, committing.machine.program
        file, cache = machine.system.file(BESIDE), machine.cache
        committing.wait(1.5)
        began = machine.engine.now
        file.atime_due_s = began if second_is_over else began + 1.0
        machine.do(cache.read(file, cache.open(file), 0, 4 * KIB, by, 0.0, mapper=machine.system))
        return (machine.engine.now - began) / SERVICE_S

    assert read(True) == pytest.approx(0.5)
    assert read(True, journal_copies=True) == 0.0
    assert read(True, atime="never") == 0.0
    assert read(False) == 0.0
