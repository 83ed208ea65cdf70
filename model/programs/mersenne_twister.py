"""The Mersenne Twister MT19937 with the seeding its authors published in 1998, as PostMark uses it.

The generator itself is numpy's; the seeding of 1998 differs from that of 2002, which numpy has.
"""

from __future__ import annotations

import numpy as np

_WORDS = 624
_MULTIPLIER = 69069
_MASK = 0xFFFFFFFF
_BATCH = 4096


class MersenneTwister:
    """A generator of 32-bit numbers.

    Parameters
    ----------
    seed
        Any number; its low 32 bits count.
    """

    __slots__ = ("_bits", "_next", "_numbers")

    def __init__(self, seed: int) -> None:
        key = np.empty(_WORDS, dtype=np.uint32)
        value = seed & _MASK
        for word in range(_WORDS):
            upper = value & 0xFFFF0000
            value = (_MULTIPLIER * value + 1) & _MASK
            key[word] = upper | value >> 16
            value = (_MULTIPLIER * value + 1) & _MASK
        self._bits = np.random.MT19937(0)
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": _WORDS}}
        self._numbers: list[int] = []
        self._next = 0

    def draw(self) -> int:
        """The next number, 0 to 2^32 - 1."""
        if self._next == len(self._numbers):
            self._numbers = self._bits.random_raw(_BATCH).tolist()
            self._next = 0
        self._next += 1
        return self._numbers[self._next - 1]

    def below(self, limit: int) -> int:
        """A number below `limit`: the next one modulo it; 0, and nothing is drawn, if there is none."""
        return self.draw() % limit if limit > 0 else 0

    def discard(self, count: int) -> None:
        """Skip `count` numbers."""
        held = min(count, len(self._numbers) - self._next)
        self._next += held
        count -= held
        while count:
            part = min(count, 1 << 20)
            self._bits.random_raw(part, output=False)
            count -= part
