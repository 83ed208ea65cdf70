"""Blocks that the ARC holds from before the run and that nobody has asked for since.

The ARC of a large machine holds millions of blocks, of which a run asks for some thousands. So they are no objects:
whether one is there, and in which list, follows from how likely a block of its kind is there and from a number that
belongs to the block. They are older than all that the run has used, and are evicted first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from mypy_extensions import i64

from .buffers import GHOST, MFU, MRU, BufferList
from .visits import VisitedFile

_PRIME: Final = 2147483647
_FIRST: Final = 1103515245
_SECOND: Final = 1664525
_PAGE_SHIFT: Final = 15
"""Binary logarithm of the blocks of which it is noted together that the run has used them."""


class Shares:
    """How likely blocks of one kind are in the ARC.

    Attributes
    ----------
    held, ghost
        Share of the blocks that are in memory, and of those that the ghost lists know.
    held_recent, ghost_recent
        Share of these that belong to the recently used ones.
    second
        Share of the others that the second level holds.
    """

    __slots__ = ("ghost", "ghost_recent", "held", "held_recent", "second")

    def __init__(self, held: float, held_recent: float, ghost: float, ghost_recent: float, second: float = 0.0) -> None:
        self.held, self.held_recent = held, held_recent
        self.ghost, self.ghost_recent = ghost, ghost_recent
        self.second = second


class SettledFile:
    """The blocks of one volume or file.

    Parameters
    ----------
    file
        It, with its loads.
    shares
        By the kind of block.
    """

    __slots__ = ("_file", "_groups", "_shares", "_used", "psize")

    def __init__(self, file: VisitedFile, shares: Mapping[int, Shares]) -> None:
        self._file = file
        self._shares = dict(shares)
        self._used: dict[int, bytearray] = {}
        self._groups = _groups(file)
        self.psize: i64 = file.psize

    def first_use(self, block: i64) -> bool:
        """Whether the run has not used a block yet; now it has."""
        number = block >> _PAGE_SHIFT
        bit = block & ((1 << _PAGE_SHIFT) - 1)
        page = self._used.get(number)
        if page is None:
            page = self._used[number] = bytearray(1 << (_PAGE_SHIFT - 3))
        mask = 1 << (bit & 7)
        if page[bit >> 3] & mask:
            return False
        page[bit >> 3] |= mask
        return True

    def is_used(self, block: i64) -> bool:
        """Whether the run has used a block."""
        page = self._used.get(block >> _PAGE_SHIFT)
        bit = block & ((1 << _PAGE_SHIFT) - 1)
        return page is not None and bool(page[bit >> 3] & (1 << (bit & 7)))

    def position(self, block: i64) -> tuple[int, float]:
        """The list (MRU, MFU) that held a block when the run began, and where: 0 newest, 1 first ghost, 2 nowhere."""
        shares = self._shares.get(self._file.kind(block))
        if shares is None:
            return MRU, 2.0
        age = self._age(block)
        if age < shares.held:
            return MRU if uniform(block, 99) < shares.held_recent else MFU, age / shares.held
        age -= shares.held
        if age < shares.ghost:
            return MRU if uniform(block, 99) < shares.ghost_recent else MFU, 1.0 + age / shares.ghost
        return MRU, 2.0

    def second(self, block: i64, left: float) -> bool:
        """Whether the second level holds a block, when `left` (0 to 1) is left of what it held at the beginning."""
        shares = self._shares.get(self._file.kind(block))
        return shares is not None and uniform(block, 98) < shares.second * left

    def _age(self, block: i64) -> float:
        """When a block was last asked for, as a share of all blocks of its kind; neighbors by one I/O of both."""
        groups = self._groups
        if len(groups) == 1:
            return uniform(block // groups[0][0], 0)
        least = 1e9
        for number, (blocks, share) in enumerate(groups):
            least = min(least, -math.log(1.0 - uniform(block // blocks, number)) / share)
        return 1.0 - math.exp(-least)


def _groups(file: VisitedFile) -> list[tuple[int, float]]:
    """Blocks that one I/O asks for, and the share of the visits by I/Os of that size."""
    found: dict[int, float] = {}
    for visits in file.random:
        for size, share in visits.sizes:
            blocks = max(1, size // file.block_bytes)
            found[blocks] = found.get(blocks, 0.0) + visits.weight * share
    whole = math.fsum(found.values())
    return [(blocks, share / whole) for blocks, share in sorted(found.items())] or [(1, 1.0)]


def uniform(number: i64, salt: i64) -> float:
    """A number from 0 to below 1 that belongs to another."""
    mixed = ((number ^ (number >> 29)) + 1 + salt * 7919) % _PRIME
    for _ in range(2):
        mixed = mixed * _FIRST % _PRIME
        mixed = (mixed ^ (mixed >> 13)) * _SECOND % _PRIME
        mixed = mixed ^ (mixed >> 11)
    return float(mixed) / float(1 << 31)


class Settled:
    """The settled blocks of an ARC.

    Parameters
    ----------
    lists
        The ARC's, whose sizes count the settled blocks too.
    files
        By the number of the dataset.
    sizes
        Bytes of settled blocks in MRU, MFU and the ghosts of both.
    mean_size
        Of a block (bytes).

    Attributes
    ----------
    held
        Bytes of the blocks that are in memory.
    """

    __slots__ = ("_edges", "_files", "_left", "_lists", "mean_size")

    def __init__(
        self, lists: list[BufferList], files: Mapping[int, SettledFile], sizes: Sequence[int], mean_size: int
    ) -> None:
        self.mean_size: i64 = mean_size
        self._lists = lists
        self._files = dict(files)
        # By list: bytes that are left, and behind which position blocks are evicted.
        self._left = [0] * (GHOST + GHOST)
        self._edges = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
        for place, size in zip((MRU, MFU, GHOST + MRU, GHOST + MFU), sizes, strict=True):
            self._left[place] = size
            lists[place].size += size

    @property
    def held(self) -> i64:
        """See the class."""
        return self._left[MRU] + self._left[MFU]

    def place(self, number: i64, block: i64) -> i64:
        """The list that holds a block, -1 if none does."""
        file = self._files.get(number)
        return -1 if file is None or file.is_used(block) else self._list_of(file, block)

    def take(self, number: i64, block: i64) -> i64:
        """Take a block out of the list that holds it and return the list, -1 if none does."""
        file = self._files.get(number)
        if file is None or not file.first_use(block):
            return -1
        place = self._list_of(file, block)
        if place >= 0:
            size = min(self._left[place], file.psize)
            self._left[place] -= size
            self._lists[place].size -= size
        return place

    def size(self, number: i64) -> i64:
        """Bytes of a block of a dataset that :meth:`take` has found."""
        return self._files[number].psize

    def left(self, place: i64) -> i64:
        """Bytes of a list that are settled."""
        return self._left[place]

    def in_second(self, number: i64, block: i64, left: float) -> bool:
        """Whether the second level holds a block; see :meth:`SettledFile.second`."""
        file = self._files.get(number)
        return file is not None and file.second(block, left)

    def evict(self, place: i64, size: i64) -> i64:
        """Move the oldest blocks of MRU or MFU, up to `size` bytes, to its ghosts; returns their bytes."""
        got = self._drop(place, size)
        self._left[GHOST + place] += got
        self._lists[GHOST + place].size += got
        return got

    def forget(self, place: i64, size: i64) -> None:
        """Forget the oldest ghosts of a list, up to `size` bytes."""
        self._drop(place, size)

    def _list_of(self, file: SettledFile, block: i64) -> i64:
        column, position = file.position(block)
        if position < self._edges[column]:
            return column
        return GHOST + column if position < self._edges[GHOST + column] else -1

    def _drop(self, place: i64, size: i64) -> i64:
        left = self._left[place]
        if left <= 0:
            return 0
        got = min(size, left)
        start = self._edges[place - GHOST] if place >= GHOST else 0.0
        self._edges[place] -= (self._edges[place] - start) * float(got) / float(left)
        self._left[place] = left - got
        self._lists[place].size -= got
        return got
