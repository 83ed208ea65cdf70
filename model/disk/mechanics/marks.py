"""What a command of a hard disk waits for, as the drive works it out when it starts the command."""

from __future__ import annotations

from ...core.request import Request
from ...waits.causes import DRIVE_CACHE, DRIVE_QUEUE, ELECTRONICS, LINK, ROTATION, SCHEDULER, SEEK, TRANSFER
from ...waits.trail import Mark, waited
from .head import Head


def mark_queued(trail: Mark, request: Request, now: float) -> Mark:
    """The way of a command that is started `now` (s): to the drive, and inside until its turn."""
    return waited(waited(trail, SCHEDULER, request.submitted), DRIVE_QUEUE, now)


def mark_head(trail: Mark, head: Head, hit: bool, command_s: float, ready: float, at: float) -> Mark:
    """A command whose data have passed under the head by `ready` (s), complete at `at` (s); no move for a `hit`.

    The head may be at work of the drive's own before: it writes back, or reads ahead. What it needs none for ends when
    the firmware has had its time, `command_s` (s).
    """
    electronics = trail.until + command_s
    trail = waited(trail, ELECTRONICS, min(electronics, ready, at))
    if not hit:
        trail = waited(trail, DRIVE_CACHE, min(head.moved_s, ready, at))
        trail = waited(trail, SEEK, min(head.arrived_s, ready, at))
        trail = waited(trail, ROTATION, min(head.sector_s, ready, at))
    trail = waited(trail, TRANSFER, min(ready, at))
    return waited(trail, LINK, at)


def mark_cached(trail: Mark, command_s: float, room_s: float, at: float) -> Mark:
    """A write that has room in the buffer from `room_s` (s) on, and is there at `at` (s)."""
    trail = waited(trail, ELECTRONICS, min(trail.until + command_s, room_s, at))
    return waited(waited(trail, DRIVE_CACHE, min(room_s, at)), LINK, at)
