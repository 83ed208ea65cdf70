"""PostMark 1.5 (Katcher, Network Appliance, 1997-2001): a pool of small files, and transactions on them.

Facts from postmark-1_5.c. A transaction reads or appends to a file of the pool, and creates or deletes one. Data is
moved in blocks, and after the whole blocks there is always one call for the remainder, even if that is 0 bytes.
Nothing is ever synced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .mersenne_twister import MersenneTwister
from .operation import Kind, Operation, mark, transfer

CREATE_PHASE, TRANSACTION_PHASE, DELETE_PHASE, END = "create", "transactions", "delete", "end"
"""Names of the marks: PostMark looks at the clock when each begins."""

_FEWEST_TRANSACTIONS = 10
_CREATE, _APPEND = "O_RDWR|O_CREAT", "O_RDWR|O_APPEND"
_LETTERS = {_CREATE: "C", _APPEND: "A", "O_RDONLY": "R"}


class Location(NamedTuple):
    """A directory that files are created in, and how often compared with the others."""

    path: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class PostMarkSettings:
    """What PostMark's ``set`` commands say; the defaults are the program's."""

    low: int = 500
    high: int = 10000
    """Smallest and largest size of a file (bytes)."""
    number: int = 500
    """Files in the pool; there may be twice as many."""
    transactions: int = 500
    """How many; the original divides by a tenth of it and crashes below 10."""
    seed: int = 42
    """Of the random numbers."""
    locations: tuple[Location, ...] = ()
    """Directories to work in; none is the current one."""
    subdirectories: int = 0
    """In each of them; 0 and 1 are none."""
    read_block: int = 512
    write_block: int = 512
    """Bytes a call."""
    buffering: bool = True
    """Through the C library, which moves blocks of the file system (``st_blksize``) and has no remainder call."""
    bias_read: int = 5
    bias_create: int = 5
    """Chances in ten of a read rather than an append, of a create rather than a delete; -1: neither of the two."""
    terse: bool = False
    """The report is one line."""

    def scaled(self, divisor: int) -> PostMarkSettings:
        """A run with one `divisor`-th of the files and transactions, their sizes as they are."""
        return replace(
            self,
            number=max(1, self.number // divisor),
            transactions=max(_FEWEST_TRANSACTIONS, self.transactions // divisor),
        )


class _File:
    """A slot of the file table; size 0 is an empty one."""

    __slots__ = ("name", "size")

    def __init__(self) -> None:
        self.name = ""
        self.size = 0


class PostMark:
    """One run of PostMark.

    Parameters
    ----------
    settings
        What it shall do.
    stdio_bytes
        Block of the C library's buffer (``st_blksize``).

    Attributes
    ----------
    created, deleted, read, appended
        Files so far.
    deleted_alone
        Those deleted after the transactions.
    bytes_read, bytes_written
        Sums of float32, each rounded as the program rounds it.
    progress_dots
        Dots printed during the transactions.
    out_of_files
        The pool ran empty: there were no more transactions, and there is no report.
    """

    __slots__ = (
        "_hint",
        "_paths",
        "_random",
        "_table",
        "appended",
        "bytes_read",
        "bytes_written",
        "created",
        "deleted",
        "deleted_alone",
        "out_of_files",
        "progress_dots",
        "read",
        "settings",
        "stdio_bytes",
    )

    def __init__(self, settings: PostMarkSettings, stdio_bytes: int = 4096) -> None:
        self.settings = settings
        self.stdio_bytes = stdio_bytes
        self._reset()

    def _reset(self) -> None:
        settings = self.settings
        self.created = self.deleted = self.deleted_alone = self.read = self.appended = self.progress_dots = 0
        self.bytes_read = self.bytes_written = np.float32(0)
        self.out_of_files = False
        self._random = MersenneTwister(settings.seed)
        self._table = [_File() for _ in range(2 * settings.number)]
        self._hint = 0
        self._paths = [f"{place.path}/" for place in settings.locations for _ in range(place.weight)]

    def operations(self) -> Iterator[Operation]:
        """Everything it does, in order, from the beginning."""
        self._reset()
        settings = self.settings
        self._random.discard(2 * settings.high)  # the data it writes
        yield from self._subdirectories(Kind.MKDIR)
        yield mark(CREATE_PHASE)
        for _ in range(settings.number):
            yield from self._create()
        yield mark(TRANSACTION_PHASE)
        yield from self._transactions()
        yield mark(DELETE_PHASE)
        before = self.deleted
        for file in self._table:
            if file.size:
                yield self._delete(file)
        self.deleted_alone = self.deleted - before
        yield mark(END)
        yield from self._subdirectories(Kind.RMDIR)

    def _subdirectories(self, kind: Kind) -> Iterator[Operation]:
        count = self.settings.subdirectories
        if count > 1:
            for path in [f"{place.path}/" for place in self.settings.locations] or [""]:
                for index in range(count):
                    yield Operation(kind, f"{path}s{index}")

    def _transactions(self) -> Iterator[Operation]:
        settings, below = self.settings, self._random.below
        tenth = settings.transactions // 10
        for index in range(settings.transactions):
            if self.created == self.deleted:
                self.out_of_files = True
                return
            if settings.bias_read != -1:
                if below(10) < settings.bias_read:
                    yield from self._read(self._find_used())
                else:
                    yield from self._append(self._find_used())
            if settings.bias_create != -1:
                if below(10) < settings.bias_create:
                    yield from self._create()
                else:
                    yield self._delete(self._find_used())
            if index % tenth == 0:
                self.progress_dots += 1

    def _find_used(self) -> _File:
        table, below = self._table, self._random.below
        slots = len(table)
        while not (file := table[below(slots)]).size:
            pass
        return file

    def _find_free(self) -> _File | None:
        table, hint = self._table, self._hint
        if hint >= len(table) or table[hint].size:
            hint = next((slot for slot, file in enumerate(table) if not file.size), -1)
            if hint < 0:
                return None
        self._hint = hint + 1
        return table[hint]

    def _create(self) -> Iterator[Operation]:
        settings, below, paths = self.settings, self._random.below, self._paths
        file = self._find_free()
        if file is None:
            return
        many = len(settings.locations) > 1
        path = "" if not paths else paths[below(len(paths)) if many else 0]
        if settings.subdirectories > 1:
            path += f"s{below(settings.subdirectories)}/"
        self.created += 1
        file.name = f"{path}{self.created}"
        file.size = settings.low + below(settings.high - settings.low)
        yield Operation(Kind.OPEN, file.name, flags=_CREATE)
        yield self._moved(Kind.WRITE, file.name, 0, file.size, settings.write_block)
        yield Operation(Kind.CLOSE, file.name)
        self.bytes_written += np.float32(file.size)

    def _append(self, file: _File) -> Iterator[Operation]:
        settings = self.settings
        if file.size >= settings.high:
            return
        size = self._random.below(settings.high - file.size) + 1
        yield Operation(Kind.OPEN, file.name, flags=_APPEND)
        yield self._moved(Kind.WRITE, file.name, file.size, size, settings.write_block)
        yield Operation(Kind.CLOSE, file.name)
        self.bytes_written += np.float32(size)
        file.size += size
        self.appended += 1

    def _read(self, file: _File) -> Iterator[Operation]:
        yield Operation(Kind.OPEN, file.name, flags="O_RDONLY")
        yield self._moved(Kind.READ, file.name, 0, file.size, self.settings.read_block)
        yield Operation(Kind.CLOSE, file.name)
        self.bytes_read += np.float32(file.size)
        self.read += 1

    def _delete(self, file: _File) -> Operation:
        file.size = 0
        self.deleted += 1
        return Operation(Kind.UNLINK, file.name)

    def _moved(self, kind: Kind, file: str, offset: int, size: int, block: int) -> Operation:
        if self.settings.buffering:
            return transfer(kind, file, offset, size, max(block - block % self.stdio_bytes, self.stdio_bytes))
        return Operation(kind, file, offset, size, block, size // block + 1)


def log_lines(operations: Iterable[Operation]) -> Iterator[str]:
    """One line for each file operation: its letter, path, bytes and calls that move data.

    C is create, A append, R read, D delete, M make and X remove a directory.
    """
    letter = ""
    for operation in operations:
        kind = operation.kind
        if kind is Kind.OPEN:
            letter = _LETTERS[operation.flags]
        elif kind in (Kind.READ, Kind.WRITE):
            yield f"{letter} {operation.file} {operation.size} {operation.calls}\n"
        elif kind is Kind.UNLINK:
            yield f"D {operation.file} 0 0\n"
        elif kind is Kind.MKDIR:
            yield f"M {operation.file} 0 0\n"
        elif kind is Kind.RMDIR:
            yield f"X {operation.file} 0 0\n"
