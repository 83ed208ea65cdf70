"""What happens to a thread that slept for a tag: it needs the CPU to go on.

A completion wakes whoever waits for the data before whoever waits for the tag (block/blk-mq.c, __blk_mq_end_request:
the bio ends first), and a kernel without preemption lets the running thread run. So on one CPU a program that sends its
next I/O at once, or a thread that computes, can keep a sleeping kernel thread from a tag that is free. A program that
slept is scheduled before kernel threads, because it has used less CPU time (CFS).
"""

from __future__ import annotations

from typing import Any

from .blk_mq import BlkMqQueue


class WokenQueue(BlkMqQueue):
    """A blk-mq queue where a kernel thread that slept takes its tag when it has the CPU; see :class:`BlkMqQueue`."""

    __slots__ = ()

    def _wake(self, event: Any) -> None:
        free = min(self._host.cpu._free)
        if free > self._engine._now and self._waiting[0].stream < 0:
            self._engine.call_at(free, self._wake)
        else:
            super()._wake(event)
