"""Stripe heads with new data whose bits are not on the members yet (raid5d's bitmap_list).

A head gets the number of the next flush when new data come into it. Before each pass the thread flushes the bitmap for
all heads on the list; heads that get new data meanwhile have the number of the flush after that, and stay. Source:
Linux 6.1 drivers/md/raid5.c (__add_stripe_bio, do_release_stripe, raid5d, activate_bit_delay).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from ..metadata.bitmap import WriteIntentBitmap


class BitmapList:
    """The list of one array.

    Parameters
    ----------
    bitmap
        The array's write-intent bitmap.
    activate
        Takes rows whose heads may be handled now.

    Attributes
    ----------
    rows
        The rows of the heads on the list.
    written
        The number of the last flush that is complete (seq_write).
    """

    __slots__ = ("_activate", "_begun", "_bitmap", "rows", "written")

    def __init__(self, bitmap: WriteIntentBitmap, activate: Callable[[Iterable[int]], None]) -> None:
        self._bitmap = bitmap
        self._activate = activate
        self._begun = 0
        self.rows: dict[int, None] = {}
        self.written = 0

    @property
    def following(self) -> int:
        """The number of the next flush (seq_flush + 1)."""
        return self._begun + 1

    def must_sleep(self) -> bool:
        """Whether the bitmap has to be written for heads on the list; if no bit is new, they are activated."""
        if not self.rows:
            return False
        if self._bitmap.dirty:
            return True
        self._begun += 1
        self._release(self._take())
        return False

    def flush(self, then: Callable[[], None]) -> None:
        """Write the bitmap for the heads on the list, activate them, and call `then`."""
        self._begun += 1
        self._bitmap.flush(partial(self._flushed, self._take(), then))

    def _flushed(self, rows: dict[int, None], then: Callable[[], None]) -> None:
        self._release(rows)
        then()

    def _take(self) -> dict[int, None]:
        rows, self.rows = self.rows, {}
        return rows

    def _release(self, rows: dict[int, None]) -> None:
        self.written = self._begun
        self._activate(rows)
