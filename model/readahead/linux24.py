"""Read-ahead of Linux 2.4 (mm/filemap.c, generic_file_readahead).

The window doubles from 3 pages to max_readahead (31 pages; for md RAID 5 data disks x max(4 chunks, 248 KiB)); the
next window goes out when the program touches the first page of the newest one. Linux 2.2 and 2.4 up to 2.4.9 unplug the
queues then at once (`reada_ok` is 2: run_task_queue(&tq_disk)), so that the drives read it while the program works;
later 2.4 has lost that (2.4.17 to 2.4.27), and leaves it plugged until somebody waits.
"""

from __future__ import annotations

from typing import ClassVar

from .base import PAGE, HeldPages, TwoWindows


class ReadAhead24(TwoWindows):
    """Linux 2.4."""

    __slots__ = ()
    name: ClassVar[str] = "2.4"

    def _grown(self, window: int) -> int:
        return min(self.max_bytes + PAGE, window * 2) if window else min(4 * PAGE, self.max_bytes)

    def _trigger(self) -> int:
        return 0


class ReadAhead24Calls(ReadAhead24):
    """The same where the call is looked at: after a seek no more is read ahead than it needs.

    That is a page more than the call has (do_generic_file_read: `needed`), behind the page at hand: 3 pages for a call
    of 4 KiB, where a reader that goes on from the start of the file begins with 4 (vm_min_readahead 3, and the page).
    While that first page is on its way nothing more is read; the next window goes out with the second page
    (generic_file_readahead is called once for each page that is read). A page that is in memory starts no window
    (`reada_ok` is 0 after a seek, and only a locked page is read ahead of then).
    """

    __slots__ = ("_first", "_needed", "_pages")
    name: ClassVar[str] = "2.4-calls"

    def __init__(self, max_bytes: int, end: int) -> None:
        super().__init__(max_bytes, end)
        self._needed = 0
        self._first = True
        self._pages: HeldPages | None = None

    def attach(self, pages: HeldPages) -> None:
        """See :meth:`~.base.ReadAhead.attach`."""
        self._pages = pages

    def touch(self, position: int, call_end: int = 0) -> tuple[int, int] | None:
        """See :meth:`~.base.ReadAhead.touch`."""
        self._needed = max(1, -(-(call_end - position) // PAGE)) + 2
        start, end = self._newest
        inside = self._previous_start <= position <= end and start >= 0
        if not inside and self._pages is not None and self._pages.held_until(position) > position:
            self._seek()
            return None
        return super().touch(position, call_end)

    def next_trigger(self, position: int) -> int:
        """See :meth:`~.base.ReadAhead.next_trigger`."""
        return self._end if self._newest[1] < 0 else super().next_trigger(position)

    def _submit(self, start: int) -> tuple[int, int] | None:
        self._first = self._window <= 0
        return super()._submit(start)

    def _seek(self) -> None:
        super()._seek()
        self._window = -1

    def _grown(self, window: int) -> int:
        if window < 0:
            return min(self._needed * PAGE, self.max_bytes)
        return super()._grown(window)

    def _trigger(self) -> int:
        return PAGE if self._first else 0


class ReadAhead22(ReadAhead24Calls):
    """The same in Linux 2.2 and 2.4 up to 2.4.9, which unplug for a window that nobody waits for yet."""

    __slots__ = ()
    name: ClassVar[str] = "2.2"

    unplugs: ClassVar[bool] = True
