"""Read-ahead on demand, as Linux 6.1 does it (mm/readahead.c, ondemand_readahead; mm/filemap.c, filemap_get_pages).

The state is one window of `size` pages, of which the last `async_size` were not asked for. The first of those carries
a mark; the program gets there and the next window goes out. A missing page starts a window if it is the first of the
file, follows the last read, or is the end of a run of pages that a sequential reader has left in the page cache; any
other is read as asked, and no more.

The window starts at the next power of two of what is asked for, times 4 or 2 as long as that is small against the
largest, and is multiplied by 4 below a sixteenth of the largest, by 2 up to a half. A call that asks for more than
the largest window gets it in one piece, up to what the device takes in one request (``bdi->io_pages``, since 4.10), and
the windows that follow are no smaller (6.13, and the stable kernels of 6.1 since then).
"""

from __future__ import annotations

from typing import ClassVar

from .base import PAGE, HeldPages, ReadAhead


class ReadAhead61(ReadAhead):
    """Linux 6.1.

    Parameters
    ----------
    max_bytes
        ``read_ahead_kb``; with 0 every missing page is read alone.
    end
        Size of the file or device.
    request_bytes
        Largest request of the device (``max_sectors_kb``), which a big read may fill.
    """

    __slots__ = ("_ahead", "_end_page", "_max", "_pages", "_request", "_size", "_start")
    name: ClassVar[str] = "6.1"

    _pages: HeldPages

    def __init__(self, max_bytes: int, end: int, request_bytes: int = 1280 * 1024) -> None:
        super().__init__(max_bytes, end)
        self._max = max_bytes // PAGE
        self._request = request_bytes // PAGE
        self._end_page = -(-end // PAGE)
        self._start = self._size = self._ahead = 0

    @classmethod
    def opened(cls, max_bytes: int, end: int, request_bytes: int) -> ReadAhead61:
        """See :meth:`ReadAhead.opened`."""
        return cls(max_bytes, end, request_bytes)

    def attach(self, pages: HeldPages) -> None:
        """See :meth:`ReadAhead.attach`."""
        self._pages = pages

    def widen(self, factor: int) -> None:
        """See :meth:`ReadAhead.widen`."""
        super().widen(factor)
        self._max *= factor

    def next_trigger(self, position: int) -> int:
        """See :meth:`ReadAhead.next_trigger`."""
        mark = self._pages.marks.after(position)
        return self._end if mark is None else mark

    def touch(self, position: int, call_end: int = 0) -> tuple[int, int] | None:
        """See :meth:`ReadAhead.touch`."""
        page = position // PAGE
        if page >= self._end_page:
            return None
        at = page * PAGE
        missing = self._pages.held_until(at) == at
        if not missing and not (self._max and self._pages.marks.take(at)):
            return None
        if not self._max:
            return self._submit(page, 1, 0)
        asked = max(1, -(-call_end // PAGE) - page)
        most = self._max
        if asked > most and self._request > most:
            most = min(asked, self._request)
        if not page:
            self._begin(page, asked, most)
        elif page in (self._start + self._size - self._ahead, self._start + self._size):
            self._start += self._size
            self._size = self._ahead = max(self._size, _next_size(self._size, most))
        elif not missing:
            gap = self._pages.held_until(at + PAGE) // PAGE
            if gap - page > most:
                return None
            self._start = gap
            self._size = self._ahead = _next_size(gap - page + asked, most)
        elif asked > most or 0 <= page - self._read_page() <= 1:
            self._begin(page, asked, most)
        elif not self._follows_history(page, asked, most):
            return self._submit(page, asked, 0)
        if page == self._start and self._size == self._ahead:
            # The program would step on the mark at once, so the window that this would bring is added to this one.
            more = _next_size(self._size, most)
            if self._size + more <= most:
                self._ahead = more
                self._size += more
            else:
                self._size = most
                self._ahead = most // 2
        return self._submit(self._start, self._size, self._ahead)

    def _read_page(self) -> int:
        return self.read_to // PAGE if self.read_to >= 0 else self._end_page + 1

    def _begin(self, page: int, asked: int, most: int) -> None:
        self._start = page
        self._size = _first_size(asked, most)
        self._ahead = self._size - asked if self._size > asked else self._size

    def _follows_history(self, page: int, asked: int, most: int) -> bool:
        """Whether enough pages before `page` are held for a sequential stream to have left them."""
        history = min(most, page - self._pages.held_since(page * PAGE) // PAGE)
        if history <= asked:
            return False
        if history >= page:
            history *= 2
        self._start = page
        self._size = min(history + asked, most)
        self._ahead = 1
        return True

    def _submit(self, start: int, size: int, ahead: int) -> tuple[int, int] | None:
        """The window of `size` pages from `start`, with the mark on the first of its last `ahead`."""
        stop = min(self._end_page, start + size)
        if start >= stop:
            return None
        mark = (stop - ahead) * PAGE
        if ahead and mark >= start * PAGE and self._pages.held_until(mark) == mark:
            self._pages.marks.add(mark)
        return start * PAGE, min(self._end, stop * PAGE)


class ReadAhead2623(ReadAhead61):
    """Linux 2.6.23 to 4.9: the same windows, none of which is larger than ``read_ahead_kb``, whatever a call asks for.

    Parameters
    ----------
    max_bytes
        ``read_ahead_kb``.
    end
        Size of the file or device.
    """

    __slots__ = ()
    name: ClassVar[str] = "2.6.23"

    def __init__(self, max_bytes: int, end: int) -> None:
        super().__init__(max_bytes, end, 0)

    @classmethod
    def opened(cls, max_bytes: int, end: int, request_bytes: int) -> ReadAhead2623:
        """See :meth:`ReadAhead.opened`."""
        return cls(max_bytes, end)


def _first_size(asked: int, most: int) -> int:
    """Pages of the first window for a call of `asked` pages (get_init_ra_size)."""
    size = 1 << (asked - 1).bit_length()
    if size <= most // 32:
        return size * 4
    if size <= most // 4:
        return size * 2
    return most


def _next_size(size: int, most: int) -> int:
    """Pages of the window after one of `size` (get_next_ra_size)."""
    if size < most // 16:
        return size * 4
    if size <= most // 2:
        return size * 2
    return most
