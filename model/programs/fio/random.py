"""fio's random numbers: its generators, the seeds it derives for each job, and its skewed distributions.

Facts from fio 3.33: lib/rand.c, lib/zipf.c, hash.h, init.c (setup_random_seeds), filesetup.c (init_rand_distribution).
"""

from __future__ import annotations

import math
from enum import IntEnum
from functools import lru_cache
from typing import ClassVar

import numpy as np

_MASK32 = 0xFFFFFFFF
_MASK64 = 0xFFFFFFFFFFFFFFFF
_START = (2 ^ 31) + (2 ^ 17) + (2 ^ 7)
"""C's ``^`` is no power: this is 53."""
_CRANKS = 6
_SEED_STEP = 0x9E370001
_OFFSET_SEED = 0xB1899BED
_HASH_FACTOR = 0x61C8864680B583EB
_HASH_START = 0x61C88647
_ZIPF_TERMS = 10_000_000
_TERMS_AT_ONCE = 1 << 18

DEFAULT_RANDSEED = 0x89
"""``randseed`` unless a job says another."""


class Seed(IntEnum):
    """Which of a job's seeds a generator takes (fio.h)."""

    READ_SIZE = 0
    WRITE_SIZE = 1
    TRIM_SIZE = 2
    DIRECTION = 4
    FILE = 5
    OFFSET = 6
    FILE_SIZE = 7
    SEQUENTIAL = 10
    START_DELAY = 13
    POISSON_READ = 15
    ZONE = 16
    POISSON_WRITE = 17
    POISSON_TRIM = 18


_SEEDS = max(Seed) + 1


def job_seeds(randseed: int, thread_number: int, repeat: bool = True, all_repeat: bool = False) -> list[int]:
    """The seeds of a job, indexed by :class:`Seed`.

    With `repeat` (``randrepeat``, the default) the offsets of the n-th job are the same whatever ``randseed`` is, and
    with `all_repeat` (``allrandrepeat``) all other numbers are, too.
    """
    if all_repeat:
        return [
            _OFFSET_SEED * thread_number + (0 if repeat and index == Seed.OFFSET else index) & _MASK64
            for index in range(_SEEDS)
        ]
    seed = randseed
    for _ in range(4):
        seed = seed * _SEED_STEP & _MASK64
    seeds = []
    for index in range(_SEEDS):
        seeds.append(seed * thread_number + index & _MASK64)
        seed = seed * _SEED_STEP & _MASK64
    if repeat:
        seeds[Seed.OFFSET] = _OFFSET_SEED * thread_number & _MASK64
    return seeds


class Tausworthe:
    """L'Ecuyer's combined Tausworthe generator of 32-bit numbers ("taus88"), fio's default."""

    __slots__ = ("_s1", "_s2", "_s3")

    span: ClassVar[float] = 2.0**32

    def __init__(self, seed: int) -> None:
        seed &= _MASK32
        self._s1 = _at_least(_START * 69069 & _MASK32 ^ seed, 1)
        self._s2 = _at_least(self._s1 * 69069 & _MASK32 ^ seed, 7)
        self._s3 = _at_least(self._s2 * 69069 & _MASK32 ^ seed, 15)
        for _ in range(_CRANKS):
            self.draw()

    def draw(self) -> int:
        """The next number, 0 to 2^32 - 1."""
        s1, s2, s3 = self._s1, self._s2, self._s3
        s1 = self._s1 = (s1 & 0xFFFFFFFE) << 12 & _MASK32 ^ (s1 << 13 & _MASK32 ^ s1) >> 19
        s2 = self._s2 = (s2 & 0xFFFFFFF8) << 4 & _MASK32 ^ (s2 << 2 & _MASK32 ^ s2) >> 25
        s3 = self._s3 = (s3 & 0xFFFFFFF0) << 17 & _MASK32 ^ (s3 << 3 & _MASK32 ^ s3) >> 11
        return s1 ^ s2 ^ s3

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1."""
        return int(limit * (self.draw() / self.span))

    def percent(self) -> int:
        """A number from 1 to 100."""
        return 1 + self.below(100)


class Tausworthe64:
    """The five-part generator of 64-bit numbers ("taus258"), ``random_generator=tausworthe64``."""

    __slots__ = ("_parts",)

    span: ClassVar[float] = 2.0**64
    _SHIFTS = (
        (1, 53, 0xFFFFFFFFFFFFFFFE, 10),
        (24, 50, 0xFFFFFFFFFFFFFE00, 5),
        (3, 23, 0xFFFFFFFFFFFFF000, 29),
        (5, 24, 0xFFFFFFFFFFFE0000, 23),
        (3, 33, 0xFFFFFFFFFF800000, 8),
    )

    def __init__(self, seed: int) -> None:
        self._parts: list[int] = []
        value = _START
        for least in (1, 7, 15, 33, 49):
            value = _at_least(value * 6906969069 & _MASK64 ^ seed, least)
            self._parts.append(value)
        for _ in range(_CRANKS):
            self.draw()

    def draw(self) -> int:
        """The next number, 0 to 2^64 - 1."""
        result = 0
        for index, (left, right, mask, up) in enumerate(self._SHIFTS):
            part = self._parts[index]
            part = (part & mask) << up & _MASK64 ^ (part << left & _MASK64 ^ part) >> right
            self._parts[index] = part
            result ^= part
        return result

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1."""
        return int(limit * (self.draw() / self.span))


Generator = Tausworthe | Tausworthe64


