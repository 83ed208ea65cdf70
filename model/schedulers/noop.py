"""noop: merging, then first come, first served."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from .base import QueuedRequest, Scheduler


class Noop(Scheduler):
    """First come, first served, with merging of neighbors."""

    __slots__ = ("_queue",)
    name: ClassVar[str] = "noop"
    listed: ClassVar[bool] = True

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._queue: deque[QueuedRequest] = deque()

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        self._queue.append(queued)

    def next(self, now: float) -> QueuedRequest | None:
        """The oldest request."""
        return self._take(self._queue.popleft()) if self._queue else None
