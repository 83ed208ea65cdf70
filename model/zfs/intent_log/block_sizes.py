"""How large the next log block is: planned from what is left of a burst, predicted from the last eight bursts.

A burst is what one commit (or several at the same time) writes to the log. Log blocks are allocated ahead, each by
the one before it: in the middle of a burst for what is left of it, at its end for the next burst. Only the used part
of a block is written. Source: OpenZFS 2.3 module/zfs/zil.c (zil_lwb_plan, zil_lwb_predict, zil_burst_done).
"""

from __future__ import annotations

CHAIN_BYTES = 192
"""A log block's own header (zil_chain_t)."""
RECORD_BYTES = 192
"""Header of a write's record (lr_write_t)."""
UNIT_BYTES = 4096
"""Log blocks are multiples of it (ZIL_MIN_BLKSZ)."""

_BURSTS = 8
_MAXIMUM_BLOCKS = 8
"""Bursts of more blocks than this use the largest blocks."""
_WASTE_SHARE = 16
_SAVING = 2


def in_units(size: int) -> int:
    """`size` bytes rounded up to whole units."""
    return -(-size // UNIT_BYTES) * UNIT_BYTES


class BlockSizes:
    """The sizes of log blocks of one dataset.

    Parameters
    ----------
    largest
        Size of the largest log block (zil_maxblocksize).

    Attributes
    ----------
    room
        Bytes of the largest block behind its header.
    waste
        A rest of a block below this size is not used for a part of a record.
    """

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self.room = largest - CHAIN_BYTES
        self.waste = (self.room - RECORD_BYTES) // _WASTE_SHARE
        self._best = [self.room] * _BURSTS
        self._least = [0] * _BURSTS
        self._last = 0

    def plan(self, size: int, largest_record: int) -> tuple[int, int]:
        """Best and least room of the first block of a burst.

        Parameters
        ----------
        size
            Bytes of the burst's records.
        largest_record
            Most bytes of a record that stay in one block.
        """
        if size <= self.room:
            return size, size
        if size > _MAXIMUM_BLOCKS * self.room:
            return self.room, 0
        blocks = -(-size // (self.room - RECORD_BYTES))
        even = -(-size // blocks)
        usable = self.room - max(self.waste, largest_record)
        if even > usable:
            return self.room, 0
        return even, max(size - usable * (blocks - 1), self.room - usable)

    def after(self, size: int, largest_record: int) -> None:
        """Remember a burst that is over."""
        self._last = (self._last + 1) % _BURSTS
        self._best[self._last], self._least[self._last] = self.plan(size, largest_record)

    def predicted(self, burst: int = 0, largest_record: int = 0) -> int:
        """Room of a block that is enough for seven of the last eight bursts, and for the present one.

        It is the largest least room, or the second largest if that saves half.

        Parameters
        ----------
        burst, largest_record
            Bytes of the present burst, and of its largest record (see :meth:`plan`); 0: it is over.
        """
        best = min(self._best)
        now = 0
        if burst:
            planned, now = self.plan(burst, largest_record)
            best = min(best, planned)
        first, second = max(now, best), best
        for least in self._least:
            if least >= first:
                first, second = least, first
            elif least > second:
                second = least
        return first if first < second * _SAVING else second

    def block(self, room: int) -> int:
        """Bytes of a log block with `room` behind its header."""
        return min(in_units(room + CHAIN_BYTES), self.largest)
