"""The 64-bit Mersenne Twister MT19937-64 (Nishimura and Matsumoto, 2004), which iozone shuffles its records with."""

from __future__ import annotations

from collections.abc import Sequence

_WORDS = 312
_MIDDLE = 156
_MATRIX = 0xB5026F5AA96619E9
_LOWER = 0x7FFFFFFF
_MASK = 0xFFFFFFFFFFFFFFFF
_UPPER = _MASK ^ _LOWER


class MersenneTwister64:
    """A generator of 64-bit numbers.

    Parameters
    ----------
    key
        What it is seeded with.
    """

    __slots__ = ("_next", "_state")

    def __init__(self, key: Sequence[int]) -> None:
        state = [19650218]
        for index in range(1, _WORDS):
            state.append(6364136223846793005 * (state[-1] ^ state[-1] >> 62) + index & _MASK)
        at = 1
        for step in range(max(_WORDS, len(key))):
            place = step % len(key)
            last = state[at - 1]
            state[at] = (state[at] ^ (last ^ last >> 62) * 3935559000370003845) + key[place] + place & _MASK
            at = _following(state, at)
        for _ in range(_WORDS - 1):
            last = state[at - 1]
            state[at] = (state[at] ^ (last ^ last >> 62) * 2862933555777941757) - at & _MASK
            at = _following(state, at)
        state[0] = 1 << 63
        self._state = state
        self._next = _WORDS

    def draw(self) -> int:
        """The next number, 0 to 2^64 - 1."""
        if self._next == _WORDS:
            self._twist()
            self._next = 0
        value = self._state[self._next]
        self._next += 1
        value ^= value >> 29 & 0x5555555555555555
        value ^= value << 17 & 0x71D67FFFEDA60000
        value ^= value << 37 & 0xFFF7EEE000000000
        return value ^ value >> 43

    def _twist(self) -> None:
        state = self._state
        for index in range(_WORDS):
            mixed = state[index] & _UPPER | state[(index + 1) % _WORDS] & _LOWER
            twisted = mixed >> 1 ^ (_MATRIX if mixed & 1 else 0)
            state[index] = state[(index + _MIDDLE) % _WORDS] ^ twisted


def _following(state: list[int], at: int) -> int:
    if at + 1 < _WORDS:
        return at + 1
    state[0] = state[-1]
    return 1
