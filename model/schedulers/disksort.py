"""The disk queue of FreeBSD 6: sorted by address, nothing merged, nothing held back.

FreeBSD clusters in the file system (vfs_cluster.c) and not in the queue. A request longer than the driver takes is cut
(geom_disk.c, g_disk_start: d_maxsize); the parts queue by themselves. Reads and writes are treated alike.

Source: sys/dev/ata/ata-queue.c, ata_sort_queue. Drivers other than ATA use bioq_disksort (sys/kern/subr_disk.c), whose
comment promises the same one-way scan; but its insert point is always the first request of the queue, because requests
are only taken from there, so it serves the lowest address first. That is not modeled.
"""

from __future__ import annotations

from typing import ClassVar

from ..core.request import Request
from .address_order import AddressOrder
from .base import QueuedRequest, Scheduler, parts_of


class Disksort(Scheduler):
    """A one-way elevator: what lies before the head of the queue waits for the next sweep.

    The head is the request that goes next, not the one at the disk. A sequential reader who always has one more request
    queued is therefore not left for others, however long they wait.

    Parameters
    ----------
    max_bytes
        Largest command of the driver (bytes); longer requests are cut.
    """

    __slots__ = ("_following_sweep", "_number", "_sweep")
    name: ClassVar[str] = "disksort"
    listed: ClassVar[bool] = True

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._sweep = AddressOrder()
        self._following_sweep = AddressOrder()
        self._number = 0

    def add(self, request: Request, now: float) -> None:
        """Queue `request` in parts of at most `max_bytes`."""
        for part in parts_of(request, self.max_bytes):
            self.insert(QueuedRequest(part, now, self.done), now)

    def merge(self, request: Request, now: float) -> bool:
        """Nothing merges."""
        return False

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        self._number += 1
        queued.number = self._number
        head = self._sweep.first()
        if head is not None and queued.offset < head.offset:
            self._following_sweep.add(queued)
        else:
            self._sweep.add(queued)

    def next(self, now: float) -> QueuedRequest | None:
        """The head of the queue."""
        head = self._sweep.first()
        if head is None:
            return None
        self._sweep.remove(head)
        if not self._sweep.count:
            self._sweep, self._following_sweep = self._following_sweep, self._sweep
        return self._take(head)
