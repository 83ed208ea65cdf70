"""Random numbers of GNU's C library: ``random()``, which bonnie seeds with the number of its process, and ``rand_r()``.

``random()`` is an additive feedback generator: each word is the sum of those 3 and 31 before it, and its lowest bit is
dropped (stdlib/random_r.c).
"""

from __future__ import annotations

_WORDS = 31
_LAG = 3
_WARM_UP = 310
_MASK32 = 0xFFFFFFFF


class GlibcRandom:
    """A generator of 31-bit numbers, the C library's ``random()``.

    Parameters
    ----------
    seed
        As ``srandom`` (or ``srand``) takes it; 0 counts as 1.
    """

    __slots__ = ("_next", "_state")

    def __init__(self, seed: int) -> None:
        seed &= _MASK32
        value = (seed - (1 << 32) if seed >> 31 else seed) or 1
        state = [value & _MASK32]
        for _ in range(_WORDS - 1):
            value = 16807 * value % 0x7FFFFFFF
            state.append(value)
        self._state = state
        self._next = _LAG
        for _ in range(_WARM_UP):
            self.draw()

    def draw(self) -> int:
        """The next number, 0 to 2^31 - 1."""
        state, at = self._state, self._next
        value = state[at] = state[at] + state[at - _LAG] & _MASK32
        self._next = (at + 1) % _WORDS
        return value >> 1


class GlibcRandR:
    """A generator of 31-bit numbers, the C library's ``rand_r()``, which tiotest uses (stdlib/rand_r.c).

    Parameters
    ----------
    seed
        The 32 bits of its state.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK32

    def draw(self) -> int:
        """The next number, 0 to 2^31 - 1: 11, 10 and 10 bits of three steps of a congruential generator."""
        value = 0
        for bits in (11, 10, 10):
            self._state = self._state * 1103515245 + 12345 & _MASK32
            value = value << bits | (self._state >> 16) & (1 << bits) - 1
        return value
