"""What every layout answers: where the bytes of an array lie on its members.

A layout is arithmetic only: no time, no devices, no state. All addresses are integers in bytes from the
start of the array ("logical") or of the data area of a member.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from mypy_extensions import mypyc_attr

from ..core.errors import ModelError

Extent = tuple[int, int, int, int]
"""Member, member offset, size, logical offset."""

CopyPlace = tuple[int, int]
"""Member and member offset (or member chunk) of one copy."""

Copies = tuple[int, int, tuple[CopyPlace, ...]]
"""Logical offset, size, and the place of every copy, the primary one first."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Layout:
    """The map of one array.

    A subclass whose :attr:`algorithms` names a way to lay out raid0, 4, 5, 6 or 10 is offered under that name by
    :func:`raidsim.model.layouts.layout_for`, wherever in this package it is defined.

    Attributes
    ----------
    algorithms
        The algorithms of each level that the class itself builds, the level's default first.
    level
        "raid5" and the like.
    algorithm
        The variant by md's name ("left-symmetric", "near"); None where the level has only one.
    chunk_bytes
        Consecutive bytes on one member; 0 where the level has no chunks (linear, RAID 1).
    members
        How many members.
    member_bytes
        Size of each member as given; what is beyond the last whole chunk stays unused.
    capacity
        Usable bytes.
    """

    __slots__ = ("algorithm", "capacity", "chunk_bytes", "level", "member_bytes", "members")
    algorithms: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init__(
        self, level: str, algorithm: str | None, chunk_bytes: int, member_bytes: Sequence[int], capacity: int
    ) -> None:
        self.level = level
        self.algorithm = algorithm
        self.chunk_bytes = chunk_bytes
        self.member_bytes = tuple(member_bytes)
        self.members = len(self.member_bytes)
        self.capacity = capacity

    @classmethod
    def made(cls, level: str, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str, copies: int) -> Layout:
        """The layout of one of :attr:`algorithms`; `copies` is 1 but for raid10."""
        raise NotImplementedError(f"{cls.__name__} offers {algorithm} and does not make it")

    @abstractmethod
    def tolerates(self, lost: frozenset[int]) -> bool:
        """Return whether all data are still there when the members `lost` are gone."""

    @property
    @abstractmethod
    def survives(self) -> int:
        """How many members may be lost whichever they are; some layouts tolerate more if the right ones go."""

    @abstractmethod
    def extents(self, offset: int, size: int) -> list[Extent]:
        """Split a range into the pieces that are contiguous on one member.

        Returns
        -------
        list of tuple
            (member, member offset, size, logical offset), in logical order, at most one chunk each. Of
            mirrored data this is the primary copy; see :meth:`copies`.

        Raises
        ------
        ModelError
            If the range is empty or goes beyond the array.
        """

    def copies(self, offset: int, size: int) -> list[Copies]:
        """Split a range like :meth:`extents`, with all the places where each piece lies.

        Returns
        -------
        list of tuple
            (logical offset, size, ((member, member offset), ...)), in logical order; the primary copy
            comes first.
        """
        return [(logical, length, ((member, at),)) for member, at, length, logical in self.extents(offset, size)]

    @abstractmethod
    def map_chunk(self, chunk: int) -> CopyPlace:
        """Return member and member chunk of the primary copy of a logical chunk (unchecked)."""

    def map_copies(self, chunk: int) -> tuple[CopyPlace, ...]:
        """Return member and member chunk of every copy of a logical chunk (unchecked)."""
        return (self.map_chunk(chunk),)

    @property
    def chunks(self) -> int:
        """How many logical chunks there are; 0 where the level has none."""
        return self.capacity // self.chunk_bytes if self.chunk_bytes else 0

    def __repr__(self) -> str:
        variant = f" {self.algorithm}" if self.algorithm else ""
        return f"<{self.level}{variant}, {self.members} members, {self.capacity} bytes>"


def outside(layout: Layout, offset: int, size: int) -> ModelError:
    """Return the error for a range that is empty or beyond the array."""
    return ModelError(f"{layout!r}: {size} bytes at {offset} are not inside the array")
