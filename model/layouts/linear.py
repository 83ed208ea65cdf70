"""Linear: the members one after the other (md linear, gconcat, JBOD "spanning").

Source: Linux 6.1 drivers/md/md-linear.c.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

from ..core.errors import ModelError
from .layout import CopyPlace, Extent, Layout, outside


class LinearLayout(Layout):
    """Members of any size, concatenated.

    Parameters
    ----------
    member_bytes
        Size of each member.
    """

    __slots__ = ("_ends",)
    algorithms: ClassVar = {"linear": ("",)}

    def __init__(self, member_bytes: Sequence[int]) -> None:
        self._ends = list(accumulate(member_bytes))
        super().__init__("linear", None, 0, member_bytes, self._ends[-1])

    @classmethod
    def made(
        cls, level: str, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str, copies: int
    ) -> LinearLayout:
        return cls(member_bytes)

    def tolerates(self, lost: frozenset[int]) -> bool:
        return not lost

    @property
    def survives(self) -> int:
        return 0

    def extents(self, offset: int, size: int) -> list[Extent]:
        end = offset + size
        if size <= 0 or offset < 0 or end > self.capacity:
            raise outside(self, offset, size)
        ends = self._ends
        member = bisect_right(ends, offset)
        start = ends[member - 1] if member else 0
        if end <= ends[member]:
            return [(member, offset - start, size, offset)]
        pieces = []
        while offset < end:
            stop = min(end, ends[member])
            if stop > offset:
                pieces.append((member, offset - start, stop - offset, offset))
            offset = stop
            start = ends[member]
            member += 1
        return pieces

    def map_chunk(self, chunk: int) -> CopyPlace:
        raise ModelError(f"a linear array has no chunks, so no chunk {chunk}; ask for its segments")

    @property
    def segments(self) -> list[tuple[int, int, int, int]]:
        """Logical offset, size, member, member offset of every member, in bytes."""
        starts = [0, *self._ends[:-1]]
        return [
            (start, end - start, member, 0) for member, (start, end) in enumerate(zip(starts, self._ends, strict=True))
        ]
