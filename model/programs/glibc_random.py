"""The C library's ``random()`` of GNU, which bonnie seeds with the number of the process (stdlib/random_r.c).

It is an additive feedback generator: each word is the sum of those 3 and 31 before it, and its lowest bit is dropped.
"""

from __future__ import annotations

_WORDS = 31
_LAG = 3
_WARM_UP = 310
_MASK32 = 0xFFFFFFFF


class GlibcRandom:
    """A generator of 31-bit numbers.

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
