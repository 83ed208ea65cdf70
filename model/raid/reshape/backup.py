"""mdadm's backup file: a copy of what a reshape is about to overwrite, where the data offset cannot move.

mdadm copies the array window by window, chunk after chunk in the old layout, and writes each window to the file with a
header and fsync. Only then md may go on to its end (sync_max). There is room for two windows: one is copied while md
moves the other. Writes to what has been copied wait until it has moved. Where the data members become more, only the
critical section at the beginning is copied; from then on md reads ahead of what it writes. Source: mdadm 4.2 Grow.c,
reshape_array, child_monitor, grow_backup, forget_backup and compute_backup_blocks; restripe.c, save_stripes.
"""

from __future__ import annotations

from collections.abc import Callable

from ...core.device import Device
from ...core.join import Join
from ...core.request import RESYNC_ISSUER, WRITE, WRITE_THROUGH, Call, Request

WINDOW_BYTES = 16 << 20
"""Bytes of data that mdadm copies at a time where the data members stay as many ("Try for 16 megabytes")."""
_HEADER_BYTES = 4096
_WRITTEN_BYTES = 512 << 10
"""Bytes of a request in which the page cache writes the file."""
_PARTS = 2

Copy = Callable[[int, Callable[[], None]], None]
"""Reads the chunk at a place of the array, and calls its second argument."""


class BackupFile:
    """The file, on a device that no member is on.

    Parameters
    ----------
    device
        Where it is.
    copy
        Reads a chunk in the old layout.
    chunk, window
        Bytes of a chunk, and those that are copied at a time.
    start, end
        Where copying begins, and up to where it is needed (bytes of the array).

    Attributes
    ----------
    covered
        Up to where the file has what md is about to overwrite.
    suspended
        Up to where writes wait.
    windows
        Copied so far.
    """

    __slots__ = (
        "_chunk",
        "_copy",
        "_copying",
        "_device",
        "_end",
        "_kept",
        "_waiting",
        "_window",
        "covered",
        "suspended",
        "windows",
    )

    def __init__(self, device: Device, copy: Copy, chunk: int, window: int, start: int, end: int) -> None:
        self._device = device
        self._copy = copy
        self._chunk = chunk
        self._window = window
        self._end = end
        self._copying = False
        # The ends of the windows that are kept.
        self._kept: list[int] = []
        self._waiting: Callable[[], None] | None = None
        self.covered = self.suspended = start
        self.windows = 0
        self._next()

    @property
    def is_over(self) -> bool:
        """Whether all that is needed has been copied."""
        return self.covered >= self._end

    def when_copied(self, then: Callable[[], None]) -> None:
        """Call `then` when one more window has been copied."""
        self._waiting = then

    def reached(self, position: int) -> None:
        """The superblocks say that all before the position has moved: its windows are forgotten."""
        if self._kept and self._kept[0] <= position:
            self._kept = [end for end in self._kept if end > position]
            self._write_header(self._next)

    def _next(self) -> None:
        if self._copying or len(self._kept) == _PARTS or self.suspended >= self._end:
            return
        self._copying = True
        start = self.suspended
        self.suspended = min(start + self._window, self._end)
        self._read(start)

    def _read(self, at: int) -> None:
        """Read a chunk, and then the next one: mdadm has one read outstanding."""

        def has_read() -> None:
            self._read(at + self._chunk)

        if at >= self.suspended:
            self._write()
        else:
            self._copy(at, has_read)

    def _write(self) -> None:
        def written() -> None:
            self._write_header(self._is_kept)

        offset = _HEADER_BYTES + self.windows % _PARTS * (self._window + _HEADER_BYTES)
        end = offset + self.suspended - self.covered
        starts = range(offset, end, _WRITTEN_BYTES)
        join = Join(len(starts), written)
        for at in starts:
            size = min(_WRITTEN_BYTES, end - at)
            self._device.submit(Request(WRITE, at, size, join, RESYNC_ISSUER, False))

    def _write_header(self, then: Callable[[], None]) -> None:
        """Write the header, and everything before it to the medium (fsync)."""

        def done(_: Request) -> None:
            then()

        self._device.submit(Request(WRITE, 0, _HEADER_BYTES, Call(done), RESYNC_ISSUER, WRITE_THROUGH))

    def _is_kept(self) -> None:
        self._copying = False
        self.windows += 1
        self.covered = self.suspended
        self._kept.append(self.covered)
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting()
        self._next()
