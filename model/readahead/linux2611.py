"""Read-ahead of Linux 2.6.11 to 2.6.22 (mm/readahead.c, page_cache_readahead).

There is a current window and one ahead of it. A reader that follows its last page, or begins with the first of the
file, gets a first window; at its next call the one ahead goes out, and a further one each time it steps into that.
A window is twice as large as the one before, and two pages smaller after a page was found missing that had been read.
Any other call reads what it asks for, and no more.

A reader who finds 256 pages of windows in memory already stops reading ahead (RA_FLAG_INCACHE) until it misses a page,
which it reads alone. So of several that read one file side by side one alone soon reads for all of them.
"""

from __future__ import annotations

from typing import ClassVar, Final

from .base import PAGE, HeldPages, ReadAhead

_MOST_HITS: Final = 256
"""So many pages of windows that were in memory turn reading ahead off (include/linux/mm.h, VM_MAX_CACHE_HIT)."""
_LEAST: Final = 4
"""Pages of the smallest window after a miss (VM_MIN_READAHEAD, 16 KiB)."""


class ReadAhead2611(ReadAhead):
    """Linux 2.6.11 to 2.6.22.

    Parameters
    ----------
    max_bytes
        Largest window.
    end
        Size of the file or device.
    """

    __slots__ = (
        "_ahead",
        "_ahead_start",
        "_asked",
        "_call",
        "_hits",
        "_in_memory",
        "_looked_from",
        "_looked_to",
        "_missed",
        "_most",
        "_pages",
        "_size",
        "_sought",
        "_start",
    )
    name: ClassVar[str] = "2.6.11"

    def __init__(self, max_bytes: int, end: int) -> None:
        super().__init__(max(PAGE, max_bytes), end)
        self._most = self.max_bytes // PAGE
        self._pages: HeldPages | None = None
        self._start = self._size = 0
        self._ahead_start = self._ahead = 0
        self._call = 1  # pages of the longest call since the reader last went elsewhere
        self._hits = 0
        self._in_memory = self._missed = False
        self._looked_from = self._looked_to = 0
        # Where a look was made of which nothing has been read yet, and what had been read before.
        self._sought = (-1, -1)
        self._asked: tuple[int, int] | None = None

    def attach(self, pages: HeldPages) -> None:
        """See :meth:`ReadAhead.attach`."""
        self._pages = pages

    def widen(self, factor: int) -> None:
        """See :meth:`ReadAhead.widen`."""
        super().widen(factor)
        self._most *= factor

    def next_trigger(self, position: int) -> int:
        """See :meth:`ReadAhead.next_trigger`."""
        self._sought = (-1, -1)
        if self._in_memory:
            return max(self._end, position + 1)
        if self._ahead and self._looked_to <= self._ahead_start:
            # A call that begins in front of the window ahead may end in it.
            call = min(self._call, self._most)
            return max(self._looked_to * PAGE, (self._ahead_start - call + 1) * PAGE, position + 1)
        return max(self._looked_to * PAGE, position + 1)

    def touch(self, position: int, call_end: int = 0) -> tuple[int, int] | None:
        """See :meth:`ReadAhead.touch`."""
        page = position // PAGE
        pages = max(1, -(-call_end // PAGE) - page)
        if pages > self._call:
            self._call = pages
        read_to = self.read_to
        goes_on = position == read_to or self._sought == (position, read_to)
        if not (goes_on and self._looked_from <= page < self._looked_to):
            self._sought = (position, read_to)
            before = (read_to - 1) // PAGE if read_to > 0 else -1
            if page == before:  # the rest of a page that was read before
                page += 1
                pages -= 1
            if pages:
                self._look(page, pages, page == before + 1)
                asked = self._take()
                if asked is not None:
                    return asked
        self._check(position)
        return None

    def _take(self) -> tuple[int, int] | None:
        """What this call has brought to be read."""
        asked, self._asked = self._asked, None
        return asked

    def _check(self, position: int) -> None:
        """Whether the page at hand is missing (handle_ra_miss)."""
        at = position - position % PAGE
        if self._pages is not None and self._pages.held_until(at) <= at:
            self._missed = True
            self._in_memory = False

    def _look(self, page: int, pages: int, follows: bool) -> None:
        """A call asks for `pages` from `page` on, which `follows` the last one read or not."""
        self._looked_from, self._looked_to = page, page + 1
        if self._in_memory:
            return
        size = min(pages, self._most)
        self._looked_to = page + size
        if not follows:
            self._call = pages
            self._turn_off()
            self._submit(page, size)
        elif not self._size:
            self._start, self._size = page, self._first(size)
            if self._submit(page, self._size) and pages >= self._most:
                self._submit_ahead(True)
        elif (self._ahead or self._submit_ahead(False)) and self._looked_to > self._ahead_start:
            self._start, self._size = self._ahead_start, self._ahead
            self._submit_ahead(False)

    def _submit_ahead(self, forced: bool) -> bool:
        """The window after the current one goes out; whether reading ahead goes on (make_ahead_window)."""
        if self._missed:
            self._missed = False
            size = max(self._size - 2, _LEAST)
        else:
            size = self._size * (4 if self._size < self._most // 16 else 2)
        self._ahead_start, self._ahead = self._start + self._size, min(size, self._most)
        goes_on = self._submit(self._ahead_start, self._ahead)
        if not goes_on and not forced:
            self._ahead_start = self._ahead = 0
        return goes_on

    def _submit(self, page: int, size: int) -> bool:
        """Read what is missing of `size` pages from `page` on; whether reading ahead goes on (check_ra_success)."""
        start, end = page * PAGE, min((page + size) * PAGE, self._end)
        if start >= end or (self._pages is not None and self._pages.held_until(start) >= end):
            self._hits += size
            if self._hits >= _MOST_HITS:
                self._turn_off()
                self._in_memory = True
                return False
            return True
        self._hits = 0
        self._asked = (start if self._asked is None else self._asked[0], end)
        return True

    def _turn_off(self) -> None:
        self._start = self._size = 0
        self._ahead_start = self._ahead = 0
        self._missed = False

    def _first(self, pages: int) -> int:
        """Pages of the first window for a call of `pages` pages (get_init_ra_size)."""
        size = 1 << (pages - 1).bit_length()
        if size <= self._most // 64:
            return size * size
        return max(1, self._most // 4) if size <= self._most // 4 else self._most
