"""The program of the recordings, fsb: one thread and plain system calls, one phase a call.

Its random numbers are ``x = x * 6364136223846793005 + 1442695040888963407`` (mod 2^64), of which it takes ``x >> 33``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

from ....model.core.errors import InputError
from ....model.core.request import READ, WRITE
from ....model.core.signal import Signal
from ....model.fio.files import CachedFile, DirectFile
from ....model.process.operations import execute
from ....model.programs.operation import Kind, Operation, transfer
from .machine import FileMachine

KIB = 1024
_MULTIPLIER, _INCREMENT, _MASK = 6364136223846793005, 1442695040888963407, (1 << 64) - 1
_READ_BYTES = 65536
"""Of a call that reads a small file."""


def numbers(seed: int) -> Iterator[int]:
    """fsb's random numbers."""
    state = seed
    while True:
        state = (state * _MULTIPLIER + _INCREMENT) & _MASK
        yield state >> 33


def phase(machine: FileMachine, command: str) -> Generator[Any, Any, None]:
    """What a call of fsb does, from its command line.

    Raises
    ------
    InputError
        If it is a command that fsb does not have.
    """
    _, what, path, *rest = command.split()
    if what == "rand":
        size, count, op, how, sync, seed = rest
        return _random(machine, path, int(size), int(count), op == "w", how == "direct", sync, int(seed))
    return execute(machine.process, _operations(machine, what, path, rest))


def make_folders(machine: FileMachine, commands: Iterable[str]) -> Generator[Any, Any, None]:
    """The folders that files are made in, which are there before."""
    folders = [command.split()[2] for command in commands if command.startswith("fsb create ")]
    yield from execute(machine.process, [Operation(Kind.MKDIR, folder) for folder in folders])
    yield from sync(machine)


def sync(machine: FileMachine) -> Generator[Any, Any, None]:
    """syncfs(2)."""
    return execute(machine.process, [Operation(Kind.SYNC, "/mnt")])


def drop_caches(machine: FileMachine) -> Generator[Any, Any, None]:
    """``sync`` has been done; 3 to /proc/sys/vm/drop_caches: clean pages, names, inodes and spare stripe heads go.

    XFS then writes what its log is ahead of, which is clean from then on (fs/xfs/xfs_icache.c, xfs_reclaim_inodes_nr).
    """
    cache, system = machine.mount.cache, machine.mount.file_system
    for file in system.files:
        cache.pages.forget(file)
    system.drop_metadata()
    system.drop_inodes()
    yield from system.journal.settle()
    for shrink in machine.process.host.shrinkers:
        shrink()


def _operations(machine: FileMachine, what: str, path: str, rest: list[str]) -> Iterable[Operation]:
    if what in ("seqwrite", "append", "dsync"):
        return _written(path, int(rest[0]), int(rest[1]), _after_each(what, rest), what == "seqwrite")
    if what == "seqread":
        size = machine.mount.file_system.file(_below(path)).size
        return [
            Operation(Kind.OPEN, path, flags="O_RDONLY"),
            transfer(Kind.READ, path, 0, size, int(rest[0])),
            Operation(Kind.CLOSE, path),
        ]
    if what == "create":
        count, low, high, seed = (int(each) for each in rest[:4])
        return _created(path, count, low, high, seed, rest[4] == "fsync")
    if what in ("stat", "read", "unlink"):
        return _each(machine, what, path, int(rest[0]))
    raise InputError(
        f"fsb {what}", "no command of fsb", "expected: seqwrite, seqread, rand, append, dsync, create, stat"
    )


def _below(path: str) -> str:
    return path.removeprefix("/mnt/")


def _after_each(what: str, rest: list[str]) -> Kind | None:
    """What each write waits for: O_DSYNC is fdatasync after each (fs/read_write.c, generic_write_sync)."""
    if what == "dsync":
        return Kind.FDATASYNC
    return {"fsync": Kind.FSYNC, "fdatasync": Kind.FDATASYNC}[rest[2]] if what == "append" else None


def _written(path: str, size: int, count: int, after: Kind | None, at_end: bool) -> Iterator[Operation]:
    yield Operation(Kind.OPEN, path, flags="O_WRONLY|O_CREAT|O_TRUNC")
    if after is None:
        yield transfer(Kind.WRITE, path, 0, size * count, size)
    else:
        for number in range(count):
            yield transfer(Kind.WRITE, path, number * size, size, size)
            yield Operation(after, path)
    if at_end:
        yield Operation(Kind.FSYNC, path)
    yield Operation(Kind.CLOSE, path)


def _name(folder: str, number: int) -> str:
    return f"{folder}/f{number:06d}"


def _created(folder: str, count: int, low: int, high: int, seed: int, synced: bool) -> Iterator[Operation]:
    random = numbers(seed)
    for number in range(count):
        name, size = _name(folder, number), (low + next(random) % (high - low + 1)) * KIB
        yield Operation(Kind.OPEN, name, flags="O_WRONLY|O_CREAT|O_TRUNC")
        yield transfer(Kind.WRITE, name, 0, size, size)
        if synced:
            yield Operation(Kind.FSYNC, name)
        yield Operation(Kind.CLOSE, name)


def _each(machine: FileMachine, what: str, folder: str, count: int) -> Iterator[Operation]:
    for number in range(count):
        name = _name(folder, number)
        if what == "stat":
            yield Operation(Kind.STAT, name)
        elif what == "unlink":
            yield Operation(Kind.UNLINK, name)
        else:
            size = machine.mount.file_system.file(_below(name)).size
            yield Operation(Kind.OPEN, name, flags="O_RDONLY")
            yield transfer(Kind.READ, name, 0, size, _READ_BYTES)
            yield Operation(Kind.CLOSE, name)


def _random(
    machine: FileMachine, path: str, size: int, count: int, writes: bool, direct: bool, sync: str, seed: int
) -> Generator[Any, Any, None]:
    """Reads or writes anywhere in a file, one after the other."""
    system, process, cache = machine.mount.file_system, machine.process, machine.mount.cache
    opened = yield from system.open(_below(path), process)
    blocks, random = opened.size // size, numbers(seed)
    past = DirectFile(cache.device, None, opened.extents.pieces)
    cached = CachedFile(process.host, cache, opened, system, "none" if writes else "random")
    for _ in range(count):
        offset = next(random) % blocks * size
        if direct:
            yield from _direct(machine, past, opened, offset, size, writes)
        elif writes:
            yield from cached.write(offset, size, process)
        else:
            yield from cached.read(offset, size, process)
        if writes and sync in ("fsync", "fdatasync"):
            yield from system.fsync(opened, process, sync == "fdatasync")
    if writes and sync == "end":
        yield from system.fsync(opened, process)
    yield from system.close(opened, process)
    if process.owed_s:
        yield process.pay()


def _direct(
    machine: FileMachine, past: DirectFile, file: Any, offset: int, size: int, writes: bool
) -> Generator[Any, Any, None]:
    """One I/O with O_DIRECT, which changes the file's times like any other."""
    system, process = machine.mount.file_system, machine.process
    if system.needs_map(file, offset, offset + size):
        yield from system.load_map(file, offset, offset + size, process)
    if writes:
        yield from system.written_over(file, process)
    elif machine.engine.now >= file.atime_due_s:
        yield from system.accessed(file, process)
    done = Signal()
    past.submit(WRITE if writes else READ, offset, size, lambda _: done.fire(), process.issuer, None)
    past.device.unplug()
    yield done
