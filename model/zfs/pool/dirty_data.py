"""Dirty data of a pool: how much there may be, how writers are slowed down, and how many writes go to each member.

Above 60 % of the limit each transaction is delayed, the longer the nearer the limit; at the limit writers wait.
Between 30 % and 60 % the number of asynchronous writes at a member grows from its least to its most. Source:
OpenZFS 2.3 module/zfs/dmu_tx.c (dmu_tx_delay, dmu_tx_wait), dsl_pool.c, vdev_queue.c (vdev_queue_max_async_writes).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from .settings import DirtySettings

MOST_DELAY_S: Final = 0.1
"""Longest delay of one transaction (zfs_delay_max_ns)."""


class DirtyData:
    """Bytes that are written to files and volumes and not to members.

    Parameters
    ----------
    settings
        Module parameters.
    limit
        Most dirty data (bytes).
    least, most
        Asynchronous writes at a member with little and with much dirty data.
    least_percent, most_percent
        What little and much are, in percent of the limit.

    Attributes
    ----------
    total
        Bytes that are dirty.
    async_writes
        How many asynchronous writes may be at each member.
    delays
        Transactions that were delayed.
    """

    __slots__ = (
        "_high",
        "_last_wakeup",
        "_least",
        "_low",
        "_most",
        "_scale_s",
        "_threshold",
        "_waiting",
        "async_writes",
        "delays",
        "limit",
        "sync_threshold",
        "total",
    )

    def __init__(
        self,
        settings: DirtySettings,
        limit: int,
        least: int = 2,
        most: int = 10,
        least_percent: int = 30,
        most_percent: int = 60,
    ) -> None:
        self.limit: i64 = limit
        self.sync_threshold: i64 = limit * settings.zfs_dirty_data_sync_percent // 100
        self._threshold: i64 = limit * settings.zfs_delay_min_dirty_percent // 100
        self._scale_s = settings.zfs_delay_scale * 1e-9
        self._least: i64 = least
        self._most: i64 = most
        self._low: i64 = limit * least_percent // 100
        self._high: i64 = limit * most_percent // 100
        self._waiting: deque[Callable[[], None]] = deque()
        self._last_wakeup = 0.0
        self.total: i64 = 0
        self.async_writes: i64 = least
        self.delays: i64 = 0

    @property
    def full(self) -> bool:
        """Whether writers wait."""
        return self.total >= self.limit

    @property
    def much(self) -> bool:
        """Whether dirty data are above the level from which on more writes are at each member."""
        return self.total >= self._low

    def add(self, size: i64) -> None:
        """Bytes became dirty."""
        self.total += size
        self._ramp()

    def remove(self, size: i64) -> None:
        """Bytes are written; a writer that waits for room may go on."""
        self.total -= size
        self._ramp()
        if self._waiting and self.total < self.limit:
            self._waiting.popleft()()

    def when_room(self, callback: Callable[[], None]) -> None:
        """Call back when there is room below the limit."""
        self._waiting.append(callback)

    def delayed_until(self, began: float, now: float) -> float:
        """When (s) a transaction that began at `began` may go on: now, or later."""
        over = self.total - self._threshold
        if over <= 0:
            return now
        delay_s = min(self._scale_s * float(over) / float(max(1, self.limit - self.total)), MOST_DELAY_S)
        if now > began + delay_s:
            return now
        self.delays += 1
        self._last_wakeup = max(began, self._last_wakeup) + delay_s
        return self._last_wakeup

    def _ramp(self) -> None:
        total = self.total
        if total < self._low:
            self.async_writes = self._least
        elif total > self._high:
            self.async_writes = self._most
        else:
            span = self._high - self._low
            self.async_writes = (total - self._low) * (self._most - self._least) // span + self._least
