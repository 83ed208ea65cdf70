"""Rows of which a stripe cache remembers something, the one used longest ago first."""

from __future__ import annotations

from collections.abc import Sequence

from .arrival import HERE, Arrival


class RowContents:
    """What is remembered of a row.

    Attributes
    ----------
    low, high
        The bytes of its chunks that anything is remembered of, from the lowest to the highest.
    members
        Members whose contents from `low` to `high` are there, for a row of which nothing else is remembered.
    slots
        Otherwise by member: from where, to where, and when that is there.
    """

    __slots__ = ("high", "low", "members", "newer", "older", "row", "slots")

    def __init__(self, row: int, low: int, high: int, members: Sequence[int] | None = None) -> None:
        self.row = row
        self.low = low
        self.high = high
        self.members = members
        self.slots: dict[int, tuple[int, int, Arrival]] | None = None
        self.older = self.newer = self

    def of(self, member: int) -> tuple[int, int, Arrival] | None:
        """From where to where a member's contents are known, and when they are there."""
        if self.slots is not None:
            return self.slots.get(member)
        if self.members is not None and member in self.members:
            return self.low, self.high, HERE
        return None

    def by_member(self) -> dict[int, tuple[int, int, Arrival]]:
        """What is known of each member, to be changed."""
        if self.slots is None:
            self.slots = dict.fromkeys(self.members or (), (self.low, self.high, HERE))
            self.members = None
        return self.slots


class RecentRows:
    """The rows, in a ring from the newest to the oldest around an entry that is no row."""

    __slots__ = ("_ring", "_rows")

    def __init__(self) -> None:
        self._rows: dict[int, RowContents] = {}
        self._ring = RowContents(-1, 0, 0)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row: int) -> bool:
        return row in self._rows

    def get(self, row: int) -> RowContents | None:
        """What is remembered of a row."""
        return self._rows.get(row)

    def add(self, contents: RowContents) -> None:
        """Remember a row of which nothing is, as the newest."""
        self._rows[contents.row] = contents
        self._link(contents)

    def use(self, contents: RowContents) -> None:
        """Make a row the newest."""
        contents.older.newer, contents.newer.older = contents.newer, contents.older
        self._link(contents)

    def take(self, row: int) -> RowContents | None:
        """Forget a row; returns what was remembered."""
        contents = self._rows.pop(row, None)
        if contents is not None:
            contents.older.newer, contents.newer.older = contents.newer, contents.older
        return contents

    def take_oldest(self) -> RowContents:
        """Forget the row that was used longest ago; there is one."""
        oldest = self._ring.newer
        del self._rows[oldest.row]
        oldest.older.newer, oldest.newer.older = oldest.newer, oldest.older
        return oldest

    def _link(self, contents: RowContents) -> None:
        ring = self._ring
        newest = ring.older
        newest.newer = contents
        contents.older, contents.newer = newest, ring
        ring.older = contents
