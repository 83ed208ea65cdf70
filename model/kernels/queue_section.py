"""The request queues of a kernel, with their I/O schedulers, plugs and what they count."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from ..block.io_statistics import BusyTicks
from ..files.description import Duration, Fraction, PositiveSize, Size, refusal
from ..schedulers import NO_SCHEDULER, SCHEDULERS, SchedulerName, SchedulerSettings
from ..tasks.task_plug import PlugLimits

_TAG_WORDS = (64, 32, 16, 8, 4, 2, 1)
"""Tags in a word of a bitmap; a small one is spread over four words (lib/sbitmap.c, sbitmap_calculate_shift)."""

LEAST_REQUESTS, MOST_REQUESTS = 4, 2048
"""Of nr_requests (include/linux/blkdev.h BLKDEV_MIN_RQ; block/blk-mq.h MAX_SCHED_RQ)."""


class QueueSection(SchedulerSettings):
    """Request queue and I/O scheduler, the tunables of which are its own."""

    scheduler: SchedulerName
    """For a drive with one queue; one with several (NVMe) has none where the block layer is blk-mq."""
    schedulers: tuple[SchedulerName, ...] = ()
    """Others that a drive may have instead."""
    multiqueue: bool = False
    """Whether the block layer is blk-mq: requests take tags, and tasks plug, not queues."""
    schedulers_multiqueue: tuple[SchedulerName, ...] = ()
    """Those that a drive with several hardware queues (NVMe) may have instead of none, where `single_queue_drivers` is
    set."""
    single_queue_drivers: bool = False
    """If true, a drive with one hardware queue (SATA, SAS) has the request queue of before blk-mq: `limit_requests`
    requests of each direction whatever the drive's queue depth, the schedulers of that queue, and no write-back
    throttling unless asked for. Tasks plug all the same (since 2.6.39)."""
    max_request: PositiveSize
    """Largest request (max_sectors_kb)."""
    limit: PositiveSize
    limit_requests: int
    """Queued writes beyond which writers wait. With blk-mq the second is the most tags of a scheduler, which has twice
    the drive's (:meth:`tags_for`), and the first does not apply; with `single_queue_drivers` it is the requests of each
    direction in front of a drive with one hardware queue."""
    wake_share: Fraction = 0.875
    wakes_one: bool = False
    """Queue fill (share of the limit) below which blocked writers are woken: all, or only the first (`wakes_one`)."""
    plug_requests: int
    plug_bytes: Size = 0
    plug_delay: Duration
    """A plug is flushed at this number of requests, when its newest has this size, or after this time (0: never)."""
    plug_requests_of_several: int = 0
    plug_counts_device: bool = False
    plug_newest_first: bool = False
    """See :class:`~raidsim.model.tasks.task_plug.PlugLimits`; 0: `plug_requests`."""
    plugs_reads_above: Size | None = None
    plugs_writes_above: Size | None = None
    """Bytes above which a direct read, and a direct write, of a block device is plugged as a whole
    (:mod:`raidsim.model.block.block_file`). None: no such plug, or the kernel plugs queues and not tasks."""
    write_share: Fraction = 0.75
    write_share_per_word: bool = True
    """Share of its tags that mq-deadline lets writes have (async_depth). If the second is true, the number is applied
    to each word of the tags' bitmap, and so seldom limits; if false, to the bitmap as a whole."""
    throttle_rotational: Duration = 0.0
    throttle_solid: Duration = 0.0
    """Write-back throttling's target for read latency (wbt_lat_usec); 0: the kernel has no such throttling."""
    busy_ticks: BusyTicks = "requests"
    """What iostat's ``%util`` counts (:mod:`raidsim.model.block.io_statistics`)."""
    source: str

    @property
    def task_plug(self) -> bool:
        """Whether the task that submits holds requests back, and not the queue."""
        return self.multiqueue

    @property
    def plug_limits(self) -> PlugLimits | None:
        """How much a task's plug holds; None where queues plug."""
        several = self.plug_requests_of_several or self.plug_requests
        held = PlugLimits(self.plug_requests, several, self.plug_bytes, self.plug_counts_device, self.plug_newest_first)
        return held if self.task_plug else None

    @model_validator(mode="after")
    def _single_queues_beside_multiqueue(self) -> Self:
        if self.single_queue_drivers and not self.multiqueue:
            raise refusal("single_queue_drivers without multiqueue", "expected: multiqueue: true")
        if NO_SCHEDULER in (self.scheduler, *self.schedulers) and not self.multiqueue:
            raise refusal(f"{NO_SCHEDULER} without multiqueue", "expected: a scheduler")
        if self.schedulers_multiqueue and not self.single_queue_drivers:
            raise refusal("schedulers_multiqueue without single_queue_drivers", "expected: schedulers")
        return self

    def choices(self, hardware_queues: int) -> tuple[str, ...]:
        """Every scheduler that a drive with `hardware_queues` queues of its own may have, the kernel's choice first."""
        names = (self.scheduler, *((NO_SCHEDULER,) if self.multiqueue else ()), *self.schedulers)
        if self.single_queue_drivers:
            names = (self.scheduler, *self.schedulers)
            if hardware_queues > 1:
                names = (NO_SCHEDULER, *self.schedulers_multiqueue)
        added = (name for name, kind in SCHEDULERS.items() if not vars(kind).get("listed"))
        return tuple(dict.fromkeys((*names, *added)))

    def tags_for(self, depth: int) -> int:
        """Tags of a scheduler over a drive that takes `depth` requests (nr_requests)."""
        return min(2 * depth, self.limit_requests)

    def write_tags(self, requests: int, depth: int) -> int:
        """How many of mq-deadline's `requests` tags writes may take, over a drive that takes `depth` requests.

        The kernel computes the limit before it stores a new nr_requests, so that the limit follows from
        :meth:`tags_for` also where nr_requests is set (block/blk-mq.c, blk_mq_update_nr_requests).
        """
        allowed = max(int(self.write_share * self.tags_for(depth)), 1)
        if not self.write_share_per_word:
            return min(requests, allowed)
        word = next(size for size in _TAG_WORDS if 4 * size <= requests or size == 1)
        return requests if allowed >= word else max(requests // word * allowed, 1)
