"""Writes to a parity array gathered by row, until the row is complete or has waited long enough."""

from __future__ import annotations

from itertools import pairwise

from .request import Request


class GatheredRow:
    """Writes gathered for one row.

    Attributes
    ----------
    cover, covered
        What is written of each data block, and bytes in all.
    owners
        Whose writes they are.
    acquired
        How often heads were taken for them.
    sync
        Whether somebody waits for one of them.
    held_since
        When the first one came (s).
    """

    __slots__ = ("acquired", "cover", "covered", "held_since", "owners", "row", "sync")

    def __init__(self, row: int, data_members: int, now: float) -> None:
        self.row = row
        self.cover: list[tuple[int, int] | None] = [None] * data_members
        self.covered = 0
        self.acquired = 0
        self.owners: list[Owner] = []
        self.held_since = now
        self.sync = False

    @property
    def low(self) -> int:
        """First byte written, inside the chunks."""
        return min(known[0] for known in self.cover if known is not None)

    @property
    def high(self) -> int:
        """Byte after the last written one, inside the chunks."""
        return max(known[1] for known in self.cover if known is not None)

    def add(self, index: int, low: int, high: int, owner: Owner) -> None:
        """Add a piece that touches what is there of its block."""
        known = self.cover[index]
        self.cover[index] = (low, high) if known is None else (min(low, known[0]), max(high, known[1]))
        self.covered += high - low
        self.acquired += 1
        self.owners.append(owner)
        if owner.request.sync:
            self.sync = True

    def touches(self, index: int, low: int, high: int) -> bool:
        """Whether a piece goes on where its block ends or begins, or is the block's first."""
        known = self.cover[index]
        return known is None or low == known[1] or high == known[0]

    def ranges(self, head: int) -> list[tuple[int, int, list[int], list[int]]]:
        """Split the row where the set of written data blocks changes; borders on whole heads of `head` bytes.

        Returns (low, high, data indices written wholly, data indices written in part) of each range.
        """
        edges = set()
        for known in self.cover:
            if known is not None:
                for at in known:
                    edges.add(at - at % head)
                    edges.add(-(-at // head) * head)
        ranges = []
        for a, b in pairwise(sorted(edges)):
            full: list[int] = []
            partial: list[int] = []
            for index, known in enumerate(self.cover):
                if known is not None and known[0] < b and known[1] > a:
                    (full if known[0] <= a and known[1] >= b else partial).append(index)
            if full or partial:
                ranges.append((a, b, full, partial))
        return ranges


class Owner:
    """A logical write spread over rows."""

    __slots__ = ("left", "request")

    def __init__(self, request: Request, left: int) -> None:
        self.request = request
        self.left = left
