"""What BFQ keeps of a process: its requests, its share, and how it has behaved so far (struct bfq_queue)."""

from __future__ import annotations

from typing import Final

from .address_order import AddressOrder, ArrivalOrder
from .base import QueuedRequest
from .fair_queueing import Flow

_HISTORY: Final = (1 << 32) - 1
_SEEKS: Final = 19
"""Of the last 32 requests, so many may be far from the one before (BFQQ_SEEKY)."""
_FAR: Final = 800 * 512
"""Bytes (BFQQ_SEEK_THR)."""
_LARGE: Final = 64 * 512
"""A request of that size (bytes) is no seek where nothing turns (BFQQ_SECT_THR_NONROT)."""
_NEWEST: Final = 0.125
_ENOUGH: Final = 80 / 256
_WINDOW_S: Final = 0.2


def is_seek(position: int, queued: QueuedRequest, rotational: bool) -> bool:
    """Whether a request is far from `position` (BFQ_RQ_SEEKY)."""
    distance: int = queued.offset - position
    return abs(distance) > _FAR and (rotational or queued.size < _LARGE)


class BfqProcess(Flow):
    """A process, or the write-back of all.

    Attributes
    ----------
    requests, fifo
        What it has queued, by address and by arrival.
    under_way
        Requests in the drive.
    largest_budget
        Of its next turns (bytes).
    busy
        Whether it waits for its turn or has it.
    away
        Whether it ran out of requests inside its turn, and is expected back.
    """

    __slots__ = (
        "_began",
        "_idle_s",
        "_last_position",
        "_new",
        "_seeks",
        "_think_total_s",
        "_think_weight",
        "away",
        "busy",
        "fifo",
        "fifo_checked",
        "io_bound",
        "issuer",
        "largest_budget",
        "last_end",
        "requests",
        "sync",
        "thinks_shortly",
        "under_way",
    )

    def __init__(self, issuer: int, sync: bool, largest_budget: float, now: float) -> None:
        super().__init__()
        self.issuer = issuer
        self.sync = sync
        self.largest_budget = largest_budget
        self.requests = AddressOrder()
        self.fifo = ArrivalOrder()
        self.fifo_checked = False
        self.under_way = 0
        self.busy = self.away = False
        self.io_bound = True
        self.thinks_shortly = sync
        self.last_end = self._began = now
        self._new = True
        self._idle_s = 0.0
        self._last_position = 0
        self._seeks = 1
        self._think_weight = self._think_total_s = 0.0

    @property
    def seeky(self) -> bool:
        """Whether most of its requests are far apart."""
        return self._seeks.bit_count() > _SEEKS

    def learn(self, queued: QueuedRequest, rotational: bool, slice_idle_s: float, now: float) -> None:
        """It has sent a request; before that is queued (bfq_update_io_thinktime, _seektime, _intensity)."""
        if not self.under_way and not self.busy:
            pause_s = min(now - self.last_end, 2 * slice_idle_s)
            self._think_weight += (1.0 - self._think_weight) * _NEWEST
            self._think_total_s += (pause_s - self._think_total_s) * _NEWEST
        if self.sync:
            long = self._think_weight > _ENOUGH and self._think_total_s / self._think_weight > slice_idle_s / 2
            self.thinks_shortly = not long
        seeks = is_seek(self._last_position, queued, rotational)
        self._seeks = (self._seeks << 1 | seeks) & _HISTORY
        self._last_position = queued.offset + queued.size
        if self.sync:
            self._weigh(now)

    def _weigh(self, now: float) -> None:
        """Whether it has something to do four fifths of the time."""
        if not self.requests.count and not self.under_way:
            self._idle_s += now - self.last_end
        if self._new:
            self._new = False
            return
        passed_s = now - self._began
        self.io_bound = self._idle_s * 5 <= passed_s
        if passed_s > _WINDOW_S:
            self._began = now - passed_s / 2
            self._idle_s /= 2
