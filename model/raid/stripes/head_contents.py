"""What the stripe heads that nobody uses still hold: neighboring heads of a row that hold the same are one entry.

The heads are in the order in which they were used last; the oldest are given to others, one by one.
"""

from __future__ import annotations


class CachedHeads:
    """The heads [first, end) of a row.

    Attributes
    ----------
    known
        Members whose blocks are in each of them, as bits.
    """

    __slots__ = ("end", "first", "known", "newer", "older", "row")

    def __init__(self, row: int, first: int, end: int, known: int) -> None:
        self.row = row
        self.first = first
        self.end = end
        self.known = known
        self.older = self.newer = self


class HeadContents:
    """All of them.

    Attributes
    ----------
    kept
        How many heads hold anything.
    """

    __slots__ = ("_ring", "_rows", "kept")

    def __init__(self) -> None:
        self.kept = 0
        self._rows: dict[int, list[CachedHeads]] = {}
        self._ring = CachedHeads(-1, 0, 0, 0)

    def __contains__(self, row: int) -> bool:
        return row in self._rows

    def mask(self, row: int) -> int:
        """The heads of a row that hold anything, as bits."""
        bits = 0
        for entry in self._rows.get(row, ()):
            bits |= (1 << entry.end) - (1 << entry.first)
        return bits

    def parts(self, row: int, first: int, end: int) -> list[tuple[int, int, int]]:
        """The heads [first, end) of a row in parts that hold the same: from, to, and the members as bits."""
        entries = self._rows.get(row)
        if entries is None:
            return [(first, end, 0)]
        found: list[tuple[int, int, int]] = []
        at = first
        for entry in entries:
            low, high = max(entry.first, at), min(entry.end, end)
            if low >= high:
                continue
            if at < low:
                found.append((at, low, 0))
            found.append((low, high, entry.known))
            at = high
        if at < end:
            found.append((at, end, 0))
        return found

    def put(self, row: int, first: int, end: int, known: int) -> None:
        """The heads [first, end) hold the blocks of `known`, and have been used last."""
        self.forget(row, first, end)
        if not known:
            return
        self.kept += end - first
        entries = self._rows.get(row)
        if entries is None:
            entries = self._rows[row] = []
        place = 0
        while place < len(entries) and entries[place].first < first:
            place += 1
        if place:
            below = entries[place - 1]
            if below.end == first and below.known == known and below is self._ring.older:
                below.end = end
                return
        entry = CachedHeads(row, first, end, known)
        entries.insert(place, entry)
        self._link(entry)

    def add(self, row: int, first: int, end: int, known: int) -> None:
        """The heads [first, end) hold the blocks of `known`, too, and have been used last."""
        for low, high, before in self.parts(row, first, end):
            self.put(row, low, high, before | known)

    def forget(self, row: int, first: int, end: int) -> None:
        """The heads [first, end) hold nothing any more."""
        entries = self._rows.get(row)
        if entries is None:
            return
        kept: list[CachedHeads] = []
        for entry in entries:
            low, high = max(entry.first, first), min(entry.end, end)
            if low >= high:
                kept.append(entry)
                continue
            self.kept -= high - low
            if entry.first < low:
                kept.append(entry)
                if high < entry.end:
                    upper = CachedHeads(row, high, entry.end, entry.known)
                    upper.older, upper.newer = entry, entry.newer
                    entry.newer.older = upper
                    entry.newer = upper
                    kept.append(upper)
                entry.end = low
            elif high < entry.end:
                entry.first = high
                kept.append(entry)
            else:
                entry.older.newer, entry.newer.older = entry.newer, entry.older
        if kept:
            self._rows[row] = kept
        else:
            del self._rows[row]

    def oldest(self) -> CachedHeads:
        """The heads that were used longest ago; there are some."""
        return self._ring.newer

    def _link(self, entry: CachedHeads) -> None:
        ring = self._ring
        newest = ring.older
        newest.newer = entry
        entry.older, entry.newer = newest, ring
        ring.older = entry
