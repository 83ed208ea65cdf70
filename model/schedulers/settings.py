"""The tunables of I/O schedulers, as a kernel's section of queues says them (s).

The section is all three of them, and each scheduler takes from it what it knows. The defaults here are those of a
scheduler that is not the kernel's own choice.
"""

from __future__ import annotations

from typing import Literal

from ..files.description import Duration, Spec


class AnticipatorySettings(Spec):
    """The tunables of as-iosched.

    Attributes
    ----------
    read_batch, write_batch
        How long a batch of reads or writes lasts while the other kind waits.
    anticipation
        How long the disk is kept idle for the next read; 0 turns anticipation off.
    read_expire, write_expire
        Age at which a queued request is served before its turn in address order.
    """

    read_batch: Duration = 0.5
    write_batch: Duration = 0.125
    anticipation: Duration = 0.006
    read_expire: Duration = 0.125
    write_expire: Duration = 0.25


class CfqSettings(Spec):
    """The tunables of CFQ.

    Attributes
    ----------
    slice_sync, slice_async
        How long a process, or the write-back, has the disk while others wait.
    slice_idle
        How long the disk idles inside a slice for the process's next request; 0 turns idling off.
    idles_on_solid
        If true, it also idles on a drive that does not turn and queues commands; later versions do not.
    read_expire, write_expire
        Age at which a request is served before its turn in address order, one in each slice.
    quantum
        Requests that go to the driver at a time.
    async_requests
        Requests of the write-back in a slice, at most (cfq_prio_to_maxrq at the default priority).
    """

    slice_sync: Duration = 0.1
    slice_async: Duration = 0.04
    slice_idle: Duration = 0.008
    idles_on_solid: bool = True
    read_expire: Duration = 0.125
    write_expire: Duration = 0.25
    quantum: int = 4
    async_requests: int = 16


class DeadlineSettings(Spec):
    """The tunables of deadline and mq-deadline.

    Attributes
    ----------
    read_expire, write_expire
        Age at which a request is served before its turn in address order.
    fifo_batch
        Requests of one direction in a batch.
    writes_starved
        Batches of reads that may go before waiting writes.
    batch_follows
        The request that follows the last dispatched one by address, of mq-deadline. "queued": the one that waited there
        when that was dispatched. "position": the first one that waits there when the drive has room (6.5).
    """

    read_expire: Duration = 0.5
    write_expire: Duration = 5.0
    fifo_batch: int = 16
    writes_starved: int = 2
    batch_follows: Literal["queued", "position"] = "queued"