class Zipf:
    """Blocks by Zipf's law: the k-th most popular of `blocks` is hit in proportion to 1 / k^theta.

    The ranks are scattered over the file by a hash, so that the popular blocks do not lie together.

    Parameters
    ----------
    blocks
        Number of them.
    theta
        Exponent; not 1.
    seed
        See :func:`file_seed`.
    center
        Where the most popular block is (0 to 1); drawn unless given.
    """

    __slots__ = ("_alpha", "_blocks", "_eta", "_random", "_second", "_shift", "_zeta")

    def __init__(self, blocks: int, theta: float, seed: int, center: float | None = None) -> None:
        self._blocks = blocks
        self._random = Tausworthe(seed)
        drawn = self._random.draw()
        self._shift = drawn if center is None else int(blocks * center)
        zeta = self._zeta = _zeta(min(blocks, _ZIPF_TERMS), theta)
        self._second = 1.0 + 0.5**theta
        self._alpha = 1.0 / (1.0 - theta)
        self._eta = (1.0 - (2.0 / blocks) ** (1.0 - theta)) / (1.0 - self._second / zeta)

    def draw(self) -> int:
        """The next block."""
        uniform = self._random.draw() / _MASK32
        scaled = uniform * self._zeta
        if scaled < 1.0:
            rank = 0
        elif scaled < self._second:
            rank = 1
        else:
            rank = int(self._blocks * (self._eta * uniform - self._eta + 1.0) ** self._alpha)
        return _scattered(rank, self._shift, self._blocks)


@lru_cache(maxsize=16)
def _zeta(terms: int, theta: float) -> float:
    """The sum of 1 / k^theta over `terms` terms, added one after the other as fio does."""
    total = 0.0
    for start in range(1, terms + 1, _TERMS_AT_ONCE):
        parts = (1.0 / np.arange(start, min(terms + 1, start + _TERMS_AT_ONCE), dtype=np.float64)) ** theta
        parts[0] += total
        total = float(np.cumsum(parts)[-1])
    return total


class Pareto:
    """Blocks by Pareto's law: a share 1 - h of the accesses goes to a share h of the blocks, which a hash scatters."""

    __slots__ = ("_blocks", "_power", "_random", "_shift")

    def __init__(self, blocks: int, h: float, seed: int, center: float | None = None) -> None:
        self._blocks = blocks
        self._random = Tausworthe(seed)
        drawn = self._random.draw()
        self._shift = drawn if center is None else int(blocks * center)
        self._power = math.log(h) / math.log(1.0 - h)

    def draw(self) -> int:
        """The next block."""
        uniform = self._random.draw() / _MASK32
        return _scattered(int((self._blocks - 1) * uniform**self._power), self._shift, self._blocks)


class Normal:
    """Blocks by the normal distribution: the mean of 12 uniform numbers, moved within the deviation, and hashed."""

    __slots__ = ("_blocks", "_deviation", "_random", "_shift")

    _NUMBERS = 12

    def __init__(self, blocks: int, deviation: float, seed: int, center: float | None = None) -> None:
        self._blocks = blocks
        self._random = Tausworthe(seed)
        self._deviation = min(math.ceil(blocks * deviation / 100.0), blocks // 2)
        self._shift = 0 if center is None else int(blocks * (center - 0.5))

    def draw(self) -> int:
        """The next block."""
        random, blocks, numbers = self._random, self._blocks, self._NUMBERS
        total = sum(random.draw() % (blocks + 1) for _ in range(numbers))
        place = (total + numbers - 1) // numbers
        if self._deviation:
            moved = int(self._deviation * (random.draw() / random.span)) - self._deviation // 2
            while not 0 <= moved + place < blocks:
                moved = int(moved / 2)
            place += moved
        return ((place * _HASH_FACTOR & _MASK64) + self._shift & _MASK64) % blocks


def file_seed(name: str, thread_number: int) -> int:
    """The seed of a skewed distribution over a file: Jenkins' hash of its name times the number of the job.

    A job with a ``randseed`` takes its seed of offsets instead.
    """
    return _jenkins(name.encode()) * thread_number & _MASK32


def _at_least(value: int, least: int) -> int:
    return value + least if value < least else value


def _scattered(rank: int, shift: int, blocks: int) -> int:
    return ((rank * _HASH_FACTOR & _MASK64) + shift & _MASK64) % blocks


def _rotated(value: int, by: int) -> int:
    return value << by & _MASK32 | value >> 32 - by


def _jenkins(key: bytes) -> int:
    """Jenkins' lookup3 hash as fio has it: of all but the last 12 bytes it takes every fourth."""
    length = len(key)
    a = b = c = _HASH_START + length & _MASK32
    at = 0
    while length - at > 12:
        a, b, c = (word + key[at + 4 * index] & _MASK32 for index, word in enumerate((a, b, c)))
        for by in (4, 6, 8, 16, 19, 4):
            a, b, c = b, c + b & _MASK32, a - c & _MASK32 ^ _rotated(c, by)
        at += 12
    rest = key[at:].ljust(12, b"\0")
    a, b, c = (
        word + int.from_bytes(rest[4 * index : 4 * index + 4], "little") & _MASK32
        for index, word in enumerate((a, b, c))
    )
    target, source, other = c, b, a
    for by in (14, 11, 25, 16, 4, 14, 24):
        target = (target ^ source) - _rotated(source, by) & _MASK32
        target, source, other = other, target, source
    return source
