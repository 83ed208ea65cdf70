"""An I/O of a pool to one of its members, and the classes of I/O that a member's queue tells apart."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from ...core.request import ASYNC, READ, WAITED, Completion, Request

SYNC_READ: Final = 0
SYNC_WRITE: Final = 1
ASYNC_READ: Final = 2
ASYNC_WRITE: Final = 3
SCRUB: Final = 4
TRIM_RANGE: Final = 5
REBUILD: Final = 6
CLASSES: Final = 7
"""In the order in which a queue prefers them (zio_priority_t)."""


def is_first_come(priority: i64) -> bool:
    """Whether I/Os of a class are served in the order in which they come (vdev_queue_class_fifo)."""
    return priority <= SYNC_WRITE or priority == TRIM_RANGE


def is_background(priority: i64) -> bool:
    """Whether a class gives way to all others (vdev_queue_is_interactive)."""
    return priority in (SCRUB, REBUILD)


class MemberIo(Request):
    """An I/O that waits in a member's queue.

    Attributes
    ----------
    member
        Number of the member.
    priority
        Its class.
    optional
        Whether it is padding, which is written only between or behind other writes.
    slot
        Half second in which it was queued: asynchronous I/O of one half second is sorted by offset.
    queued
        Whether it waits still.
    """

    __slots__ = ("member", "optional", "priority", "queued", "slot")

    def __init__(
        self,
        op: i64,
        offset: i64,
        size: i64,
        done: Completion,
        priority: i64,
        issuer: i64,
        member: i64,
        optional: bool = False,
    ) -> None:
        super().__init__(op, offset, size, done, issuer, WAITED if op == READ or priority == SYNC_WRITE else ASYNC)
        self.priority = priority
        self.member = member
        self.optional = optional
        self.slot: i64 = 0
        self.queued = False
