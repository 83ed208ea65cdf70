"""A task's plug: the requests that it holds back, of all the devices it submits to, so that neighbors merge.

Linux has one per task (blk_start_plug), not per device. A request that is too many, or that comes after a large one of
whichever device, sends all that is held, also what other devices' requests still wait for. How many a plug holds
depends on the kernel (:class:`PlugLimits`). In 6.1 the list of what is held has the newest request in front, so the
device of the newest request gets its requests first, and that of the oldest last. A task that waits for the oldest one
finds the requests of the other devices complete, and what it submits then merges on all of them. Sources: Linux 6.1
block/blk-mq.c (blk_add_rq_to_plug, blk_mq_flush_plug_list, blk_mq_dispatch_plug_list), block/blk-merge.c
(blk_attempt_plug_merge).
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from ..core.request import TRIM, WRITE_THROUGH, Request
from ..schedulers import QueuedRequest

PLUG_REQUESTS: Final = 32
"""A plug holds so many requests at most (BLK_MAX_REQUEST_COUNT), twice as many once they are of several devices."""

PLUG_FLUSH_BYTES = 131_072
"""Once the newest request of a plug is this large, the next one flushes the plug (BLK_PLUG_FLUSH_SIZE)."""


class PlugLimits(NamedTuple):
    """How much a task's plug holds; the defaults are Linux 6.1's.

    Attributes
    ----------
    requests
        Most requests (BLK_MAX_REQUEST_COUNT).
    of_several
        Most requests once they are of several devices (blk_plug_max_rq_count; the same number until 5.14).
    flush_bytes
        Once the newest request is this large, the next one flushes the plug (BLK_PLUG_FLUSH_SIZE); 0: it never does.
    per_device
        If true, only requests of the device that gets another one count (until 4.20: blk_attempt_plug_merge counts
        them). If false, all do ("block: sum requests in the plug structure", 5.0).
    newest_first
        If true, the device of the newest request gets its requests first (5.16: "block: change plugging to use a singly
        linked list"; until 6.13: "block: add a rq_list type"). If false, that of the oldest does.
    """

    requests: int = PLUG_REQUESTS
    of_several: int = 2 * PLUG_REQUESTS
    flush_bytes: int = PLUG_FLUSH_BYTES
    per_device: bool = False
    newest_first: bool = True

    def overflows(self, devices: int) -> bool:
        """Whether a plug with a request for each of a number of devices is flushed before their second requests."""
        return not self.per_device and devices > self.of_several


class PlugQueue(Protocol):
    """A device's queue, whose requests a plug holds."""

    max_request_bytes: int
    most_of_pages: int
    discard_bytes: int

    def take_plugged(self, held: list[QueuedRequest]) -> None:
        """Take the requests of this queue that the plug held, in their order."""


class TaskPlug:
    """What one task holds back.

    Parameters
    ----------
    block_bytes
        What the task submits comes in blocks of this size in ascending order, although several blocks are given as one
        request: so a request of more than one block cannot go before another one, and what merges is limited to the
        queue's `most_of_pages`. 0: each request is one I/O.
    limits
        How much it holds.

    Attributes
    ----------
    queues
        How many queues are plugged that the task did not plug itself; they count themselves.
    """

    __slots__ = (
        "_block_bytes",
        "_count",
        "_flush_bytes",
        "_held",
        "_large",
        "_most",
        "_most_of_several",
        "_newest_first",
        "_newest_queue",
        "_per_device",
        "_recent",
        "_several",
        "queues",
    )

    def __init__(self, block_bytes: int = 0, limits: PlugLimits | None = None) -> None:
        if limits is None:
            limits = PlugLimits()
        self._block_bytes = block_bytes
        self._most = limits.requests
        self._most_of_several = limits.of_several
        self._flush_bytes = limits.flush_bytes or 1 << 62
        self._per_device = limits.per_device
        self._newest_first = limits.newest_first
        self._large: bool | None = None
        self._held: dict[PlugQueue, list[QueuedRequest]] = {}
        self._recent: dict[PlugQueue, None] = {}  # by the age of the newest request, oldest first
        self._count = 0
        self._newest_queue: PlugQueue | None = None
        self._several = False
        self.queues = 0

    def start(self) -> None:
        """The task begins to hold requests back."""
        if not self._count:
            self._several = False
            self._newest_queue = None

    def start_row(self) -> None:
        """What follows goes to the devices block by block in turn, although it is given device by device.

        So all new requests are made with the first blocks, before any of them, or one that merges, has grown.
        """
        self._large = self._newest_is_large()

    def _newest_is_large(self) -> bool:
        if not self._count:
            return False
        assert self._newest_queue is not None
        return self._held[self._newest_queue][-1].size >= self._flush_bytes

    def merge(self, queue: PlugQueue, request: Request) -> bool:
        """Merge with the newest request of `queue`: Linux looks at no older one of the same device.

        A discard merges only with a discard.
        """
        held = self._held.get(queue)
        if held is None:
            return False
        newest = held[-1]
        size = newest.size + request.size
        if request.op == TRIM:
            most = queue.discard_bytes
        else:
            most = queue.most_of_pages if self._block_bytes else queue.max_request_bytes
        if newest.op != request.op or size > most or request.sync == WRITE_THROUGH:
            return False
        if newest.offset + newest.size == request.offset:
            newest.size = size
        elif request.offset + request.size == newest.offset and (
            not self._block_bytes or request.size <= self._block_bytes
        ):
            newest.offset = newest.position = request.offset
            newest.size = size
        else:
            return False
        newest.append(request)
        return True

    def add(self, queue: PlugQueue, queued: QueuedRequest) -> None:
        """Hold a request back, after sending what is held if that is enough."""
        newest_queue = self._newest_queue
        if self._count:
            most = self._most_of_several if self._several else self._most
            large = self._newest_is_large() if self._large is None else self._large
            count = len(self._held.get(queue, ())) if self._per_device else self._count
            if count >= most or large:
                self.flush()
        if self._large:
            self._large = False
        if newest_queue is not queue:
            self._several = self._several or newest_queue is not None
            self._newest_queue = queue
            self._recent.pop(queue, None)
            self._recent[queue] = None
        held = self._held.get(queue)
        if held is None:
            self._held[queue] = [queued]
        else:
            held.append(queued)
        self._count += 1

    def flush(self) -> None:
        """Send what is held, device by device."""
        if self._count:
            held, self._held = self._held, {}
            self._count = 0
            if self._newest_first and len(held) > 1:
                for queue in [each for each in reversed(self._recent) if each in held]:
                    queue.take_plugged(held[queue])
            else:
                for queue, requests in held.items():
                    queue.take_plugged(requests)
