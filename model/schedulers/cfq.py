"""CFQ as of Linux 2.6.18 to 2.6.20: a queue for every process, and slices of the disk's time (block/cfq-iosched.c).

The processes take turns. Whoever has the disk keeps it for a slice, also while it has nothing queued for a moment: the
disk then idles until its next request, for as long as that is worth waiting for. Write-back belongs to no process and
shares one queue, for which nobody waits. Priorities are not modeled: all processes have the default one. Nor is
preemption, which these versions provide for, but never come to, because only a queue that is idled for may preempt.
"""

from __future__ import annotations

from collections import deque
from typing import ClassVar, Final

from ..core.request import DIRECT, READ, Request
from .address_order import AddressOrder, ArrivalOrder
from .base import QueuedRequest, Scheduler
from .io_history import SeekHistory
from .settings import CfqSettings, QueueFacts, SchedulerSettings

_MOST_BACK: Final = 16 << 20
"""How far (bytes) the elevator goes back before it sweeps: cfq_back_max."""
_SEEKY: Final = 64 << 20
"""Mean distance (bytes) from which on a process seeks: CIC_SEEKY, 128 x 1,024 sectors."""
_SEEK_WAIT_S: Final = 0.002
"""How long the disk idles for a process that seeks."""
_ENOUGH: Final = 80 / 256
"""A mean is looked at once it has seen so much (sample_valid)."""
_TAGGED: Final = 4
"""A drive that has once had more requests inside queues them itself."""
_NEWEST: Final = 0.125
_WRITE_BACK: Final = 0


class _ProcessQueue:
    """The requests of one process, and what it has done so far; or those of the write-back."""

    __slots__ = (
        "fifo",
        "fifo_checked",
        "idles",
        "issuer",
        "last_end",
        "new",
        "requests",
        "seeks",
        "served",
        "slice_end",
        "sync",
        "think_s",
        "think_total_s",
        "think_weight",
        "under_way",
    )

    def __init__(self, issuer: int, sync: bool, now: float) -> None:
        self.issuer = issuer
        self.sync = sync
        self.requests = AddressOrder()
        self.fifo = ArrivalOrder()
        self.under_way = 0
        self.slice_end = -1.0
        self.served = 0
        self.fifo_checked = False
        self.new = True
        self.idles = True
        self.last_end = now
        self.think_s = 0.0
        self.think_total_s = 0.0
        self.think_weight = 0.0
        self.seeks = SeekHistory()

    @property
    def seeky(self) -> bool:
        """Whether the process is known to seek."""
        return self.seeks.weight > _ENOUGH and self.seeks.mean > _SEEKY

    def think(self, seconds: float) -> None:
        """So long after its last request was done, the process has sent another."""
        self.think_weight += (1.0 - self.think_weight) * _NEWEST
        self.think_total_s += (seconds - self.think_total_s) * _NEWEST
        self.think_s = self.think_total_s / self.think_weight


