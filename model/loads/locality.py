"""Which places random I/Os prefer (locality): everywhere alike, by popularity, hot and cold, around one place.

A place is drawn as a share of the span, 0 to below 1, whatever the span is: the same random numbers give two arrays
of different sizes the same relative places, but for Zipf's law, whose popularity depends on the number of blocks.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ModelError

_HEAD = 1024
"""Ranks that are summed one by one; beyond, Zipf's law differs from its integral by less than 2e-6 of itself."""
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_PIECES = 1024
"""Pieces that a scattered hot part is in."""
_PIECE_SLOTS = 16
"""I/Os that have room in the smaller part of a piece, at least."""
_REFLECTIONS = 3
_LEAST_DEVIATION = 1e-12
"""Reflections on each side that count, and a deviation below which all places are one."""
_MOST_LOOKED_AT = 64
"""Blocks of Zipf's law whose popularity is averaged, at most."""
_MOST_FACTOR = 3_000_000_000
"""Below this the product of two block numbers fits 63 bits."""


class Places:
    """How places are drawn."""

    __slots__ = ()

    def numbers(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """The random numbers of the next `count` places, along the last axis."""
        raise NotImplementedError

    def of(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The places of some of these numbers, as shares of the span."""
        raise NotImplementedError

    def draw(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """The next `count` places as shares of the span."""
        return self.of(self.numbers(random, count))

    def popularity(self, place: float, width: float) -> float:
        """How often the part of the span from `place` on is hit, over how often it is if every place is as likely."""
        raise NotImplementedError


class Uniform(Places):
    """Every place is as likely."""

    __slots__ = ()

    def numbers(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """See :meth:`Places.numbers`."""
        return random.random(count)

    def of(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :meth:`Places.of`."""
        return numbers

    def popularity(self, place: float, width: float) -> float:
        """See :meth:`Places.popularity`."""
        return 1.0


class Hot(Places):
    """A part of the span gets more of the I/Os than its size, and within each part every place is as likely.

    Parameters
    ----------
    share
        Share of the I/Os that go to the hot part.
    of
        Share of the span that is hot, above 0 and below 1.
    slots
        I/Os that have room in the span.
    clustered
        Whether the hot part is the beginning of the span; otherwise it is cut into equal pieces at equal distances,
        1,024 unless the span is too small for them.
    """

    __slots__ = ("_of", "_pieces", "_share")

    def __init__(self, share: float, of: float, slots: int, clustered: bool = False) -> None:
        if not (0 <= share <= 1 and 0 < of < 1):
            raise ModelError(f"{share} of the I/Os to {of} of the span; 0 to 1, and a part of the span")
        self._share = share
        self._of = of
        room = int(min(of, 1.0 - of) * slots / _PIECE_SLOTS)
        self._pieces = 1 if clustered else max(1, min(_PIECES, room))

    def numbers(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """See :meth:`Places.numbers`."""
        return random.random((2, count))

    def of(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :meth:`Places.of`."""
        kind, place = numbers
        whole = np.floor(place * self._pieces)
        inside = place * self._pieces - whole
        inside = np.where(kind < self._share, inside * self._of, self._of + inside * (1.0 - self._of))
        return _below_one((whole + inside) / self._pieces)

    def popularity(self, place: float, width: float) -> float:
        """See :meth:`Places.popularity`; that of the middle."""
        middle = (place + width / 2) * self._pieces
        if middle - math.floor(middle) < self._of:
            return self._share / self._of
        return (1.0 - self._share) / (1.0 - self._of)


class Normal(Places):
    """Places around one of them by the normal distribution; the ends of the span reflect what falls beyond them.

    Parameters
    ----------
    around, deviation
        Mean and standard deviation before the reflection, as shares of the span.
    """

    __slots__ = ("_around", "_deviation")

    def __init__(self, around: float, deviation: float) -> None:
        self._around = around
        self._deviation = deviation

    def numbers(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """See :meth:`Places.numbers`."""
        return random.standard_normal(count)

    def of(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :meth:`Places.of`."""
        place = np.mod(self._around + self._deviation * numbers, 2.0)
        return _below_one(np.where(place > 1.0, 2.0 - place, place))

    def popularity(self, place: float, width: float) -> float:
        """See :meth:`Places.popularity`."""
        end, found = place + width, 0.0
        for turn in range(-2 * _REFLECTIONS, 2 * _REFLECTIONS + 1, 2):
            found += self._below(turn + end) - self._below(turn + place)
            found += self._below(turn - place) - self._below(turn - end)
        return found / width

    def _below(self, place: float) -> float:
        """Share of the places below one, before the reflection."""
        return 0.5 * math.erfc((self._around - place) / (math.sqrt(2.0) * max(self._deviation, _LEAST_DEVIATION)))


class Zipf(Places):
    """Blocks by Zipf's law: the k-th most popular is hit in proportion to 1 / k^theta, anywhere inside alike.

    The law is inverted, one random number for each block. The first 1,024 ranks are summed; beyond them the sum is
    the integral of x^-theta from half a rank below to half a rank above, the hat function of Hormann and Derflinger
    ("Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS 6, 1996), which
    there is so close that nothing has to be rejected. No table of all blocks, and any theta, also 1, which the
    formula of fio and of Gray et al. ("Quickly generating billion-record synthetic databases", SIGMOD 1994) excludes.

    Rank r lies on block (m r + c) mod n, with m next to n times the golden section and without a common factor, so
    every block has one rank (fio and Knuth, volume 3, section 6.4, scatter by the same factor). Neighboring ranks
    are far apart, and the popular blocks lie at about the same shares of a span of any size.

    Parameters
    ----------
    blocks
        Number of them.
    theta
        Exponent, 0 or more.
    clustered
        Whether the most popular block is the first, the next the second, and so on.
    shift
        Where in the span the most popular block lies (0 to 1), if they are scattered.
    """

    __slots__ = ("_blocks", "_clustered", "_factor", "_head", "_head_end", "_inverted", "_power", "_shift", "_total")

    def __init__(self, blocks: int, theta: float, clustered: bool = False, shift: float = 0.0) -> None:
        if blocks < 1 or theta < 0:
            raise ModelError(f"Zipf's law of {blocks} blocks with theta {theta}; at least 1 block, theta from 0 on")
        self._blocks = blocks
        self._clustered = clustered
        self._power = 1.0 - theta
        summed = min(blocks, _HEAD)
        self._head = np.cumsum(np.arange(1, summed + 1, dtype=np.float64) ** -theta)
        self._head_end = self._integral(summed + 0.5)
        self._total = float(self._head[-1]) + self._integral(blocks + 0.5) - self._head_end
        self._factor = _without_common_factor(round(blocks * _GOLDEN), blocks)
        self._inverted = pow(self._factor, -1, blocks) if blocks > 1 else 0
        self._shift = int(shift * blocks)

    def numbers(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """See :meth:`Places.numbers`."""
        return random.random((2, count))

    def of(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :meth:`Places.of`."""
        rank, inside = numbers
        return _below_one((self.blocks(self.ranks(rank)) + inside) / self._blocks)

    def ranks(self, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        """Popularity, from 0 on, at which the distribution function reaches each of `uniform`."""
        aim = uniform * self._total
        found = np.searchsorted(self._head, aim, side="right").astype(np.int64)
        beyond = found >= len(self._head)
        if beyond.any():
            rest = aim[beyond] - self._head[-1] + self._head_end
            found[beyond] = np.floor(self._inverse(rest) - 0.5).astype(np.int64)
        return np.clip(found, 0, self._blocks - 1)

    def blocks(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the blocks of these ranks lie."""
        if self._clustered:
            return ranks
        if self._blocks < _MOST_FACTOR:
            return (ranks * self._factor + self._shift) % self._blocks
        factor, shift, blocks = self._factor, self._shift, self._blocks
        return np.array([(rank * factor + shift) % blocks for rank in ranks.tolist()], dtype=np.int64)

    def popularity(self, place: float, width: float) -> float:
        """See :meth:`Places.popularity`; the mean of the blocks, or of some of many."""
        blocks = self._blocks
        first = min(int(place * blocks), blocks - 1)
        count = max(1, math.ceil((place + width) * blocks - 1e-6) - first)
        looked_at = min(count, _MOST_LOOKED_AT)
        found = 0.0
        for number in range(looked_at):
            found += float(1 + self._rank(min(first + number * count // looked_at, blocks - 1))) ** (self._power - 1.0)
        return found / looked_at * blocks / self._total

    def _rank(self, block: int) -> int:
        """The inverse of :meth:`blocks`."""
        if self._clustered:
            return block
        return (block - self._shift) * self._inverted % self._blocks

    def _integral(self, x: float) -> float:
        """Of x^-theta, from 1 on."""
        return math.expm1(self._power * math.log(x)) / self._power if self._power else math.log(x)

    def _inverse(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of :meth:`_integral`."""
        if not self._power:
            return np.exp(y)
        # Above theta 1 the integral has a limit, which the last rank may reach by rounding.
        inside = np.maximum(y * self._power, np.nextafter(-1.0, 0.0))
        return np.minimum(np.exp(np.log1p(inside) / self._power), self._blocks + 0.5)


def _without_common_factor(near: int, number: int) -> int:
    """The whole number next to `near` that has no factor in common with `number`."""
    for distance in range(number + 1):
        for found in (near + distance, near - distance):
            if found > 0 and math.gcd(found, number) == 1:
                return found
    raise AssertionError(number)  # 1 has none


def _below_one(places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.minimum(places, np.nextafter(1.0, 0.0))
