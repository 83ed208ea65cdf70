"""Which blocks of a volume or file loads ask for, and how often, which decides what the ARC holds in the long run."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, Protocol

from mypy_extensions import i64

PIECES: Final = 32
"""Pieces of what a sequential load has read: the last of them are in memory, the first not."""


class Places(Protocol):
    """Which places the I/Os of a load prefer."""

    def popularity(self, place: float, width: float) -> float:
        """How often a part of a span is hit, over how often it is if every place is as likely."""


class RandomVisits:
    """A load that goes to places of a volume or file.

    Parameters
    ----------
    places, start, span
        Where in the bytes from `start` on, `span` of them.
    weight
        Visits of blocks in a second, on any scale that all loads of a pool share.
    write_share
        Share of the visits that write.
    sizes
        Bytes of I/Os, and the share of the visits that each has.
    """

    __slots__ = ("_places", "_span", "_start", "sizes", "weight", "write_share")

    def __init__(
        self,
        places: Places,
        start: int,
        span: int,
        weight: float,
        write_share: float,
        sizes: Sequence[tuple[int, float]],
    ) -> None:
        self._places = places
        self._start, self._span = start, span
        self.weight = weight
        self.write_share = write_share
        self.sizes = list(sizes)

    def rate(self, offset: int, size: int) -> float:
        """Visits of the block of `size` bytes at `offset`."""
        first = max(offset, self._start) - self._start
        end = min(offset + size, self._start + self._span) - self._start
        if end <= first:
            return 0.0
        share = (end - first) / self._span
        return self.weight * share * self._places.popularity(first / self._span, share)


class SequentialVisits:
    """Jobs that read or write one part each of a volume or file over and over, in order.

    Parameters
    ----------
    start, span, jobs
        Where the first job begins, the bytes of each part, and how many parts there are.
    weight, write_share
        See :class:`RandomVisits`.
    """

    __slots__ = ("_jobs", "_span", "_start", "weight", "write_share")

    def __init__(self, start: int, span: int, jobs: int, weight: float, write_share: float) -> None:
        self._start, self._span, self._jobs = start, span, jobs
        self.weight = weight
        self.write_share = write_share

    def progress(self, offset: int) -> float:
        """How far (0 to 1) in a job's part an offset lies; -1 outside."""
        place = offset - self._start
        if place < 0 or place >= self._span * self._jobs:
            return -1.0
        return place % self._span / self._span


class VisitedFile:
    """A volume or file with the loads on it.

    Parameters
    ----------
    number, blocks, block_bytes, psize
        Number of the dataset, how many blocks it has, their size, and what one takes in the ARC (bytes).
    random, sequential
        The loads.
    fed
        Whether its blocks go to the second level.

    Attributes
    ----------
    edges
        Rates that part the blocks in kinds: see :meth:`kind`.
    """

    __slots__ = ("block_bytes", "blocks", "edges", "fed", "number", "psize", "random", "sequential")

    def __init__(
        self,
        number: int,
        blocks: int,
        block_bytes: int,
        psize: int,
        random: Sequence[RandomVisits],
        sequential: Sequence[SequentialVisits],
        fed: bool = True,
    ) -> None:
        self.number = number
        self.fed = fed
        self.blocks = blocks
        self.block_bytes = block_bytes
        self.psize = psize
        self.random = list(random)
        self.sequential = list(sequential)
        self.edges: list[float] = []

    def rate(self, block: i64) -> float:
        """Visits of a block by random loads."""
        found = 0.0
        for visits in self.random:
            found += visits.rate(block * self.block_bytes, self.block_bytes)
        return found

    def kind(self, block: i64) -> int:
        """Blocks of one kind are as likely to be in memory: by how popular they are, and when they were last read."""
        found = bisect_right(self.edges, self.rate(block)) if self.edges else 0
        for visits in self.sequential:
            progress = visits.progress(block * self.block_bytes)
            found = found * (PIECES + 1) + 1 + int(progress * PIECES) if progress >= 0.0 else found * (PIECES + 1)
        return found
