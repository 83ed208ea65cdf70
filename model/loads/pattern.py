"""Which I/Os a load sends, one after the other: direction, size and place.

Directions, sizes, places and the lengths of runs are drawn from random streams of their own, a block at a time, and a
place as a share of the span. So the n-th I/O of a load is the same for every array: a larger array stretches the
places, and nothing that a device does changes what comes next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..core.random_streams import RandomStreams
from ..core.request import READ, WRITE
from .locality import Places

BLOCK = 4096
"""Random numbers drawn at once."""
FIRST = 64
"""I/Os that are made of the first of them: most jobs of a short run send few."""

Io = tuple[int, int, int]
"""``READ`` or ``WRITE``, offset and size (bytes)."""


@dataclass(frozen=True, slots=True)
class LoadPattern:
    """What the I/Os of a job are drawn from.

    Attributes
    ----------
    read_share
        Share of reads, 0 to 1.
    sizes
        Sizes of reads and of writes (bytes), with the share of each.
    places
        Where random I/Os and the beginnings of runs are.
    order
        "random"; "sequential", around from the end of the span to its start; or "mixed".
    align
        What offsets of random I/Os are multiples of, from the start of the span; None for the I/O's own size.
    sequential_share
        Of "mixed": share of the I/Os that are part of runs.
    run_length
        Of "mixed": I/Os in a run on average, at least 2; the lengths are geometric from 2 on. A run has one
        direction and one size, as one file that is read or written.
    """

    read_share: float
    sizes: tuple[Mapping[int, float], Mapping[int, float]]
    places: Places
    order: Literal["random", "sequential", "mixed"] = "random"
    align: int | None = None
    sequential_share: float = 0.5
    run_length: float = 8.0

    def ios(self, streams: RandomStreams, name: str, start: int, span: int) -> Iterator[Io]:
        """The I/Os of the job called `name` on `span` bytes from `start` on, without end."""
        drawn = self._drawn(streams, name, start, span)
        if self.order == "random":
            return drawn
        if self.order == "sequential":
            return _in_order(drawn, start, span)
        lengths = self._lengths(streams.generator(f"{name} runs"))
        return _in_runs(drawn, lengths, start, span)

    def _drawn(self, streams: RandomStreams, name: str, start: int, span: int) -> Iterator[Io]:
        ops_random, sizes_random, places_random = (
            streams.generator(f"{name} {part}") for part in ("ops", "sizes", "places")
        )
        tables = [_SizeTable(sizes, span, self.align) for sizes in self.sizes]
        places = self.places
        some = FIRST
        while True:
            drawn_ops, uniforms = ops_random.random(BLOCK), sizes_random.random(BLOCK)
            drawn_places = places.numbers(places_random, BLOCK)
            at = 0
            while at < BLOCK:
                piece = slice(at, at + some)
                at, some = at + some, min(2 * some, BLOCK - at - some) or BLOCK
                writes = drawn_ops[piece] >= self.read_share
                uniform = uniforms[piece]
                reads, written = tables[READ].pick(uniform), tables[WRITE].pick(uniform)
                sizes = np.where(writes, written[0], reads[0])
                steps = np.where(writes, written[1], reads[1])
                slots = np.where(writes, written[2], reads[2])
                # A product with a number next to 1 may round up to the end.
                slot = np.minimum((places.of(drawn_places[..., piece]) * slots).astype(np.int64), slots - 1)
                ios = (writes.astype(int).tolist(), (start + slot * steps).tolist(), sizes.tolist())
                yield from zip(*ios, strict=True)

    def _lengths(self, random: np.random.Generator) -> Iterator[int]:
        """I/Os that follow each other: those of a run, or 1."""
        share, mean = self.sequential_share, self.run_length
        # Of all beginnings as many are of runs as gives the wanted share of I/Os.
        begins = share / (share + mean * (1.0 - share)) if share else 0.0
        while True:
            run = random.random(BLOCK) < begins
            yield from np.where(run, 1 + random.geometric(1.0 / (mean - 1.0), BLOCK), 1).tolist()


class _SizeTable:
    """Sizes, what their offsets are multiples of, and how many such offsets have room in a span."""

    __slots__ = ("_columns", "_reached")

    def __init__(self, shares: Mapping[int, float], span: int, align: int | None) -> None:
        sizes = np.array(list(shares), dtype=np.int64)
        steps = sizes if align is None else np.full_like(sizes, align)
        self._columns = (sizes, steps, (span - sizes) // steps + 1)
        self._reached = np.cumsum(list(shares.values()))[:-1]

    def pick(self, uniform: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Size, step and number of offsets for each of `uniform`."""
        index = np.searchsorted(self._reached, uniform, side="right")
        size, step, slots = (column[index] for column in self._columns)
        return size, step, slots


def _in_order(drawn: Iterator[Io], start: int, span: int) -> Iterator[Io]:
    """The same directions and sizes, each where the one before has ended."""
    offset, end = start, start + span
    for op, _, size in drawn:
        if offset + size > end:
            offset = start
        yield op, offset, size
        offset += size


def _in_runs(drawn: Iterator[Io], lengths: Iterator[int], start: int, span: int) -> Iterator[Io]:
    """Each of the I/Os, followed by the rest of its run."""
    end = start + span
    for (op, offset, size), length in zip(drawn, lengths, strict=False):
        yield op, offset, size
        for _ in range(length - 1):
            offset += size
            if offset + size > end:
                offset = start
            yield op, offset, size
