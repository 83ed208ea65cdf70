"""The threads that compute checksums, parity and compression: as many as four fifths of the cores.

Source: OpenZFS 2.3 module/zfs/spa.c (zio_taskq_batch_pct; ZTI_BATCH and ZTI_SCALE of zio_taskqs).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from mypy_extensions import i64

from ...tasks.host import Host

CORES_PERCENT: Final = 80


class TaskQueue:
    """Work of one class, in the order in which it comes.

    Parameters
    ----------
    host
        Whose cores the threads run on; None: work takes no time.
    """

    __slots__ = ("_free", "_host", "_waiting")

    def __init__(self, host: Host | None) -> None:
        self._host = host
        self._free: i64 = 0 if host is None else max(1, host.cpu.cores * CORES_PERCENT // 100)
        self._waiting: deque[tuple[float, Callable[[], None]]] = deque()

    def run(self, seconds: float, then: Callable[[], None]) -> None:
        """Compute for so long on one core, when a thread is free, and go on."""
        host = self._host
        if host is None:
            then()
        elif self._free:
            self._free -= 1
            host.cpu.run_then(seconds, None, _Task(self, then).done)
        else:
            self._waiting.append((seconds, then))

    def next(self) -> None:
        """A thread is free."""
        self._free += 1
        if self._waiting:
            seconds, then = self._waiting.popleft()
            self.run(seconds, then)


class _Task:
    """Work that a thread does."""

    __slots__ = ("_queue", "_then")

    def __init__(self, queue: TaskQueue, then: Callable[[], None]) -> None:
        self._queue = queue
        self._then = then

    def done(self, _: Any) -> None:
        """It is done."""
        self._queue.next()
        self._then()
