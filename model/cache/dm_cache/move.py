"""A block of dm-cache that moves between the devices, and the I/Os that wait for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ...core.request import Request
from .smq import Work


class Move:
    """A block that moves, and what waits for it.

    Attributes
    ----------
    work
        What the policy wants.
    overwrite
        The write of the whole block that takes the place of the copy; None if the block is copied.
    blocks_reads
        Whether reads wait as well.
    quiet
        Called when no I/O to the block is under way.
    waiting
        I/Os that wait.
    """

    __slots__ = ("blocks_reads", "overwrite", "quiet", "waiting", "work")

    def __init__(self, work: Work | None, overwrite: Request | None, blocks_reads: bool) -> None:
        self.work = work
        self.overwrite = overwrite
        self.blocks_reads = blocks_reads
        self.quiet: Callable[[], object] | None = None
        self.waiting: deque[Request] = deque()
