"""The times of a file are whole seconds: who reads or writes over one for long changes its inode once in each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.core.request import WRITE
from raidsim.model.core.signal import Waits
from raidsim.model.file_system import File, FileSystem
from raidsim.model.file_system.block_journal import BlockJournal
from raidsim.model.file_system.metadata import Metadata
from raidsim.model.file_system.record_journal import RecordJournal
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.process.operations import execute
from raidsim.model.process.process import Mount, Process
from raidsim.model.programs.operation import Kind, Operation, transfer
from raidsim.model.tasks.cpu import Account, Cpu
from raidsim.model.tasks.prices import FREE, NotedPrices
from raidsim.model.tasks.writer_turns import WriterTurns
from raidsim.tests.model.file_system.test_file_system import BLOCK, MIB, Machine

SIZE = 48 * MIB
"""Written in twelve seconds it is looked at every 63 ms."""
STARTS_S = 100.25
NAME = "f"


def machine_with_file(kind: str, **changes: Any) -> Machine:
    """With a file on the device, a quarter of a second after a second has begun; nothing is in memory.

    A processor is free for the journal's thread.
    """
    machine = Machine(kind, **changes)
    machine.host.cpu = Cpu(machine.engine, 3)
    machine.create(NAME, SIZE)
    machine.forget_all()
    machine.engine.run(until=STARTS_S)
    machine.device.requests.clear()
    return machine


def commits(machine: Machine) -> int:
    """Of the journal so far: its blocks are written at one time and the commit block at another, or one log buffer."""
    journal = machine.system.journal
    assert isinstance(journal, BlockJournal | RecordJournal)
    area = journal.area
    end = area.start + area.size
    written = {at for at, op, offset, _ in machine.device.requests if op == WRITE and area.start <= offset < end}
    return len(written) // (2 if isinstance(journal, BlockJournal) else 1)


def commits_while_read(machine: Machine, seconds: float, size: int = SIZE, mapped: bool = True) -> int:
    """How often the journal commits while a program that computes reads so much of the file for so long."""
    system, cache, by = machine.system, machine.cache, machine.program
    file: File = machine.do(system.open(NAME, by))
    before = commits(machine)
    mapper = system if mapped else None
    machine.do(cache.read(file, cache.open(file), 0, size, by, seconds / size, mapper=mapper))
    return commits(machine) - before


def run(machine: Machine, *programs: Iterable[Operation]) -> None:
    """A process for each program, to their ends."""
    mounts = {"/": Mount(machine.system, machine.cache)}
    processes = [Process(machine.engine, machine.host, mounts, "/", 1 + number) for number in range(len(programs))]
    begun = [machine.engine.spawn(execute(process, each)) for process, each in zip(processes, programs, strict=True)]
    machine.engine.run(machine.engine.all_of(begun))


def written_over(name: str, size: int = SIZE) -> Iterable[Operation]:
    """A program that writes over a file, in calls of 4 KiB."""
    yield Operation(Kind.OPEN, name, flags="O_WRONLY")
    yield transfer(Kind.WRITE, name, 0, size, BLOCK)
    yield Operation(Kind.CLOSE, name)


def commits_while_written_over(machine: Machine, seconds: float) -> int:
    """How often the journal commits while a program takes so long to write over the file."""
    machine.host.prices = NotedPrices(replace(FREE, file_write_s=seconds * BLOCK / SIZE))
    before = commits(machine)
    run(machine, written_over(NAME))
    return commits(machine) - before


def data_on_device(machine: Machine, file: File) -> int:
    """Bytes of the file that have been written to the device."""
    places = [(address, address + size) for _, address, size in file.extents.pieces(0, file.size)]
    sent = [(address, size) for _, op, address, size in machine.device.requests if op == WRITE]
    return sum(size for at, size in sent if any(start <= at < end for start, end in places))


def test_a_long_read_commits_every_five_seconds() -> None:
    """Protects the commits beside who reads from ext3 for twelve seconds: two, as one who writes makes them.
    Counter-tests: none if reads change no inode, or if nobody tells the file system that there is a read.
    """
    assert commits_while_read(machine_with_file("ext3"), 12.0) == 2
    assert commits_while_read(machine_with_file("ext3", atime="never"), 12.0) == 0
    assert commits_while_read(machine_with_file("ext3"), 12.0, mapped=False) == 0


@pytest.mark.parametrize(("kind", "expected"), [("ext3", 13), ("reiserfs", 13), ("ext4", 1), ("xfs", 0), ("xfs-v5", 1)])
def test_a_read_changes_the_inode_once_a_second(kind: str, expected: int) -> None:
    """Protects the resolution: a journal that is committed at once has a commit for the first byte and for every second
    that begins during the read, where the access time goes to the journal; with relatime (ext4 and XFS of today) only
    the first read after a write changes it. Counter-test: within a second there is one.
    """
    assert commits_while_read(machine_with_file(kind, commit_interval=0.05), 12.0) == expected
    assert commits_while_read(machine_with_file(kind, commit_interval=0.05), 0.5, MIB) == min(expected, 1)


def test_two_readers_change_the_inode_as_often_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects files that several read: the time that one of them has noted is there for the other too, whoever opens
    the file again meanwhile.
    """
    touched: list[int] = []
    touch = Metadata.touch

    def counted(self: Metadata, address: int, by: Account) -> Waits:
        touched.append(address)
        return touch(self, address, by)

    monkeypatch.setattr(Metadata, "touch", counted)
    machine = machine_with_file("ext3")
    machine.host.prices = NotedPrices(replace(FREE, file_read_s=12.0 * BLOCK / SIZE))

    def program() -> Iterable[Operation]:
        yield Operation(Kind.OPEN, NAME, flags="O_RDONLY")
        yield transfer(Kind.READ, NAME, 0, SIZE, BLOCK)

    def opens() -> Iterable[Operation]:
        for _ in range(10):
            yield Operation(Kind.OPEN, NAME, flags="O_RDONLY")
            yield Operation(Kind.SLEEP, size=1)
            yield Operation(Kind.CLOSE, NAME)

    run(machine, program(), program(), opens())
    assert len(touched) == 13


