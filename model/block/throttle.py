"""Throttles of a queue: what they may hold back, and the write-back throttling (wbt) of Linux 6.1.

With wbt, writes nobody watches give way when reads become slow. A window of 100 ms (shorter while throttling is hard)
sees the smallest read latency of the device. Above the target the number of writes allowed at once is halved; below it,
or with only writes about, it grows again. Direct writes of a program pass, but an array that drops REQ_IDLE (md's RAID
1, 10, 4, 5, 6) makes ordinary writes of them. The target is compared with the *smallest* latency, so a device that is
simply slower than its target is throttled down to one write at a time. Discards are counted by themselves, and as many
are allowed as writes in the background (get_limit, WBT_RWQ_DISCARD). Sources: block/blk-wbt.c, block/blk-rq-qos.c
(rq_depth_calc_max_depth), block/blk-stat.c.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, Final, Protocol

from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import ASYNC, DIRECT, READ, TRIM, Request
from ..schedulers import QueuedRequest

WINDOW_S: Final = 0.1
DEFAULT_DEPTH: Final = 16
TARGET_NON_ROTATIONAL_S: Final = 0.002
TARGET_ROTATIONAL_S: Final = 0.075

_WRITE_SAMPLES: Final = 3
_UNKNOWN_WINDOWS: Final = 5
_CLOSE_IO_S: Final = 0.1
_LARGEST_SHIFT: Final = 31


class WriteBackThrottle:
    """The throttle of one device's queue.

    Parameters
    ----------
    engine
        The clock.
    target_s
        Read latency that is still good (s): wbt_lat_usec.
    queue_depth
        nr_requests when the throttle was set up, which a later change does not alter; None for the queue's tags.

    Attributes
    ----------
    step
        How hard writes are throttled: a step above 0 halves what is allowed, one below doubles it.
    allowed
        Waited-for writes allowed at once (of others a half, or a quarter soon after other I/O).
    """

    __slots__ = (
        "_active",
        "_background",
        "_discards",
        "_engine",
        "_in_flight",
        "_last_read",
        "_normal",
        "_queue_depth",
        "_read_min_s",
        "_reads",
        "_release",
        "_scaled_max",
        "_target_s",
        "_tracked",
        "_unknown",
        "_watched",
        "_watched_since",
        "_window_s",
        "_writes",
        "allowed",
        "step",
    )

    def __init__(self, engine: Engine, target_s: float, queue_depth: int | None = None) -> None:
        if not target_s > 0:
            raise ModelError(
                f"write-back throttling with a target of {target_s} s; more than 0 (no throttle turns it off)"
            )
        self._engine = engine
        self._target_s = target_s
        self._queue_depth = queue_depth or 0
        self._in_flight = self._discards = 0
        self._tracked: set[QueuedRequest] = set()
        self._last_read = engine._now
        self._active = False
        self._window_s = WINDOW_S
        self._reads = self._writes = 0
        self._read_min_s = float("inf")
        self._watched: Request | None = None
        self._watched_since = 0.0
        self._unknown = 0

    def attach(self, release: Callable[[], None], depth: int) -> None:
        """See :meth:`raidsim.model.block.throttle.Throttle.attach`."""
        self._release = release
        self._queue_depth = self._queue_depth or depth
        self.step = 0
        self._scaled_max = self._set_limits()

    def admit(self, request: Request, first: bool) -> bool:
        """See :meth:`raidsim.model.block.throttle.Throttle.admit`."""
        if request.op == READ:
            self._last_read = self._engine._now
            return True
        if request.sync == DIRECT:
            return True
        discards = request.op == TRIM
        if not first or (
            self._discards >= self._background if discards else self._in_flight >= self._limit(request.sync)
        ):
            return False
        if discards:
            self._discards += 1
        else:
            self._in_flight += 1
        if not self._active:
            self._start_window()
        return True

    def _limit(self, sync: int) -> int:
        """Writes allowed at once for one like this; after other I/O, those nobody waits for get less."""
        if sync != ASYNC:
            return self.allowed
        return self._background if self._engine._now - self._last_read < _CLOSE_IO_S else self._normal

    def track(self, queued: QueuedRequest) -> None:
        """See :meth:`raidsim.model.block.throttle.Throttle.track`."""
        if queued.op and queued.sync != DIRECT:
            self._tracked.add(queued)

    def merged(self, queued: QueuedRequest) -> None:
        """See :meth:`raidsim.model.block.throttle.Throttle.merged`."""
        if queued in self._tracked:
            self._ended(queued)

    def sent(self, queued: QueuedRequest) -> None:
        """See :meth:`raidsim.model.block.throttle.Throttle.sent`."""
        if queued.op == READ and self._watched is None:
            self._watched = queued
            self._watched_since = self._engine._now

    def passed(self, queued: QueuedRequest) -> None:
        """See :meth:`raidsim.model.block.throttle.Throttle.passed`."""
        if queued.op == READ:
            self._last_read = now = self._engine._now
            if self._watched is None:
                self._watched = queued
                self._watched_since = now

    def completed(self, queued: QueuedRequest) -> None:
        """See :meth:`raidsim.model.block.throttle.Throttle.completed`."""
        if queued.op == READ:
            now = self._engine._now
            if self._active:
                self._reads += 1
                latency_s = now - queued.submitted
                if latency_s < self._read_min_s:
                    self._read_min_s = latency_s
            self._last_read = now
            if queued is self._watched:
                self._watched = None
            return
        if self._active:
            self._writes += 1
        if queued in self._tracked:
            self._ended(queued)

    def _ended(self, queued: QueuedRequest) -> None:
        """A write or discard less: sleepers are woken when there is room for a few of its kind."""
        self._tracked.discard(queued)
        if queued.op == TRIM:
            self._discards = left = self._discards - 1
            room = self._background - left
        else:
            self._in_flight = left = self._in_flight - 1
            room = self._normal - left
        if not left or (room > 0 and room >= self._background // 2):
            self._release()

    def _start_window(self) -> None:
        self._active = True
        self._window_s = WINDOW_S / sqrt(self.step + 1) if self.step > 0 else WINDOW_S
        self._reads = self._writes = 0
        self._read_min_s = float("inf")
        self._engine.call_at(self._engine._now + self._window_s, self._window_over)

    def _window_over(self, _: Any) -> None:
        self._active = False
        in_flight = self._in_flight + self._discards
        if self._too_slow():
            self._scale_down(hard=True)
        elif self._writes or in_flight:
            # The reads are fast enough, or there are none to speak of and the writes may have the device.
            self._scale_up()
        else:
            self._drift_back()
        if (self.step or in_flight) and not self._active:
            self._start_window()

    def _too_slow(self) -> bool:
        """Whether reads are slower than the target."""
        if self._watched is not None:
            waited_s = self._engine._now - self._watched_since
            if waited_s > self._window_s or (waited_s > self._target_s and not self._reads):
                return True
        return bool(self._reads) and self._writes >= _WRITE_SAMPLES and self._read_min_s > self._target_s

    def _drift_back(self) -> None:
        """Nothing is known: after a few such windows, a step towards the middle."""
        self._unknown += 1
        if self._unknown < _UNKNOWN_WINDOWS:
            return
        if self.step > 0:
            self._scale_up()
        elif self.step < 0:
            self._scale_down(hard=False)

    def _scale_up(self) -> None:
        if self._scaled_max:
            return
        self.step -= 1
        self._scaled_max = self._set_limits()
        self._unknown = 0
        self._release()

    def _scale_down(self, hard: bool) -> None:
        if self.allowed == 1:
            return
        self.step = 0 if self.step < 0 and hard else self.step + 1
        self._scaled_max = False
        self._set_limits()
        self._unknown = 0

    def _set_limits(self) -> bool:
        """What the step allows; True if a lower step would not allow more."""
        at_most = False
        if self._queue_depth == 1:
            # One more is kept ready, unless throttling is on.
            at_most = self.step <= 0
            depth = 2 if at_most else 1
        else:
            depth = min(DEFAULT_DEPTH, self._queue_depth)
            if self.step > 0:
                depth = 1 + ((depth - 1) >> min(_LARGEST_SHIFT, self.step))
            elif self.step < 0:
                most = 3 * self._queue_depth // 4
                depth = 1 + ((depth - 1) << -self.step)
                if depth > most:
                    depth, at_most = most, True
        self.allowed = depth
        if depth <= 2:
            self._normal, self._background = depth, 1
        else:
            self._normal, self._background = (depth + 1) // 2, (depth + 3) // 4
        return at_most


class Throttle(Protocol):
    """What a queue of blk-mq asks and tells it (block/blk-rq-qos.c, rq_qos)."""

    def attach(self, release: Callable[[], None], depth: int) -> None:
        """Learn the queue: `release` is called when held-back requests may be asked for again; its depth."""

    def admit(self, request: Request, first: bool) -> bool:
        """Whether `request` may go on; `first` if none waits before it. An admitted request is accounted for."""

    def track(self, queued: QueuedRequest) -> None:
        """An admitted request has become `queued`."""

    def merged(self, queued: QueuedRequest) -> None:
        """A tracked `queued` has been merged into another request."""

    def sent(self, queued: QueuedRequest) -> None:
        """The device has received `queued`."""

    def passed(self, queued: QueuedRequest) -> None:
        """A read or a direct write has been admitted and sent at once."""

    def completed(self, queued: QueuedRequest) -> None:
        """The device has finished `queued`."""
