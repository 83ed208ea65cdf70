"""Writes to a parity array gathered by row, until the row is complete or has waited long enough."""

from __future__ import annotations

from itertools import pairwise

from mypy_extensions import i64

from ...core.request import Request
from ...waits.trail import Mark, followed
from ..stripes.owner import Owner


class GatheredRow:
    """Writes gathered for one row.

    Attributes
    ----------
    cover, covered
        What is written of each data block (the first piece of it, where there are several), and bytes in all.
    apart
        The further pieces of the blocks that are written in several with holes between them, in order; by data index.
    owners
        Whose writes they are.
    acquired
        How often heads were taken for them.
    sync
        Whether somebody waits for one of them.
    held_since
        When the first one came (s).
    """

    __slots__ = ("acquired", "apart", "cover", "covered", "held_since", "owners", "row", "sync")

    def __init__(self, row: int, data_members: int, now: float) -> None:
        self.row = row
        self.cover: list[tuple[int, int] | None] = [None] * data_members
        self.apart: dict[int, list[tuple[int, int]]] = {}
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
        last = max(known[1] for known in self.cover if known is not None)
        return max([last, *(pieces[-1][1] for pieces in self.apart.values())])

    def add(self, index: int, low: int, high: int, owner: Owner) -> None:
        """Add a piece that is not yet there of its block."""
        known = self.cover[index]
        if known is None:
            self.cover[index] = low, high
        elif index in self.apart or not self.touches(index, low, high):
            self._add_apart(index, low, high)
        else:
            self.cover[index] = min(low, known[0]), max(high, known[1])
        self.covered += high - low
        self.acquired += 1
        self.owners.append(owner)
        if owner.request.sync:
            self.sync = True

    def _add_apart(self, index: int, low: int, high: int) -> None:
        """Add a piece of a block that is written in several; those that touch become one."""
        joined: list[tuple[int, int]] = []
        for a, b in sorted([*self.spans(index), (low, high)]):
            if joined and joined[-1][1] == a:
                joined[-1] = joined[-1][0], b
            else:
                joined.append((a, b))
        self.cover[index] = joined[0]
        if len(joined) > 1:
            self.apart[index] = joined[1:]
        else:
            del self.apart[index]

    def spans(self, index: int) -> list[tuple[int, int]]:
        """The pieces of a block that are written, in order."""
        known = self.cover[index]
        return [] if known is None else [known, *self.apart.get(index, ())]

    def touches(self, index: int, low: int, high: int) -> bool:
        """Whether a piece goes on where its block ends or begins, or is the block's first."""
        known = self.cover[index]
        return known is None or low == known[1] or high == known[0]

    def overlaps(self, index: int, low: int, high: int) -> bool:
        """Whether something of a piece is there already."""
        return any(low < b and a < high for a, b in self.spans(index))

    def ranges(self, head: int) -> list[tuple[int, int, list[int], list[int]]]:
        """Split the row where the set of written data blocks changes; borders on whole heads of `head` bytes.

        Returns (low, high, data indices written wholly, data indices written in part) of each range.
        """
        edges = set()
        for index in range(len(self.cover)):
            for known in self.spans(index):
                for at in known:
                    edges.add(at - at % head)
                    edges.add(-(-at // head) * head)
        ranges = []
        for a, b in pairwise(sorted(edges)):
            full: list[int] = []
            partial: list[int] = []
            for index in range(len(self.cover)):
                touched = [known for known in self.spans(index) if known[0] < b and known[1] > a]
                if touched:
                    whole = touched[0][0] <= a and touched[0][1] >= b
                    (full if whole else partial).append(index)
            if full or partial:
                ranges.append((a, b, full, partial))
        return ranges

    # What its writes spend their time on (:mod:`raidsim.model.waits.trail`).

    def waited(self, cause: i64, now: float) -> None:
        """The writes have waited for `cause` until now (s)."""
        for owner in self.owners:
            request = owner.request
            request.mark(cause, now)

    def trail(self) -> Mark | None:
        """The trail of one of them, with which a member I/O of the row begins; None if that of none is kept."""
        return next((owner.request.trail for owner in self.owners if owner.request.trail is not None), None)

    def followed(self, last: Request) -> None:
        """The member I/O that was complete last is on the way of the writes."""
        if last.trail is not None:
            for owner in self.owners:
                request = owner.request
                if request.trail is not None:
                    request.trail = followed(request.trail, last.trail)
