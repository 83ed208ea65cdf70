"""iozone by Norcott and Capps: one file in records, in every order of interest (``-i 0`` to ``-i 7``).

Facts from iozone.c 3.4xx. Without ``-c`` and ``-e`` the clock of a phase runs from its first record to its last: the
file is opened, synced and warmed up by reading a record before, and synced and closed afterwards. So no sync is timed,
and every phase finds a file without dirty pages. The records of the random phases are shuffled by the 64-bit Mersenne
Twister, whose key is fixed, so the order is the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from .mersenne_twister_64 import MersenneTwister64
from .operation import Kind, Operation, mark, transfer

STRIDE = 17
"""Records from one read to the next in the stride phase, unless ``-j`` says another."""

_KEY = (0x12345, 0x23456, 0x34567, 0x45678)
_PARTS = 3
_TIMED = 1


class _Named(Protocol):
    """A part of a run between two marks."""

    @property
    def name(self) -> str:
        """The mark that it begins with."""


_Part = TypeVar("_Part", bound=_Named)


def timed(parts: Iterable[_Part]) -> dict[str, _Part]:
    """Of the parts that the marks of a run make, the one of each phase in which iozone's clock runs, by phase."""
    found: dict[str, list[_Part]] = {}
    for part in parts:
        if part.name in Iozone.phases:
            found.setdefault(part.name, []).append(part)
    return {name: part[_TIMED] for name, part in found.items() if len(part) == _PARTS}


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
    """In order. Each has three marks of its name: where it begins, where its clock starts, and where its clock stops.
    """

    reported = tuple(phase for phase in phases if phase != "backward reread")
    """The phases whose rates it prints."""
    scattered = phases[4:10]
    """The phases that move one record here and the next one there."""

    def __init__(self, size: int, record: int, stride: int = STRIDE, name: str = "iozone.tmp") -> None:
        self.record = record
        self.records = size // record
        self.size = self.records * record
        self.stride = stride
        self.name = name

    def operations(self) -> Iterator[Operation]:
        """All phases, in order."""
        yield self._open("O_WRONLY|O_CREAT")
        yield Operation(Kind.CLOSE, self.name)
        yield Operation(Kind.UNLINK, self.name)
        yield self._open("O_WRONLY|O_CREAT|O_TRUNC")
        yield Operation(Kind.CLOSE, self.name)
        for phase in ("write", "rewrite"):
            yield from self._phase(phase, "O_RDWR", [self._all(Kind.WRITE)])
        for phase in ("read", "reread"):
            warm_up = (self._one(Kind.READ, 0), self._seek(0))
            yield from self._phase(phase, "O_RDONLY", [self._all(Kind.READ)], warm_up)
        yield from self._phase("random read", "O_RDWR|O_CREAT", self._at_random(Kind.READ), synced=False)
        yield from self._phase("random write", "O_RDWR", self._at_random(Kind.WRITE), synced=False)
        for phase in ("backward read", "backward reread"):
            yield from self._phase(phase, "O_RDONLY", self._backward(), (self._seek(self.records - 1),))
        yield from self._phase("record rewrite", "O_RDWR|O_CREAT", self._first_again())
        yield from self._phase("stride read", "O_RDONLY", self._by_strides())
        # iozone gives the C library a buffer of one record: a call a record.
        yield from self._phase("fwrite", "O_RDWR|O_CREAT|O_TRUNC", [self._all(Kind.WRITE)])
        yield from self._phase("frewrite", "O_RDWR", [self._all(Kind.WRITE)])
        yield from self._phase("fread", "O_RDONLY", [self._all(Kind.READ)])
        yield from self._phase("freread", "O_RDONLY", [self._all(Kind.READ)])
        yield Operation(Kind.UNLINK, self.name)

    def _phase(
        self,
        name: str,
        flags: str,
        moves: Iterable[Operation],
        before: tuple[Operation, ...] = (),
        synced: bool = True,
    ) -> Iterator[Operation]:
        """One phase: `synced` is whether it syncs what it has opened; `before` comes then, and `moves` are timed."""
        yield mark(name)
        yield self._open(flags)
        if synced:
            yield Operation(Kind.FSYNC, self.name)
        yield from before
        yield mark(name)
        yield from moves
        yield mark(name)
        if name not in ("fread", "freread"):
            yield Operation(Kind.FSYNC, self.name)
        yield Operation(Kind.CLOSE, self.name)

    def _at_random(self, kind: Kind) -> Iterator[Operation]:
        for number in self.random_order():
            yield self._seek(number)
            yield self._one(kind, number)

    def _backward(self) -> Iterator[Operation]:
        for number in reversed(range(self.records)):
            yield self._one(Kind.READ, number)
            if number:  # the last call would seek before the start, and fails
                yield self._seek(number - 1)

    def _first_again(self) -> Iterator[Operation]:
        for _ in range(self.records):
            yield self._one(Kind.WRITE, 0)
            yield self._seek(0)

    def _by_strides(self) -> Iterator[Operation]:
        for number, following in self._strides():
            yield self._one(Kind.READ, number)
            yield self._seek(following)

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

    def _open(self, flags: str) -> Operation:
        return Operation(Kind.OPEN, self.name, flags=flags)

    def _all(self, kind: Kind) -> Operation:
        return transfer(kind, self.name, 0, self.size, self.record)

    def _one(self, kind: Kind, number: int) -> Operation:
        return Operation(kind, self.name, number * self.record, self.record, self.record)

    def _seek(self, number: int) -> Operation:
        return Operation(Kind.SEEK, self.name, number * self.record)
