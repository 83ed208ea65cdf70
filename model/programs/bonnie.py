"""Bonnie by Tim Bray: one file written and read with the C library and in blocks, rewritten, and sought in.

Facts from Bonnie.c 1.2 ("Bonnie-64") and from the version 1.4 of K. Garloff. Three processes seek in the finished file;
they draw tickets from a pipe, and each seeds its random numbers with its process number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from .glibc_random import GlibcRandom
from .operation import Kind, Operation, mark, transfer

KIB = 1024
MIB = 1024 * 1024
SEEKERS = 3
SEEKS = 4000
UPDATE_EVERY = 10
_REPORT_BYTES = 24
"""Three times as numbers of 8 bytes, which each seeker sends back."""


@dataclass(frozen=True, slots=True)
class BonnieSettings:
    """What bonnie is told, and what its version fixes."""

    megabytes: int = 100
    """``-s``: size of each file in units of 2^20 bytes."""
    files: int = 1
    """``-v``: number of files; the seeks are in the first."""
    sync: bool = False
    """``-y``: fsync before close after writing, inside the timed part. Bonnie-64 always does."""
    chunk: int = 16 * KIB
    """Block of the block phases: 16 KiB in 1.2, 1 MiB in 1.4."""
    seek_chunk: int = 16 * KIB
    """Block of the seeks."""
    stdio_bytes: int = 4 * KIB
    """Buffer of the C library, which is ``st_blksize`` of the file system."""
    name: str = "./Bonnie"
    """Path of the file; further ones have a number behind it."""
    seeks: int = SEEKS
    """Seeks in all."""
    sleep_s: int = 5
    """Pause before them (s), outside every timed part."""

    def scaled(self, divisor: int) -> BonnieSettings:
        """A run of one `divisor`-th: size and seeks."""
        return replace(self, megabytes=max(1, self.megabytes // divisor), seeks=max(SEEKERS, self.seeks // divisor))


def bonnie_1_2(megabytes: int = 100, stdio_bytes: int = 4 * KIB) -> Bonnie:
    """Bonnie 1.2: blocks of 16 KiB, nothing is synced."""
    return Bonnie(BonnieSettings(megabytes, stdio_bytes=stdio_bytes))


def bonnie_1_4(megabytes: int = 100, files: int = 1, sync: bool = False, stdio_bytes: int = 4 * KIB) -> Bonnie:
    """Bonnie 1.4: blocks of 1 MiB; ``-y`` syncs."""
    return Bonnie(BonnieSettings(megabytes, files, sync, chunk=MIB, stdio_bytes=stdio_bytes))


def bonnie_64(megabytes: int = 100, stdio_bytes: int = 4 * KIB) -> Bonnie:
    """Bonnie-64: as 1.2, and always synced."""
    return Bonnie(BonnieSettings(megabytes, sync=True, stdio_bytes=stdio_bytes))


class Bonnie:
    """One run of bonnie.

    Parameters
    ----------
    settings
        What it shall do.
    """

    __slots__ = ("settings", "size")

    titles: Mapping[str, str] = {
        "putc": "Writing with putc()...",
        "rewrite": "Rewriting...",
        "write": "Writing intelligently...",
        "getc": "Reading with getc()...",
        "read": "Reading intelligently...",
        "seeks": "start 'em...",
    }
    """The marks, in order, and what bonnie prints there."""

    def __init__(self, settings: BonnieSettings) -> None:
        self.settings = settings
        self.size = settings.megabytes * MIB // settings.chunk * settings.chunk

    @property
    def names(self) -> list[str]:
        """Paths of the files."""
        settings = self.settings
        return [settings.name, *(f"{settings.name}.{number}" for number in range(1, settings.files))]

    def operations(self) -> Iterator[Operation]:
        """What the main process does; after the fork the seekers run at the same time (:meth:`seeks`)."""
        settings, names = self.settings, self.names
        chunk, stdio = settings.chunk, settings.stdio_bytes
        yield mark("putc")
        yield from self._create()
        for name in names:
            yield transfer(Kind.WRITE, name, 0, self.size, stdio, "putc")
            yield from self._close_written(name)
        yield Operation(Kind.LAP)
        yield from self._open()
        yield from self._rewind()
        yield mark("rewrite")
        for name in names:
            yield Operation(Kind.REWRITE, name, 0, self.size, chunk, self.size // chunk)
            yield Operation(Kind.READ, name, self.size, 0, chunk)
            yield from self._close_written(name)
        yield Operation(Kind.LAP)
        yield from self._create()
        yield mark("write")
        for name in names:
            yield transfer(Kind.WRITE, name, 0, self.size, chunk)
            yield from self._close_written(name)
        yield Operation(Kind.LAP)
        yield from self._open()
        yield mark("getc")
        for name in names:
            yield transfer(Kind.READ, name, 0, self.size, stdio, "getc")
            yield Operation(Kind.CLOSE, name)
        yield Operation(Kind.LAP)
        yield from self._open()
        yield from self._rewind()
        yield mark("read")
        for name in names:
            yield transfer(Kind.READ, name, 0, self.size, chunk)
            yield Operation(Kind.READ, name, self.size, 0, chunk)
            yield Operation(Kind.CLOSE, name)
        yield Operation(Kind.LAP)
        yield Operation(Kind.FORK, calls=SEEKERS)
        yield Operation(Kind.SLEEP, size=settings.sleep_s)
        yield mark("seeks")
        tickets = settings.seeks + SEEKERS  # and one each that says there are no more
        yield Operation(Kind.TELL, size=tickets, call_bytes=tickets)
        yield Operation(Kind.HEAR, size=SEEKERS * _REPORT_BYTES, call_bytes=_REPORT_BYTES, calls=SEEKERS)
        for name in names:
            yield Operation(Kind.UNLINK, name)

    def leave(self, name: str) -> Iterator[Operation]:
        """What a seeker does after its last ticket with a file that it has opened."""
        yield Operation(Kind.CLOSE, name)

    def seeks(self, process: int) -> Iterator[list[Operation]]:
        """What a seeker does for each ticket; `process` is its number. Without end: the tickets end it."""
        chunk, name, random = self.settings.seek_chunk, self.names[0], GlibcRandom(process)
        chunks = self.size // chunk
        count = 0
        while True:
            offset = random.draw() % chunks * chunk
            found = [Operation(Kind.SEEK, name, offset), Operation(Kind.READ, name, offset, chunk, chunk)]
            if count % UPDATE_EVERY == 0:
                random.draw()  # the word that it changes
                found += [Operation(Kind.SEEK, name, offset), Operation(Kind.WRITE, name, offset, chunk, chunk)]
            count += 1
            yield found

    def _create(self) -> Iterator[Operation]:
        for name in self.names:
            yield Operation(Kind.UNLINK, name)
            yield Operation(Kind.OPEN, name, flags="O_RDWR|O_CREAT|O_EXCL")

    def _open(self) -> Iterator[Operation]:
        for name in self.names:
            yield Operation(Kind.OPEN, name, flags="O_RDWR")

    def _rewind(self) -> Iterator[Operation]:
        for name in self.names:
            yield Operation(Kind.SEEK, name)

    def _close_written(self, name: str) -> Iterator[Operation]:
        if self.settings.sync:
            yield Operation(Kind.FSYNC, name)
        yield Operation(Kind.CLOSE, name)