def test_past_the_journal_the_inode_is_dirty() -> None:
    """Protects XFS of 2.4 and 2.6: a read leaves the inode to write-back. Counter-test: not with noatime."""
    for changes, expected in (({}, BLOCK), ({"atime": "never"}, 0)):
        machine = machine_with_file("xfs", **changes)
        commits_while_read(machine, 1.0, MIB)
        assert machine.dirty.dirty_bytes == expected


@pytest.mark.parametrize(
    ("kind", "atime", "expected"),
    [
        ("ext3", "logged", 13),
        ("ext3", "never", 13),
        ("reiserfs", "logged", 13),
        ("ext4", "never", 13),
        ("xfs", "unlogged", 0),
        ("xfs", "never", 0),
    ],
)
def test_writing_over_a_file_changes_the_inode_once_a_second(kind: str, atime: str, expected: int) -> None:
    """Protects the mtime, which changes whether access times do or not: at once, and with each second. Counter-tests:
    within a second it does not change again, and XFS leaves the inode dirty instead.
    """
    machine = machine_with_file(kind, atime=atime, commit_interval=0.05, time_grain=1.0)
    assert commits_while_written_over(machine, 12.0) == expected
    machine = machine_with_file(kind, atime=atime, commit_interval=0.05, time_grain=1.0)
    assert commits_while_written_over(machine, 0.7) == min(expected, 1)


def test_fine_times_change_the_inode_at_every_tick() -> None:
    """Protects ext4's times: a journal that is committed every 50 ms always has something to commit. Counter-test: with
    times of whole seconds it has that once a second.
    """
    fine = commits_while_written_over(machine_with_file("ext4", commit_interval=0.05), 4.0)
    coarse = commits_while_written_over(machine_with_file("ext4", commit_interval=0.05, time_grain=1.0), 4.0)
    assert fine > 10 * coarse > 0


def test_who_writes_beside_another_changes_the_inode_too() -> None:
    """Protects programs on several processors of 2.4, which write by turns: a commit in each second, or one for each
    of two files. Counter-test: not if nobody says that bytes are written over.
    """

    def found(tells: bool) -> int:
        machine = machine_with_file("ext3", commit_interval=0.05, orders_overwrites=False)
        machine.create("g", SIZE)
        machine.do(machine.system.sync(machine.program))
        machine.cache.use(PageCacheSettings(expire=1e9, interleaves=True, turn=0.06))
        machine.host.writer_turns = WriterTurns(2)
        machine.host.prices = NotedPrices(replace(FREE, file_write_s=6.0 * BLOCK / SIZE))
        before, began = commits(machine), machine.engine.now
        with pytest.MonkeyPatch.context() as patched:
            if not tells:
                patched.setattr(FileSystem, "written_over", lambda *_: iter(()))
            run(machine, written_over(NAME), written_over("g"))
        assert machine.engine.now - began > 6.0
        return commits(machine) - before

    assert found(tells=True) >= 6
    assert found(tells=False) == 0


def committed_after_writing_over(**changes: Any) -> int:
    """Bytes of a file on the device after a commit, when all of it has been written over in memory."""
    machine = machine_with_file("ext3", **changes)
    file: File = machine.do(machine.system.open(NAME, machine.program))
    machine.do(machine.system.written_over(file, machine.program))
    machine.cache.mark_dirty(file, 0, file.size)
    machine.do(machine.system.journal.commit())
    return data_on_device(machine, file)


