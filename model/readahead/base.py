"""What every read-ahead policy has: the state of one open file or device, asked when the program reads on."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Final, Protocol

from .page_marks import PageMarks

PAGE: Final = 4096


class HeldPages(Protocol):
    """What a policy can see of the page cache of its file: pages in memory or being read, and marks on them."""

    @property
    def marks(self) -> PageMarks:
        """Marks on the pages."""

    def held_until(self, position: int) -> int:
        """End of the run of held pages that holds the byte at `position`; `position` itself if none does."""

    def held_since(self, position: int) -> int:
        """Start of the run of held pages that ends at or after `position`; `position` itself if none does."""


class ReadAhead:
    """The read-ahead state of one open file or device.

    A policy overrides :meth:`next_trigger` and :meth:`touch` and has a name. A module of this package that defines one
    is all that it takes; one that looks at more than the window and the end overrides :meth:`opened` too.

    Parameters
    ----------
    max_bytes
        Largest window.
    end
        Size of the file or device; nothing is read beyond it.

    Attributes
    ----------
    name
        By which kernels ask for it; a class without one of its own is no policy to choose.
    read_to
        Where the program's last read has ended (bytes); -1 before its first.
    unplugs
        Whether the device is unplugged for a window that is read while the program still works on the one before;
        otherwise it starts when somebody waits.
    """

    __slots__ = ("_end", "max_bytes", "read_to")

    name: ClassVar[str] = ""
    unplugs: ClassVar[bool] = False

    @classmethod
    def opened(cls, max_bytes: int, end: int, request_bytes: int) -> ReadAhead:
        """The state of a file or device that is opened, on a device whose largest request is `request_bytes`."""
        return cls(max_bytes, end)

    def __init__(self, max_bytes: int, end: int) -> None:
        self.max_bytes = max_bytes
        self._end = end
        self.read_to = -1

    def attach(self, pages: HeldPages) -> None:
        """The file is open: its pages are `pages`. For policies that look at them."""

    def widen(self, factor: int) -> None:
        """Let the largest window be `factor` times as large (posix_fadvise: mm/fadvise.c, POSIX_FADV_SEQUENTIAL)."""
        self.max_bytes *= factor

    @property
    def in_order(self) -> bool:
        """Whether the newest window goes on where one before it has ended."""
        return False

    @abstractmethod
    def touch(self, position: int, call_end: int = 0) -> tuple[int, int] | None:
        """The program is about to read the byte at `position`: what to submit now, as [start, end), if anything.

        The system call reads up to `call_end`, as far as that is beyond the page at `position`.
        """

    @abstractmethod
    def next_trigger(self, position: int) -> int:
        """First byte after `position` at which :meth:`touch` has to be asked again, unless a page is missing before."""


class TwoWindows(ReadAhead):
    """A window being read by the program and one ahead of it (Linux 2.4 and early 2.6).

    The policies differ in how the window grows and in what makes them submit the next one.
    """

    __slots__ = ("_newest", "_previous_start", "_window")

    def __init__(self, max_bytes: int, end: int) -> None:
        super().__init__(max(PAGE, max_bytes), end)
        self._window = 0
        self._newest = (-1, -1)
        self._previous_start = -1

    @property
    def in_order(self) -> bool:
        """See :attr:`ReadAhead.in_order`."""
        return 0 <= self._previous_start < self._newest[0]

    def touch(self, position: int, call_end: int = 0) -> tuple[int, int] | None:
        """See :meth:`ReadAhead.touch`."""
        start, end = self._newest
        if position == end or (end < 0 and position == 0):
            return self._submit(position)
        if start <= position < end:
            if position >= start + self._trigger():
                return self._submit(end)
            return None
        if self._previous_start <= position < start:
            return None
        self._seek()
        return self._submit(position)

    def next_trigger(self, position: int) -> int:
        """See :meth:`ReadAhead.next_trigger`."""
        start, end = self._newest
        if position < start:
            return min(start + self._trigger(), end)
        trigger = start + self._trigger()
        return trigger if position < trigger <= end else end

    def _submit(self, start: int) -> tuple[int, int] | None:
        if start >= self._end:
            return None
        self._window = self._grown(self._window)
        end = min(self._end, start + self._window)
        self._previous_start = start if self._newest[0] < 0 else self._newest[0]
        self._newest = (start, end)
        return start, end

    def _seek(self) -> None:
        self._window = 0
        self._newest = (-1, -1)

    @abstractmethod
    def _grown(self, window: int) -> int:
        """Size of the window after one of `window` bytes (0: after a seek or at the start)."""

    @abstractmethod
    def _trigger(self) -> int:
        """How far (bytes) into the newest window the program must be for the next to go out."""
