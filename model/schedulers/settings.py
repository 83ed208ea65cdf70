"""The tunables of I/O schedulers, as a kernel's section of queues says them (s).

The section is all of them, and each scheduler takes from it what it knows. The defaults here are those of a scheduler
that is not the kernel's own choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ..files.description import Duration, Spec


class AnticipatorySettings(Spec):
    """The tunables of as-iosched."""

    read_batch: Duration = 0.5
    write_batch: Duration = 0.125
    """How long a batch of reads or writes lasts while the other kind waits."""
    anticipation: Duration = 0.006
    """How long the disk is kept idle for the next read; 0 turns anticipation off."""
    read_expire: Duration = 0.125
    write_expire: Duration = 0.25
    """Age at which a queued request is served before its turn in address order."""
    task_history: bool = False
    """If true, the anticipatory scheduler remembers a process once for all queues; if false, in each queue
    separately."""


class CfqSettings(Spec):
    """The tunables of CFQ."""

    slice_sync: Duration = 0.1
    slice_async: Duration = 0.04
    """How long a process, or the write-back, has the disk while others wait."""
    slice_idle: Duration = 0.008
    """How long the disk idles inside a slice for the process's next request; 0 turns idling off."""
    idles_on_solid: bool = True
    """If true, it also idles on a drive that does not turn and queues commands; later versions do not."""
    read_expire: Duration = 0.125
    write_expire: Duration = 0.25
    """Age at which a request is served before its turn in address order, one in each slice."""
    quantum: int = 4
    """Requests that go to the driver at a time."""
    async_requests: int = 16
    """Requests of the write-back in a slice, at most (cfq_prio_to_maxrq at the default priority)."""


class DeadlineSettings(Spec):
    """The tunables of deadline and mq-deadline."""

    read_expire: Duration = 0.5
    write_expire: Duration = 5.0
    """Age at which a request is served before its turn in address order."""
    fifo_batch: int = 16
    """Requests of one direction in a batch."""
    writes_starved: int = 2
    """Batches of reads that may go before waiting writes."""
    batch_follows: Literal["queued", "position"] = "queued"
    """The request that follows the last dispatched one by address, of mq-deadline. "queued": the one that waited there
    when that was dispatched. "position": the first one that waits there when the drive has room (6.5)."""


class ElevatorSettings(Spec):
    """The tunables of the elevator of 2.4."""

    read_passes: int = 0
    write_passes: int = 0
    """How often a queued read or write may be passed."""
    elevator: Literal["both-ways", "one-way", "one-way-buffers"] = "both-ways"
    """Whether a request below all others goes before them, or waits for the next sweep; with "one-way-buffers" the
    latencies count buffers (:mod:`raidsim.model.schedulers.elevator`)."""


class SchedulerSettings(AnticipatorySettings, CfqSettings, DeadlineSettings, ElevatorSettings):
    """The tunables of all schedulers, as a kernel has them."""


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """What a scheduler is told of the queue that it is made for.

    Attributes
    ----------
    max_bytes
        Largest request that merging may build (bytes).
    section
        The kernel's tunables.
    usual
        If true, the scheduler is the kernel's own choice for a drive, and `section` is about it; if false, it has the
        defaults of its own.
    rotational
        Whether the drive turns.
    depth
        Commands that the drive takes at once.
    draw
        A random number (0 to 1) of the queue.
    shared
        What the schedulers of all queues of the host share, by the name of the scheduler.
    """

    max_bytes: int
    section: SchedulerSettings
    usual: bool
    rotational: bool
    depth: int
    draw: Callable[[], float]
    shared: dict[str, dict[Any, Any]] = field(default_factory=dict)