def test_a_commit_writes_what_was_written_over() -> None:
    """Protects ordered mode of ext3: data that have their place already are on the device before the commit. Counter-
    tests: not where only files that grew are ordered, and none with data=writeback.
    """
    assert committed_after_writing_over() == SIZE
    assert committed_after_writing_over(orders_overwrites=False) == 0
    assert committed_after_writing_over(ordered=False) == 0


def test_a_program_that_writes_over_a_file_has_it_written_by_commits() -> None:
    """Protects long overwrites on ext3: every five seconds a commit brings what has been written so far to the device.
    Counter-tests: without order of what did not grow, and on ext4, it stays in memory.
    """
    for kind, changes, least in (("ext3", {}, 0.75 * SIZE), ("ext3", {"orders_overwrites": False}, 0), ("ext4", {}, 0)):
        machine = machine_with_file(kind, **changes)
        assert commits_while_written_over(machine, 12.0) == 2
        written = data_on_device(machine, machine.system.file(NAME))
        assert least <= written < SIZE
        assert bool(written) == bool(least)


def test_who_reads_beside_does_not_hide_what_is_written_over() -> None:
    """Protects ordered overwrites beside a reader of the same file, and of a program that reads what it writes over, as
    bonnie does: access times and modification times are apart.
    """
    machine = machine_with_file("ext3")
    machine.host.prices = NotedPrices(replace(FREE, file_read_s=12.0 * BLOCK / SIZE, file_write_s=12.0 * BLOCK / SIZE))
    reads = [Operation(Kind.OPEN, NAME, flags="O_RDONLY"), transfer(Kind.READ, NAME, 0, SIZE, BLOCK)]
    run(machine, written_over(NAME), reads)
    assert data_on_device(machine, machine.system.file(NAME)) >= 0.75 * SIZE
    machine = machine_with_file("ext3")
    machine.host.prices = NotedPrices(replace(FREE, file_read_s=12.0 * BLOCK / SIZE))
    rewrites = [Operation(Kind.OPEN, NAME, flags="O_RDWR"), transfer(Kind.REWRITE, NAME, 0, SIZE, BLOCK)]
    run(machine, rewrites)
    assert data_on_device(machine, machine.system.file(NAME)) >= 0.75 * SIZE


@pytest.mark.parametrize("kind", ["ext4", "xfs-v5"])
def test_fdatasync_does_not_wait_for_times(kind: str) -> None:
    """Protects databases: fdatasync of what was written over is the data and a flush, although each second has a time
    of its own. Counter-test: fsync commits it.
    """

    def found(sync: Kind) -> int:
        machine = machine_with_file(kind)
        before = commits(machine)
        program = [Operation(Kind.OPEN, NAME, flags="O_WRONLY")]
        for _ in range(3):
            program += [transfer(Kind.WRITE, NAME, 0, BLOCK, BLOCK), Operation(sync, NAME)]
            program.append(Operation(Kind.SLEEP, size=1))
        run(machine, program)
        return commits(machine) - before

    assert found(Kind.FDATASYNC) == 0
    assert found(Kind.FSYNC) == 3


def test_to_write_over_a_file_changes_its_inode_at_once() -> None:
    """Protects short overwrites: a program that is through within the second in which it opened the file has changed
    the inode, and the next commit brings its data to the device. Counter-test: nothing of it without that order.
    """
    for changes, expected in (({}, SIZE), ({"orders_overwrites": False}, 0)):
        machine = machine_with_file("ext3", **changes)
        before = commits(machine)
        assert commits_while_written_over(machine, 0.1) == 0
        machine.engine.run(machine.engine.now + 6.0)
        assert commits(machine) - before == 1
        assert data_on_device(machine, machine.system.file(NAME)) == expected


def test_a_file_that_grows_has_no_times_to_add() -> None:
    """Protects files that grow for long: growing changes their inode, and nobody is told that they are written over."""
    machine = Machine("ext3", commit_interval=0.05)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FileSystem, "written_over", None)
        patched.setattr(FileSystem, "accessed", None)
        machine.host.prices = NotedPrices(replace(FREE, file_write_s=3.0 * BLOCK / (2 * MIB)))
        run(
            machine,
            [
                Operation(Kind.OPEN, "new", flags="O_WRONLY|O_CREAT"),
                transfer(Kind.WRITE, "new", 0, 2 * MIB, BLOCK),
                Operation(Kind.CLOSE, "new"),
            ],
        )
    assert commits(machine) >= 1
