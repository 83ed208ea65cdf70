"""Which pieces of a trace's devices are touched, and how often, in bounded memory.

All pieces are counted until there are too many; then only those whose hash is even are kept, then every fourth, and so
on, so the memory stays bounded and the number times 2, 4 ... is an unbiased estimate (adaptive sampling: Flajolet, "On
adaptive sampling", Computing 34, 1990; its relative error with m pieces kept is about 1.2 / sqrt(m)).
"""

from __future__ import annotations

PIECE = 1 << 20
"""Bytes."""
MOST = 1 << 17
"""Pieces that are kept."""

_MIX = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


class TouchedPieces:
    """Pieces of 1 MiB with how many I/Os begin a run or stand alone in them.

    Parameters
    ----------
    most
        How many are kept.
    """

    __slots__ = ("_counts", "_mask", "_most", "_turn")

    def __init__(self, most: int = MOST) -> None:
        self._counts: dict[tuple[int, int], list[int]] = {}
        self._mask = 0
        self._most = most
        self._turn = 0

    def add(self, device: int, offset: int, size: int, counted: bool) -> None:
        """Note an I/O on device number `device`; it is `counted` unless it goes on where the one before has ended."""
        first = offset // PIECE
        if counted:
            self._turn ^= 1
        for piece in range(first, (offset + size - 1) // PIECE + 1):
            key = (device, piece)
            kept = self._counts.get(key)
            if kept is None:
                if self._mask and _hash(key) & self._mask:
                    continue
                kept = self._counts[key] = [0, 0]
                if len(self._counts) > self._most:
                    self._thin_out()
            if counted and piece == first:
                kept[self._turn] += 1

    @property
    def number(self) -> int:
        """How many pieces are touched."""
        return len(self._counts) * (self._mask + 1)

    @property
    def exact(self) -> bool:
        """Whether all of them are kept."""
        return not self._mask

    def hot_part(self, pieces: int) -> tuple[float, float]:
        """The part of all `pieces` in which I/Os are densest: its share of the I/Os, and of the pieces.

        One half of the I/Os (every other) says which pieces are popular, the other half how popular they are; so
        I/Os that are scattered at random are not taken for a preference. The part ends where its share of the I/Os
        is farthest above its share of the pieces.
        """
        total = sum(counts[1] for counts in self._counts.values())
        everything = max(pieces / (self._mask + 1), len(self._counts))
        reached, number, best = 0, 0, (0.0, 0.0)
        if not total:
            return best
        groups: dict[int, list[int]] = {}
        for popularity, tested in self._counts.values():
            group = groups.setdefault(popularity, [0, 0])
            group[0] += 1
            group[1] += tested
        # Pieces of one popularity cannot be told apart, so they come in or stay out together; those without any are
        # all the rest, also what nobody has touched.
        for popularity in sorted(groups.keys() - {0}, reverse=True):
            number += groups[popularity][0]
            reached += groups[popularity][1]
            share, of = reached / total, number / everything
            if share - of > best[0] - best[1]:
                best = (share, of)
        return best

    def _thin_out(self) -> None:
        while len(self._counts) > self._most:
            self._mask = 2 * self._mask + 1
            self._counts = {key: counts for key, counts in self._counts.items() if not _hash(key) & self._mask}


def _hash(key: tuple[int, int]) -> int:
    mixed = ((key[0] << 44) + key[1] + 1) * _MIX & _WORD
    mixed = (mixed ^ mixed >> 29) * _MIX & _WORD
    return mixed >> 20
