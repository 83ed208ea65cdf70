"""iozone by Norcott and Capps: one file in records, in every order of interest (``-i 0`` to ``-i 7``).

Facts from iozone.c 3.4xx. Most phases sync the file after opening it, and all of them, outside the timed part, before
closing it. The records of the random phases are shuffled by the 64-bit Mersenne Twister,
whose key is fixed, so the order is the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator

from .mersenne_twister_64 import MersenneTwister64
from .operation import Kind, Operation, mark, transfer

STRIDE = 17
"""Records from one read to the next in the stride phase, unless ``-j`` says another."""

_KEY = (0x12345, 0x23456, 0x34567, 0x45678)


class Iozone:
    """One size of file and record (``-s``, ``-r``).

    Parameters
    ----------
    size, record
        Bytes; the file is cut down to whole records.
    stride
        ``-j``, records.
    name
        Path of the file.
    """

    __slots__ = ("name", "record", "records", "size", "stride")

    phases = (
        *("write", "rewrite", "read", "reread", "random read", "random write", "backward read", "backward reread"),
        *("record rewrite", "stride read", "fwrite", "frewrite", "fread", "freread"),
    )
    """The marks, in order. iozone reports no rate for "backward reread"."""

    def __init__(self, size: int, record: int, stride: int = STRIDE, name: str = "iozone.tmp") -> None:
        self.record = record
        self.records = size // record
        self.size = self.records * record
        self.stride = stride
        self.name = name

    def operations(self) -> Iterator[Operation]:
        """All phases, in order."""
        order = self.random_order()
        yield from self._write()
        for phase in ("read", "reread"):
            yield mark(phase)
            yield self._open("O_RDONLY")
            yield Operation(Kind.FSYNC, self.name)
            yield self._one(Kind.READ, 0)
            yield self._seek(0)
            yield transfer(Kind.READ, self.name, 0, self.size, self.record)
            yield from self._close()
        for phase, kind, flags in (
            ("random read", Kind.READ, "O_RDWR|O_CREAT"),
            ("random write", Kind.WRITE, "O_RDWR"),
        ):
            yield mark(phase)
            yield self._open(flags)
            for number in order:
                yield self._seek(number)
                yield self._one(kind, number)
            yield from self._close()
        for phase in ("backward read", "backward reread"):
            yield mark(phase)
            yield self._open("O_RDONLY")
            yield Operation(Kind.FSYNC, self.name)
            yield self._seek(self.records - 1)
            for number in reversed(range(self.records)):
                yield self._one(Kind.READ, number)
                if number:  # the last call would seek before the start, and fails
                    yield self._seek(number - 1)
            yield from self._close()
        yield mark("record rewrite")
        yield self._open("O_RDWR|O_CREAT")
        yield Operation(Kind.FSYNC, self.name)
        for _ in range(self.records):
            yield self._one(Kind.WRITE, 0)
            yield self._seek(0)
        yield from self._close()
        yield mark("stride read")
        yield self._open("O_RDONLY")
        yield Operation(Kind.FSYNC, self.name)
        for number, following in self._strides():
            yield self._one(Kind.READ, number)
            yield self._seek(following)
        yield from self._close()
        yield from self._through_the_library()

    def random_order(self) -> list[int]:
        """The records in the order of the random phases: a shuffle by Fisher and Yates."""
        random = MersenneTwister64(_KEY)
        order = list(range(self.records))
        for last in range(self.records - 1, 0, -1):
            other = random.draw() % (last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def _strides(self) -> Iterator[tuple[int, int]]:
        """Each record of the stride phase, and the one it seeks to afterwards."""
        number = passes = 0
        for _ in range(self.records):
            here = number
            number += 1
            if number + self.stride >= self.records - 1:
                passes += 1
                number = 0 if self.records <= self.stride else passes % self.records
            else:
                number += self.stride - 1
            yield here, number

    def _write(self) -> Iterator[Operation]:
        yield self._open("O_WRONLY|O_CREAT")
        yield Operation(Kind.CLOSE, self.name)
        yield Operation(Kind.UNLINK, self.name)
        yield self._open("O_WRONLY|O_CREAT|O_TRUNC")
        yield Operation(Kind.CLOSE, self.name)
        for phase in ("write", "rewrite"):
            yield mark(phase)
            yield self._open("O_RDWR")
            yield Operation(Kind.FSYNC, self.name)
            yield transfer(Kind.WRITE, self.name, 0, self.size, self.record)
            yield from self._close()

    def _through_the_library(self) -> Iterator[Operation]:
        """fwrite and fread: iozone gives the C library a buffer of one record."""
        for phase, kind, flags in (
            ("fwrite", Kind.WRITE, "O_RDWR|O_CREAT|O_TRUNC"),
            ("frewrite", Kind.WRITE, "O_RDWR"),
            ("fread", Kind.READ, "O_RDONLY"),
            ("freread", Kind.READ, "O_RDONLY"),
        ):
            yield mark(phase)
            yield self._open(flags)
            yield transfer(kind, self.name, 0, self.size, self.record)
            yield from self._close()

    def _open(self, flags: str) -> Operation:
        return Operation(Kind.OPEN, self.name, flags=flags)

    def _close(self) -> Iterator[Operation]:
        yield Operation(Kind.FSYNC, self.name)
        yield Operation(Kind.CLOSE, self.name)

    def _one(self, kind: Kind, number: int) -> Operation:
        return Operation(kind, self.name, number * self.record, self.record, self.record)

    def _seek(self, number: int) -> Operation:
        return Operation(Kind.SEEK, self.name, number * self.record)
