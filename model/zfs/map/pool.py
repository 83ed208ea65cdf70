"""The map of a whole pool: several top-level vdevs, and what each is for.

Members are numbered through the pool, in the order of its vdevs.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import ModelError
from .mirror import Mirror
from .vdev import Piece, Vdev

NORMAL, SPECIAL, LOG = "normal", "special", "log"
"""What a vdev is for: data, metadata and small blocks, the intent log."""


class PoolMap:
    """Top-level vdevs by number.

    Parameters
    ----------
    vdevs
        The vdevs; a block pointer names one by its place in this list.
    roles
        What each is for: "normal", "special" or "log"; all are normal if this is empty.

    Attributes
    ----------
    first
        The pool's number of each vdev's first member.
    members
        Members of the pool.
    """

    def __init__(self, vdevs: Sequence[Vdev], roles: Sequence[str] = ()) -> None:
        self.vdevs = list(vdevs)
        self.roles = list(roles) or [NORMAL] * len(self.vdevs)
        if len(self.roles) != len(self.vdevs):
            raise ModelError("a pool needs one role for each vdev")
        self.first: list[int] = []
        self.members = 0
        for vdev in self.vdevs:
            self.first.append(self.members)
            self.members += vdev.members

    def of_role(self, role: str) -> list[int]:
        """Numbers of the vdevs that are for `role`."""
        return [number for number, each in enumerate(self.roles) if each == role]

    @property
    def computed_parity(self) -> int:
        """Parity columns of a block that are computed; a mirror's copies are not."""
        return max([0 if isinstance(vdev, Mirror) else vdev.parity for vdev in self.vdevs])

    def role(self, psize: int, small_blocks: int) -> str:
        """Role of the vdevs that a block of data goes to; metadata are small blocks of any size.

        Parameters
        ----------
        psize
            Its physical size in bytes.
        small_blocks
            The dataset's special_small_blocks.
        """
        return SPECIAL if psize <= small_blocks and SPECIAL in self.roles else NORMAL

    def leaves(self, vdev: int) -> list[int]:
        """The members of a vdev."""
        return list(range(self.first[vdev], self.first[vdev] + self.vdevs[vdev].members))

    def reads(self, vdev: int, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """What is read for a block; see :meth:`Vdev.reads`."""
        return self._numbered(vdev, self.vdevs[vdev].reads(offset, psize, self._lost(vdev, lost)))

    def writes(self, vdev: int, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """What is written for a block; see :meth:`Vdev.writes`."""
        return self._numbered(vdev, self.vdevs[vdev].writes(offset, psize, self._lost(vdev, lost)))

    def scrubs(self, vdev: int, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """What a scrub reads of a block; see :meth:`Vdev.scrubs`."""
        return self._numbered(vdev, self.vdevs[vdev].scrubs(offset, psize, self._lost(vdev, lost)))

    def _lost(self, vdev: int, lost: frozenset[int]) -> frozenset[int]:
        if not lost:
            return lost
        first = self.first[vdev]
        return frozenset([member - first for member in lost if 0 <= member - first < self.vdevs[vdev].members])

    def _numbered(self, vdev: int, pieces: list[Piece]) -> list[Piece]:
        first = self.first[vdev]
        if not first:
            return pieces
        return [Piece(piece.member + first, piece.sector, piece.sectors, piece.kind) for piece in pieces]
