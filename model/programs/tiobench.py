"""tiobench: threads that each write and read a file of their own, in order and at random (tiotest, tiobench.pl 0.3).

The phases are write, random write, read, random read. In each, all threads start together, and the time ends with the
last of them; threads that write sync their files before they end. The random numbers are seeded with the microseconds
of the clock, so the places are drawn here from seeds that are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .glibc_random import GlibcRandR
from .operation import Kind, Operation, mark, transfer

MIB = 1024 * 1024
THREADS = (1, 2, 4, 8)
"""tiobench.pl runs tiotest once with each of these numbers of threads."""
RANDOM_OPERATIONS = 4000


@dataclass(frozen=True, slots=True)
class TiobenchSettings:
    """What one run of tiotest is told by tiobench.pl."""

    megabytes: int = 200
    """``--size``: of all files together, in units of 2^20 bytes."""
    threads: int = 1
    """``--threads``; each has an equal part of the size and of the random operations, in whole megabytes and calls."""
    block: int = 4096
    """``--block``: bytes a call."""
    random_operations: int = RANDOM_OPERATIONS
    """``--random``: in each of the two random phases, of all threads together."""
    name: str = "./_tiotest.thr"
    """Path of the files without their number."""

    def scaled(self, divisor: int) -> TiobenchSettings:
        """A run of one `divisor`-th: sizes and random operations."""
        return replace(
            self,
            megabytes=max(1, self.megabytes // divisor),
            random_operations=max(self.threads, self.random_operations // divisor),
        )


def default_megabytes(memory_megabytes: int) -> int:
    """The size tiobench.pl 0.3.3 takes unless told: twice the memory, at least 200, at most 2000."""
    return min(2000, max(200, 2 * memory_megabytes))


class Tiobench:
    """One run of tiotest.

    Parameters
    ----------
    settings
        What it shall do.

    Attributes
    ----------
    size
        Bytes of each file.
    operations_each
        Random operations of each thread, in each random phase.
    """

    __slots__ = ("operations_each", "settings", "size")

    phases = ("write", "random write", "read", "random read")
    """The marks, in order."""

    def __init__(self, settings: TiobenchSettings) -> None:
        self.settings = settings
        whole = max(1, settings.megabytes // settings.threads) * MIB
        self.size = whole // settings.block * settings.block
        self.operations_each = settings.random_operations // settings.threads

    @property
    def names(self) -> list[str]:
        """Paths of the files, one for each thread."""
        return [f"{self.settings.name}{number}" for number in range(self.settings.threads)]

    def operations(self) -> Iterator[Operation]:
        """What the main thread does; between the fork and the wait the threads run (:meth:`thread`)."""
        threads = self.settings.threads
        for phase in self.phases:
            yield mark(phase)
            yield Operation(Kind.FORK, calls=threads)
            yield Operation(Kind.WAIT, calls=threads)
        yield mark("end")
        for name in self.names:
            yield Operation(Kind.UNLINK, name)

    def thread(self, phase: str, number: int, seed: int | None = None) -> Iterator[Operation]:
        """What thread `number` does in a phase.

        `seed` is of its random places, by default one for each thread in each phase: the clock has gone on since the
        random writes, so what is read has nothing to do with what was written.
        """
        name, block = self.names[number], self.settings.block
        kind = Kind.WRITE if phase in ("write", "random write") else Kind.READ
        random = phase in ("random write", "random read")
        flags = "O_RDONLY" if kind is Kind.READ else "O_WRONLY" if random else "O_RDWR|O_CREAT|O_TRUNC"
        yield Operation(Kind.OPEN, name, flags=flags)
        yield Operation(Kind.SEEK, name)
        if random:
            if seed is None:
                seed = 1 + number + (self.settings.threads if phase == "random read" else 0)
            for offset in self._places(seed):
                yield Operation(Kind.SEEK, name, offset)
                yield Operation(kind, name, offset, block, block)
        else:
            yield transfer(kind, name, 0, self.size, block)
        if kind is Kind.WRITE:
            yield Operation(Kind.FSYNC, name)
        yield Operation(Kind.CLOSE, name)

    def _places(self, seed: int) -> Iterator[int]:
        """Offsets of the random operations; the last block of a file is never drawn."""
        random, blocks = GlibcRandR(seed), self.size // self.settings.block
        for _ in range(self.operations_each):
            yield random.draw() % max(1, blocks - 1) * self.settings.block
