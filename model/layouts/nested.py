"""RAID 50, 60, 01, and RAID 10 as controllers do it: a layout whose members are layouts.

RAID 50 and 60 stripe over parity arrays, a controller's RAID 10 stripes over mirrors, RAID 01 mirrors stripes.
Members are numbered group by group: with two groups of three, members 3 to 5 are the second group.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ..core.errors import ModelError
from .layout import Copies, CopyPlace, Extent, Layout
from .levels import Level
from .mirrored import MirroredLayout
from .striped import StripedLayout

STRIPED_MIRRORS = "striped-mirrors"
"""The algorithm of RAID 10 that is a stripe over mirrors, as controllers have it."""


class NestedLayout(Layout):
    """One layout over others.

    Parameters
    ----------
    level
        Name of the combination ("raid50").
    outer
        The layout whose member g is the array `groups[g]`.
    groups
        The layouts of the groups. Where `outer` mirrors, they must be alike.
    algorithm
        The variant, if there is more than one.
    """

    __slots__ = ("_first", "groups", "outer")

    def __init__(self, level: str, outer: Layout, groups: Sequence[Layout], algorithm: str | None = None) -> None:
        member_bytes = [size for group in groups for size in group.member_bytes]
        chunk_bytes = groups[0].chunk_bytes or outer.chunk_bytes
        super().__init__(level, algorithm, chunk_bytes, member_bytes, outer.capacity)
        self.outer = outer
        self.groups = tuple(groups)
        self._first = [0, *accumulate(group.members for group in groups)]

    def place(self, member: int) -> tuple[int, int]:
        """Return the group of a member and its number inside that group."""
        for group in range(len(self.groups)):
            if member < self._first[group + 1]:
                return group, member - self._first[group]
        raise ModelError(f"{self!r} has no member {member}")

    def tolerates(self, lost: frozenset[int]) -> bool:
        failed = []
        for group, (layout, first) in enumerate(zip(self.groups, self._first, strict=False)):
            inside = frozenset([member - first for member in lost if first <= member < first + layout.members])
            if not layout.tolerates(inside):
                failed.append(group)
        return self.outer.tolerates(frozenset(failed))

    @property
    def survives(self) -> int:
        weakest = min(group.survives for group in self.groups)
        return (self.outer.survives + 1) * (weakest + 1) - 1

    def extents(self, offset: int, size: int) -> list[Extent]:
        groups, first = self.groups, self._first
        return [
            (first[group] + member, at, piece, logical - start + outer_logical)
            for group, start, length, outer_logical in self.outer.extents(offset, size)
            for member, at, piece, logical in groups[group].extents(start, length)
        ]

    def copies(self, offset: int, size: int) -> list[Copies]:
        pieces = []
        for outer_logical, length, places in self.outer.copies(offset, size):
            per_group = [self.groups[group].copies(start, length) for group, start in places]
            start = places[0][1]
            for parts in zip(*per_group, strict=True):
                logical, piece, _ = parts[0]
                where = tuple(
                    [
                        (self._first[group] + member, at)
                        for (group, _), (_, _, inner) in zip(places, parts, strict=True)
                        for member, at in inner
                    ]
                )
                pieces.append((logical - start + outer_logical, piece, where))
        return pieces

    def map_chunk(self, chunk: int) -> CopyPlace:
        return self.map_copies(chunk)[0]

    def map_copies(self, chunk: int) -> tuple[CopyPlace, ...]:
        length = self.chunk_bytes
        _, _, places = self.copies(chunk * length, length)[0]
        return tuple([(member, at // length) for member, at in places])


def striped_parity(
    level: Level,
    inner: type[Layout],
    member_bytes: Sequence[int],
    chunk_bytes: int,
    algorithm: str,
    groups: int,
    outer_chunk_bytes: int | None = None,
) -> NestedLayout:
    """Return RAID 50 or 60: a stripe over `groups` parity arrays of equal width.

    Parameters
    ----------
    level
        RAID 50 or RAID 60, or another level whose groups have parity.
    inner
        The class that builds the algorithm of the groups.
    outer_chunk_bytes
        Bytes in one group before the next is used: a full stripe of the group unless given (controllers and DDF
        fill a row of one group first; md over md has a chunk size of its own).
    """
    split = [tuple(part) for part in _split(member_bytes, groups)]
    made = {part: inner.made(level.inner, part, chunk_bytes, algorithm, 1) for part in set(split)}
    parts = [made[part] for part in split]
    row = (parts[0].members - parts[0].survives) * chunk_bytes
    outer = StripedLayout([part.capacity for part in parts], outer_chunk_bytes or row)
    return NestedLayout(level.name, outer, parts, algorithm)


def striped_mirrors(member_bytes: Sequence[int], chunk_bytes: int, copies: int) -> NestedLayout:
    """Return RAID 10 of a controller: a stripe over mirrors of `copies` members each."""
    parts = [MirroredLayout(part) for part in _split(member_bytes, len(member_bytes) // copies)]
    outer = StripedLayout([part.capacity for part in parts], chunk_bytes)
    return NestedLayout("raid10", outer, parts, STRIPED_MIRRORS)


def mirrored_stripes(level: Level, member_bytes: Sequence[int], chunk_bytes: int, groups: int) -> NestedLayout:
    """Return RAID 01: a mirror of `groups` stripes."""
    parts = [StripedLayout(part, chunk_bytes) for part in _split(member_bytes, groups)]
    return NestedLayout(level.name, MirroredLayout([part.capacity for part in parts]), parts)


def _split(member_bytes: Sequence[int], groups: int) -> list[Sequence[int]]:
    width = len(member_bytes) // groups
    return [member_bytes[start : start + width] for start in range(0, groups * width, width)]
