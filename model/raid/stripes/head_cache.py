"""The stripe cache of current kernels: every stripe head is a unit of its own, in use or with what it still holds.

A head is in use from the I/O that needs it to the last one that does. Until it is given to another row it holds the
blocks that were read, computed or written in it. A head that is taken for a row that has none is the one that was used
longest ago. Source: Linux 6.1 drivers/md/raid5.c, raid5_get_active_stripe, get_free_stripe, do_release_stripe. Neutral:
md has eight lists of free heads, by the number of the block; here they are one.
"""

from __future__ import annotations

from .head_contents import HeadContents
from .stripe_cache import KEPT_WITHOUT_LIMIT, StripeCache


class HeadCache(StripeCache):
    """Heads in use, and what all heads hold; see :class:`StripeCache` for the parameters."""

    __slots__ = ("_blank", "_busy", "_contents", "_levels")

    def __init__(self, heads: int, head_bytes: int, most_heads: int = 0) -> None:
        super().__init__(heads, head_bytes, 0, most_heads)
        self._contents = HeadContents()
        # By row: the heads that are in use at least once, at least twice and so on, as bits.
        self._levels: dict[int, list[int]] = {}
        # Heads in use, and those of them that hold nothing yet; an I/O that is larger than the cache has more of them
        # than there are, and counts as all.
        self._busy = self._blank = 0

    def _bits(self, low: int, high: int) -> int:
        head = self.head_bytes
        return (1 << -(-high // head)) - (1 << low // head)

    def knows(self, row: int) -> bool:
        """See :meth:`StripeCache.knows`."""
        return row in self._contents

    def take(self, row: int, low: int, high: int) -> bool:
        """See :meth:`StripeCache.take`."""
        if not self.heads:
            return True
        bits = self._bits(low, high)
        levels = self._levels.get(row)
        fresh = bits if levels is None else bits & ~levels[0]
        count = fresh.bit_count()
        if self._busy and self._busy + count > self.heads:
            return False
        if levels is None:
            levels = self._levels[row] = []
        for number, level in enumerate(levels):
            levels[number] = level | bits
            bits &= level
        if bits:
            levels.append(bits)
        if count:
            self._busy += count
            self.in_use = min(self.heads, self._busy)
            if self.in_use > self.most_in_use:
                self.most_in_use = self.in_use
            blank = count
            if row in self._contents:
                blank = (fresh & ~self._contents.mask(row)).bit_count()
                self._use(row, low, high)
            self._blank += blank
            self._forget()
        return True

    def release(self, row: int, low: int = 0, high: int = 0) -> None:
        """Give back what one :meth:`acquire` of these bytes took."""
        if not self.heads:
            return
        bits = self._bits(low, high)
        levels = self._levels[row]
        freed = 0
        for number in range(len(levels) - 1, -1, -1):
            gone = levels[number] & bits
            levels[number] ^= gone
            bits ^= gone
            freed = gone
        while levels and not levels[-1]:
            levels.pop()
        if not levels:
            del self._levels[row]
        count = freed.bit_count()
        if not count:
            return
        self._busy -= count
        self.in_use = min(self.heads, self._busy)
        if row in self._contents:
            self._blank -= (freed & ~self._contents.mask(row)).bit_count()
            self._use(row, low, high)
        else:
            self._blank -= count
        self._grown = False
        self._let_in()

    def _use(self, row: int, low: int, high: int) -> None:
        """The heads have been used last."""
        self._contents.add(row, low // self.head_bytes, -(-high // self.head_bytes), 0)

    def parts(self, row: int, low: int, high: int) -> list[tuple[int, int, int]]:
        """The heads of bytes [low, high) of `row` in parts that hold the same: from, to, and the members as bits."""
        if row not in self._contents:
            return [(low, high, 0)]
        head = self.head_bytes
        found = self._contents.parts(row, low // head, -(-high // head))
        return [(max(low, first * head), min(high, end * head), known) for first, end, known in found]

    def keep(self, row: int, low: int, high: int, known: int) -> None:
        """The heads of bytes [low, high) hold the blocks of the members `known` (bits), besides what they held."""
        contents, head = self._contents, self.head_bytes
        blank = self._blank_heads(row)
        contents.add(row, low // head, -(-high // head), known)
        self._blank += self._blank_heads(row) - blank
        self._forget()

    def forget(self, row: int, low: int = 0, high: int = 0) -> None:
        """The heads of bytes [low, high) of `row` hold nothing any more."""
        blank = self._blank_heads(row)
        self._contents.forget(row, low // self.head_bytes, -(-high // self.head_bytes))
        self._blank += self._blank_heads(row) - blank

    def _blank_heads(self, row: int) -> int:
        levels = self._levels.get(row)
        return (levels[0] & ~self._contents.mask(row)).bit_count() if levels else 0

    def shrink(self) -> None:
        """See :meth:`StripeCache.shrink`."""
        self.heads = max(self._least, self.in_use)
        self._forget()

    def _forget(self) -> None:
        """Take the heads that were used longest ago for others; those in use stay."""
        contents = self._contents
        most = max(0, (self.heads or KEPT_WITHOUT_LIMIT) - self._blank)
        spared = 0
        while contents.kept > most:
            oldest = contents.oldest()
            row, first, end = oldest.row, oldest.first, oldest.end
            levels = self._levels.get(row)
            if levels and levels[0] >> first & ((1 << end - first) - 1):
                spared += end - first
                if spared > contents.kept:
                    return
                contents.add(row, first, end, 0)
                continue
            contents.forget(row, first, min(end, first + contents.kept - most))