class Cfq(Scheduler):
    """Time slices for processes, by turns.

    Parameters
    ----------
    max_bytes
        Largest merged request (bytes).
    settings
        Tunables.
    """

    __slots__ = (
        "_active",
        "_dispatch",
        "_expire_s",
        "_in_driver",
        "_most_async",
        "_most_together",
        "_newcomers",
        "_number",
        "_owners",
        "_position",
        "_queues",
        "_slice_async_s",
        "_slice_idle_s",
        "_slice_sync_s",
        "_tagged",
        "_this_round",
        "_wait_until",
        "_waiting",
    )
    name: ClassVar[str] = "cfq"
    listed: ClassVar[bool] = True
    idles = True

    def __init__(self, max_bytes: int, settings: CfqSettings | None = None) -> None:
        super().__init__(max_bytes)
        settings = settings or CfqSettings()
        self._slice_sync_s = settings.slice_sync
        self._slice_async_s = settings.slice_async
        self._slice_idle_s = settings.slice_idle
        self._expire_s = (settings.read_expire, settings.write_expire)
        self._most_together = settings.quantum
        self._most_async = settings.async_requests
        self._queues: dict[tuple[bool, int], _ProcessQueue] = {}
        # Queues with requests that do not have the disk: this round's, those that never had it, and those that had.
        self._this_round: deque[_ProcessQueue] = deque()
        self._newcomers: deque[_ProcessQueue] = deque()
        self._waiting: deque[_ProcessQueue] = deque()
        self._active: _ProcessQueue | None = None
        self._dispatch: deque[QueuedRequest] = deque()
        self._owners: dict[QueuedRequest, _ProcessQueue] = {}
        self._position = 0
        self._number = 0
        self._in_driver = 0
        self._tagged = False
        self._wait_until = -1.0

    @classmethod
    def made(cls, queue: QueueFacts) -> Cfq:
        """See :meth:`Scheduler.made`; a drive that queues and does not turn may be one that it does not idle on."""
        tunables: CfqSettings = queue.section if queue.usual else CfqSettings()
        if not (queue.section.idles_on_solid or queue.rotational) and queue.depth > 1:
            tunables = tunables.model_copy(update={"slice_idle": 0.0})
        return cls(queue.max_bytes, tunables)

    @classmethod
    def round_s(cls, section: SchedulerSettings) -> float:
        """See :meth:`Scheduler.round_s`."""
        return section.slice_sync + section.slice_async

    def _queue_of(self, queued: Request, now: float) -> _ProcessQueue:
        sync = queued.op == READ or queued.sync >= DIRECT
        key = (sync, queued.issuer if sync else _WRITE_BACK)
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = _ProcessQueue(key[1], sync, now)
        return queue

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        self._number += 1
        queue = self._owners[queued] = self._queue_of(queued, now)
        if not queue.requests.count and queue is not self._active:
            self._line_up(queue)
        queued.number = self._number
        queue.requests.add(queued)
        queue.fifo.add(queued)
        active = self._active
        if queue.sync:
            self._learn(queue, queued, now)
            if queue is active and self._wait_until >= 0.0:
                # What the disk idled for is served, even if the slice is over meanwhile.
                self._wait_until = -1.0
                queue.slice_end = max(queue.slice_end, now)
        elif self._wait_until >= 0.0 and active is not None and active.issuer == queued.issuer:
            self._expire(active)

    def _learn(self, queue: _ProcessQueue, queued: QueuedRequest, now: float) -> None:
        idle_s = self._slice_idle_s
        queue.think(min(now - queue.last_end, 2 * idle_s))
        queue.seeks.add(queued.offset, queued.size)
        if not idle_s or (self._tagged and queue.seeks.mean > _SEEKY):
            queue.idles = False
        elif queue.think_weight > _ENOUGH:
            queue.idles = queue.think_s <= idle_s

    def _line_up(self, queue: _ProcessQueue) -> None:
        """To the end of the line; who has never had the disk goes before those who have."""
        (self._newcomers if queue.new else self._waiting).append(queue)

    def wake_at(self) -> float | None:
        """End of the idling, while the disk idles for a process."""
        return self._wait_until if self._wait_until >= 0.0 else None

    def next(self, now: float) -> QueuedRequest | None:
        """The next request of whoever has the disk; None while it idles or with nothing queued."""
        if not self._dispatch:
            self._fill(now)
        if not self._dispatch:
            return None
        self._in_driver += 1
        if self._in_driver > _TAGGED:
            self._tagged = True
        return self._dispatch.popleft()

    def _fill(self, now: float) -> None:
        """Send a quantum on; of several processes if the disk does not idle for them."""
        previous = None
        head = self._position
        chosen: list[QueuedRequest] = []
        while (queue := self._select(now)) is not None and queue is not previous:
            self._wait_until = -1.0
            chosen += self._quantum(queue, now)
            if queue.idles and self._active is not None:
                break
            previous = queue
        # As elv_dispatch_sort has it: upwards from the head, what lies behind it after that.
        chosen.sort(key=lambda queued: (queued.position < head, queued.position))
        self._dispatch.extend(chosen)

    def _select(self, now: float) -> _ProcessQueue | None:
        """Whose turn it is; None if the disk idles, or waits for what a process has under way."""
        queue = self._active
        if queue is not None:
            waiting = self._wait_until >= 0.0
            if waiting and now < self._wait_until:
                return None
            if not waiting and now <= queue.slice_end:
                if queue.requests.count:
                    return queue
                if queue.under_way or (queue.sync and self._idle(queue, now)):
                    return None
            self._expire(queue)
        return self._activate()

    def _idle(self, queue: _ProcessQueue, now: float) -> bool:
        """Keep the disk idle for the process, if that is worth it."""
        idle_s = self._slice_idle_s
        if not idle_s or not queue.idles:
            return False
        self._wait_until = now + (min(idle_s, _SEEK_WAIT_S) if queue.seeky else idle_s)
        return True

    def _activate(self) -> _ProcessQueue | None:
        if not self._this_round:
            self._newcomers = self._begin_round(self._newcomers)
            self._waiting = self._begin_round(self._waiting)
            if not self._this_round:
                line = self._newcomers or self._waiting
                if not line:
                    return None
                self._this_round.append(line.popleft())
        queue = self._active = self._this_round.popleft()
        queue.slice_end = -1.0
        queue.served = 0
        queue.fifo_checked = False
        return queue

    def _begin_round(self, line: deque[_ProcessQueue]) -> deque[_ProcessQueue]:
        """The queues of a line that have nothing under way are in this round; returns the others."""
        others: deque[_ProcessQueue] = deque()
        for queue in line:
            (others if queue.under_way else self._this_round).append(queue)
        return others

    def _expire(self, queue: _ProcessQueue) -> None:
        """The process has had its slice, or is too long in coming back."""
        self._wait_until = -1.0
        self._active = None
        queue.new = False
        if queue.requests.count:
            self._line_up(queue)

    def _quantum(self, queue: _ProcessQueue, now: float) -> list[QueuedRequest]:
        chosen: list[QueuedRequest] = []
        while queue.requests.count and len(chosen) < self._most_together:
            queued = self._expired(queue, now)
            if queued is None:
                queued = queue.requests.nearest(self._position, _MOST_BACK)
            queue.requests.remove(queued)
            queue.fifo.remove(queued)
            self._take(queued)
            self._position = queued.offset + queued.size
            queue.under_way += 1
            queue.served += 1
            chosen.append(queued)
        if queue.slice_end < 0.0:
            queue.slice_end = now + (self._slice_sync_s if queue.sync else self._slice_async_s)
        if not queue.idles or (not queue.sync and queue.served >= self._most_async):
            self._expire(queue)
        return chosen

    def _expired(self, queue: _ProcessQueue, now: float) -> QueuedRequest | None:
        """The oldest request if it has expired; once in a slice."""
        oldest = queue.fifo.oldest
        if queue.fifo_checked or oldest is None:
            return None
        expire_s = self._expire_s[0] if queue.sync else self._expire_s[1]
        if now - oldest.arrived <= expire_s:
            return None
        queue.fifo_checked = True
        return oldest

    def completed(self, queued: QueuedRequest, now: float) -> None:
        """End a slice that is over, or begin to idle."""
        self._in_driver -= 1
        queue = self._owners.pop(queued)
        queue.under_way -= 1
        queue.last_end = now
        if queue is self._active and now > queue.slice_end:
            self._expire(queue)
