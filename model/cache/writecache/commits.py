"""dm-writecache's commits: the regions of the metadata that have changed, a flush, then the superblock.

With the superblock's next sequence number all that was written before is valid. Older copies of blocks are free then,
which another write of their regions says. If only valid blocks were written over, a flush is enough.
Source: Linux 6.1, drivers/md/dm-writecache.c (writecache_flush, ssd_commit_flushed, ssd_commit_superblock).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...core.device import Device
from ...core.join import Join
from ...core.request import DAEMON_ISSUER, WAITED, WRITE, WRITE_THROUGH, Request
from .entries import REGION, WritecacheEntries
from .lock import WritecacheLock

SUPERBLOCK: Final = 4096


class WritecacheCommits:
    """The metadata of a cache.

    Parameters
    ----------
    device
        The cache's device, at whose start they lie.
    entries, lock
        The blocks, and what a commit holds.
    size
        Bytes of the metadata.

    Attributes
    ----------
    count
        Commits so far.
    overwrote
        Whether valid blocks have been written over since the last flush.
    """

    __slots__ = ("_device", "_entries", "_lock", "_size", "count", "overwrote")

    def __init__(self, device: Device, entries: WritecacheEntries, lock: WritecacheLock, size: int) -> None:
        self._device = device
        self._entries = entries
        self._lock = lock
        self._size = size
        self.overwrote = False
        self.count = 0

    def run(self, then: Callable[[], None]) -> None:
        """Make all that has been written valid, holding the lock, and go on with `then`, which releases it."""
        self._lock.held = True
        entries, device = self._entries, self._device
        if not entries.uncommitted:
            if not self.overwrote:
                then()
                return
            self.overwrote = False
            self._lock.when_quiet(WRITE, lambda: device.flush(then))
            return
        for place in entries.uncommitted:
            entries.note(place)

        def regions_written() -> None:
            self._lock.when_quiet(WRITE, lambda: device.flush(write_superblock))

        def write_superblock() -> None:
            device.submit(Request(WRITE, 0, SUPERBLOCK, superblock_written, DAEMON_ISSUER, WRITE_THROUGH))

        def superblock_written(_: Request) -> None:
            self.overwrote = False
            self.count += 1
            stale = entries.commit()
            for place in stale:
                entries.release(place)
            if stale:
                self.write_regions(then)
            else:
                then()

        self._write(regions_written)

    def write_regions(self, then: Callable[[], None]) -> None:
        """Write the regions that have changed, flush, and go on with `then`."""
        self._write(lambda: self._device.flush(then))

    def _write(self, then: Callable[[], None]) -> None:
        """Write the regions that have changed, neighbors together."""
        regions = sorted(self._entries.dirty_regions)
        self._entries.dirty_regions.clear()
        runs: list[tuple[int, int]] = []
        for region in regions:
            if runs and runs[-1][1] == region:
                runs[-1] = runs[-1][0], region + 1
            else:
                runs.append((region, region + 1))
        if not runs:
            then()
            return
        join = Join(len(runs), then)
        for first, end in runs:
            size = min(end * REGION, self._size) - first * REGION
            self._device.submit(Request(WRITE, first * REGION, size, join, DAEMON_ISSUER, WAITED))
