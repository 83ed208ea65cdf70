"""bonnie++ by Russell Coker: bonnie's phases in another order and other sizes, then many small files.

Facts from bonnie++ 1.03 (bonnie++.cpp, bon_io.cpp, bon_file.cpp) and its successors 1.9x and 2.00, and from recordings
of 1.03 with and without ``-b`` and of 2.00. Its random numbers are seeded with the time, so the places of the seeks and
the order of the small files are drawn here from a seed that is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from .glibc_random import GlibcRandom
from .operation import Kind, Loop, Operation, mark, transfer

KIB = 1024
MIB = 1024 * 1024
SEEKS = 8192
UPDATE_EVERY = 10
_REPORT_BYTES = {False: 24, True: 32}
_TICKET_BYTES = {False: 1, True: 4}
"""What a seeker reports, and what each of its tickets is, by whether threads seek."""
_DIRECTORY_BUFFER = 32 * KIB
_ENTRY_HEADER = 20
"""Bytes of a directory entry besides its name (struct dirent64), the closing 0 included; entries are multiples of 8."""
_LISTED = "O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY"
_ID_LETTERS = 7
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_MOST_RANDOM_LETTERS = 12


@dataclass(frozen=True, slots=True)
class BonniePlusPlusSettings:
    """What bonnie++ is told, and what its version fixes."""

    megabytes: int = 300
    """``-s``: bytes to write, in units of 2^20; 0: no file phases."""
    chunk: int = 8 * KIB
    """Block of the block phases and the seeks."""
    file_megabytes: int = 1024
    """Largest file; what is beyond it goes to further ones. 0: one file."""
    small_files: int = 16
    """``-n``: files to create, stat and delete, in units of `small_unit`; 0: none."""
    sync: bool = False
    """``-b``: fsync before the close after writing and after the block reading, and of each seeker. Since 1.9 always,
    and before every close."""
    sync_each: bool | None = None
    """``-b`` as well: fsync after each update of a seeker, and for each small file: of the file and of its directory
    when it is created, and of the directory when it is deleted. None: as `sync`."""
    fast: bool = False
    """``-f``: no per-character phases."""
    seekers: int = 3
    sleep_s: int = 5
    """Processes (since 1.9 threads) that seek, and pause before they start (s)."""
    per_character_bytes: int | None = None
    """What the per-character phases move in single calls of one byte; None: all, through the C library."""
    sync_small: bool = False
    """sync() after the small files are created and after they are deleted (since 1.9)."""
    exclusive: bool = False
    """Small files are created O_EXCL (since 1.9), or O_TRUNC."""
    random_updates: bool = False
    """Whether each seek updates with a probability of a tenth (since 1.9); else every tenth of a seeker, its first
    included."""
    threads: bool = False
    """Whether threads seek, which share the file that the program has opened (since 1.9), or processes."""
    stdio_bytes: int = 4 * KIB
    """Buffer of the C library."""
    name: str = "./Bonnie"
    """Path of the files without their number, and of the directory for the small ones."""
    seeks: int = SEEKS
    """Seeks in all."""
    small_unit: int = KIB
    """What `small_files` counts: 1024 files. 1 makes it a plain number of files."""
    seed: int = 1
    """Of the names and the random order of the small files."""

    def scaled(self, divisor: int) -> BonniePlusPlusSettings:
        """A run of one `divisor`-th: sizes, seeks and small files; as many files and phases as the whole run has."""
        by_byte = self.per_character_bytes
        return replace(
            self,
            megabytes=self.megabytes and max(1, self.megabytes // divisor),
            file_megabytes=self.file_megabytes and max(1, self.file_megabytes // divisor),
            per_character_bytes=None if by_byte is None else max(1, by_byte // divisor),
            seeks=max(self.seekers, self.seeks // divisor),
            small_files=self.small_files and max(1, self.small_files * self.small_unit // divisor),
            small_unit=1,
        )


def default_megabytes(memory_megabytes: int) -> int:
    """The size bonnie++ takes unless told: twice the memory, at least 300."""
    return max(300, 2 * memory_megabytes)


def version_1_03(settings: BonniePlusPlusSettings | None = None) -> BonniePlusPlus:
    """bonnie++ 1.03 of 2005."""
    return BonniePlusPlus(settings or BonniePlusPlusSettings())


def version_1_9(settings: BonniePlusPlusSettings | None = None) -> BonniePlusPlus:
    """bonnie++ 1.9x: one file, always synced, calls of one byte, five threads that seek."""
    settings = settings or BonniePlusPlusSettings()
    return BonniePlusPlus(_newer(settings, settings.megabytes * MIB))


def version_2_00(settings: BonniePlusPlusSettings | None = None) -> BonniePlusPlus:
    """bonnie++ 2.00: as 1.9x, but only the first 3 MiB byte by byte."""
    return BonniePlusPlus(_newer(settings or BonniePlusPlusSettings(), 3 * MIB))


def _newer(settings: BonniePlusPlusSettings, per_character_bytes: int) -> BonniePlusPlusSettings:
    return replace(
        settings,
        file_megabytes=0,
        sync=True,
        sync_each=settings.sync if settings.sync_each is None else settings.sync_each,
        seekers=5,
        sleep_s=3,
        per_character_bytes=per_character_bytes,
        sync_small=True,
        exclusive=True,
        random_updates=True,
        threads=True,
    )


class BonniePlusPlus:
    """One run of bonnie++.

    Parameters
    ----------
    settings
        What it shall do.
    """

    __slots__ = ("_sync_each", "files", "settings", "size", "titles")

    TITLES: ClassVar[Mapping[str, str]] = {
        "putc": "Writing with putc()...",
        "write": "Writing intelligently...",
        "rewrite": "Rewriting...",
        "getc": "Reading with getc()...",
        "read": "Reading intelligently...",
        "seeks": "start 'em...",
        "create in order": "Create files in sequential order...",
        "stat in order": "Stat files in sequential order...",
        "delete in order": "Delete files in sequential order...",
        "create at random": "Create files in random order...",
        "stat at random": "Stat files in random order...",
        "delete at random": "Delete files in random order...",
    }
    """The marks, in order, and what bonnie++ 1.03 prints there."""

    _BY_BYTE: ClassVar[Mapping[str, str]] = {
        "putc": "Writing a byte at a time...",
        "getc": "Reading a byte at a time...",
    }

    def __init__(self, settings: BonniePlusPlusSettings) -> None:
        self.settings = settings
        newer = {} if settings.per_character_bytes is None else self._BY_BYTE
        left_out = ("putc", "getc") if settings.fast else ()
        self.titles: dict[str, str] = {
            phase: newer.get(phase, title) for phase, title in self.TITLES.items() if phase not in left_out
        }
        self._sync_each = settings.sync if settings.sync_each is None else settings.sync_each
        self.size = settings.megabytes * MIB
        part = settings.file_megabytes * MIB or self.size
        self.files = [
            (f"{settings.name}.{number:03}", min(part, self.size - start))
            for number, start in enumerate(range(0, self.size, part or 1))
        ]

    def operations(self) -> Iterator[Operation]:
        """What the main process does; after the fork the seekers run at the same time (:meth:`seeks`)."""
        if self.size:
            yield from self._file_phases()
        if self.settings.small_files:
            yield from self._small_files("in order")
            yield from self._small_files("at random")

    def _file_phases(self) -> Iterator[Operation]:
        settings, files = self.settings, self.files
        chunk, seekers = settings.chunk, settings.seekers
        by_byte = settings.per_character_bytes is not None
        yield from self._create(by_stdio=not by_byte)
        if not settings.fast:
            yield mark("putc")
            yield from self._by_character(Kind.WRITE, "putc")
        yield from self._close(synced=by_byte)
        yield Operation(Kind.LAP)
        yield from self._create()
        yield mark("write")
        for name, size in files:
            yield transfer(Kind.WRITE, name, 0, size, chunk)
        yield from self._close(synced=True)
        yield Operation(Kind.LAP)
        yield from self._open()
        yield Operation(Kind.SEEK, files[0][0])
        yield mark("rewrite")
        for name, size in files:
            yield Operation(Kind.REWRITE, name, 0, size, chunk, size // chunk)
        yield from self._close(synced=True)
        yield Operation(Kind.LAP)
        if not settings.fast:
            yield from self._open()
            yield mark("getc")
            yield from self._by_character(Kind.READ, "getc")
            yield from self._close(synced=by_byte)
            yield Operation(Kind.LAP)
        yield from self._open()
        yield Operation(Kind.SEEK, files[0][0])
        yield mark("read")
        for name, size in files:
            yield transfer(Kind.READ, name, 0, size, chunk)
        yield from self._close(synced=True)
        yield Operation(Kind.LAP)
        yield Operation(Kind.FORK, calls=seekers)
        if settings.threads:
            yield from self._open()
        yield Operation(Kind.SLEEP, size=settings.sleep_s)
        yield mark("seeks")
        tickets = settings.seeks + seekers  # and one each that says there are no more
        told, report = tickets * _TICKET_BYTES[settings.threads], _REPORT_BYTES[settings.threads]
        yield Operation(Kind.TELL, size=told, call_bytes=told)
        yield Operation(Kind.HEAR, size=seekers * report, call_bytes=report, calls=seekers)
        if settings.threads:
            yield from self._close(synced=True)
        for name, _ in files:
            yield Operation(Kind.UNLINK, name)

    def _by_character(self, kind: Kind, loop: Loop) -> Iterator[Operation]:
        left = self.settings.per_character_bytes
        for name, size in self.files:
            if left is None:
                yield transfer(kind, name, 0, size, self.settings.stdio_bytes, loop)
            elif left:
                part = min(left, size)
                yield transfer(kind, name, 0, part, 1, loop)
                left -= part

    def _create(self, by_stdio: bool = False) -> Iterator[Operation]:
        for name, _ in self.files:
            yield Operation(Kind.UNLINK, name)
            yield Operation(Kind.OPEN, name, flags=f"O_RDWR|O_CREAT|{'O_TRUNC' if by_stdio else 'O_EXCL'}")

    def _open(self) -> Iterator[Operation]:
        for name, _ in self.files:
            yield Operation(Kind.OPEN, name, flags="O_RDWR")

    def _close(self, synced: bool) -> Iterator[Operation]:
        """Close the files; if `synced` is true and the settings say so, with an fsync before."""
        for name, _ in self.files:
            if synced and self.settings.sync:
                yield Operation(Kind.FSYNC, name)
            yield Operation(Kind.CLOSE, name)

    def leave(self, name: str) -> Iterator[Operation]:
        """What a seeker does after its last ticket with a file that it has opened."""
        if self.settings.sync:
            yield Operation(Kind.FSYNC, name)
        yield Operation(Kind.CLOSE, name)

    def seeks(self, seed: int) -> Iterator[list[Operation]]:
        """What a seeker whose random numbers begin with `seed` does for each of its tickets. The tickets end it."""
        chunk, random = self.settings.chunk, GlibcRandom(seed)
        chunks = self.size // chunk
        part = self.files[0][1] // chunk
        count = 0
        while True:
            file, inside = divmod(random.draw() % chunks, part)
            name, offset = self.files[file][0], inside * chunk
            found = [Operation(Kind.SEEK, name, offset), Operation(Kind.READ, name, offset, chunk, chunk)]
            draw = random.draw() if self.settings.random_updates else count
            if draw % UPDATE_EVERY == 0:
                random.draw()  # the byte that it changes
                found += [Operation(Kind.SEEK, name, offset), Operation(Kind.WRITE, name, offset, chunk, chunk)]
                if self._sync_each:
                    found.append(Operation(Kind.FSYNC, name))
            count += 1
            yield found

    def _small_files(self, order: str) -> Iterator[Operation]:
        """Empty files in one directory: created, looked up and deleted one by one.

        In order the names rise and are then found by reading the directory; at random the names begin with random
        letters, and the files are looked up and deleted in an order that is drawn anew each time.
        """
        path, random = self.settings.name, GlibcRandom(self.settings.seed)
        in_order = order == "in order"
        names = self._small_names(in_order, random)
        yield mark(f"create {order}")
        yield Operation(Kind.MKDIR, path)
        if self._sync_each:
            yield Operation(Kind.OPEN, path, flags="O_RDONLY")
        flags = f"O_WRONLY|O_CREAT|{'O_EXCL' if self.settings.exclusive else 'O_TRUNC'}"
        for name in names:
            yield Operation(Kind.OPEN, name, flags=flags)
            if self._sync_each:
                yield Operation(Kind.FSYNC, name)
                yield Operation(Kind.FSYNC, path)
            yield Operation(Kind.CLOSE, name)
        yield from self._sync_small()
        yield mark(f"stat {order}")
        yield from self._each_small(Kind.STAT, names, in_order, random)
        yield mark(f"delete {order}")
        for operation in self._each_small(Kind.UNLINK, names, in_order, random):
            yield operation
            if self._sync_each and operation.kind is Kind.UNLINK:
                yield Operation(Kind.FSYNC, path)
        if self._sync_each:
            # At random it closes the directory once more than it has opened it.
            yield Operation(Kind.CLOSE, path)
            if not in_order:
                yield Operation(Kind.CLOSE, path)
        yield Operation(Kind.RMDIR, path)
        yield from self._sync_small()

    def _small_names(self, in_order: bool, random: GlibcRandom) -> list[str]:
        """Paths whose names are a number of 7 letters and 0 to 12 random ones, all lengths equally often."""
        names = []
        for number in range(self.settings.small_files * self.settings.small_unit):
            count = number % (_MOST_RANDOM_LETTERS + 1)
            letters = "".join(_NAME_LETTERS[random.draw() % len(_NAME_LETTERS)] for _ in range(count))
            counted = f"{number:0{_ID_LETTERS}x}"
            names.append(
                f"{self.settings.name}/{counted}{letters}" if in_order else f"{self.settings.name}/{letters}{counted}"
            )
        return names

    def _each_small(self, kind: Kind, names: list[str], in_order: bool, random: GlibcRandom) -> Iterator[Operation]:
        if in_order:
            yield from self._listed(kind, names)
            return
        for last in range(len(names) - 1, 0, -1):
            other = random.draw() % (last + 1)
            names[last], names[other] = names[other], names[last]
        for name in names:
            yield Operation(kind, name)

    def _listed(self, kind: Kind, names: list[str]) -> Iterator[Operation]:
        """Read the directory buffer by buffer, and do something with each file found there."""
        path = self.settings.name
        yield Operation(Kind.OPEN, path, flags=_LISTED)
        at = given = 0
        while given < len(names):
            size, first = 0, given
            while given < len(names) and size + (entry := _entry_bytes(names[given], path)) <= _DIRECTORY_BUFFER:
                size += entry
                given += 1
            yield Operation(Kind.LIST, path, at, size, _DIRECTORY_BUFFER)
            at += size
            for name in names[first:given]:
                yield Operation(kind, name)
        yield Operation(Kind.LIST, path, at, 0, _DIRECTORY_BUFFER)
        yield Operation(Kind.CLOSE, path)

    def _sync_small(self) -> Iterator[Operation]:
        if self.settings.sync_small:
            yield Operation(Kind.SYNC)


def _entry_bytes(path: str, directory: str) -> int:
    """Bytes of a file's entry as the kernel returns it."""
    return -(-(_ENTRY_HEADER + len(path) - len(directory) - 1) // 8) * 8
