"""BFQ of Linux 6.1: each process gets its turn, and in it a budget of bytes (block/bfq-iosched.c).

Turns follow B-WF2Q+ (:mod:`.fair_queueing`), so that all processes get the same share of what the drive can do.
Whoever has the turn keeps it until its budget or an eighth of a second is used up, also while it has nothing queued for
a moment, where waiting for its next request pays: on a drive that turns for a process that reads on, or for any if the
drive takes one request at a time. Where nothing turns and the drive queues, nobody is waited for. A process that seeks
is charged the time of its turn as if the drive had moved data at its best meanwhile, so that it gets an equal share of
the time and not of the bytes. Write-back belongs to no process, shares one queue and is charged three times.

Left out: groups and weights; raising the weight of interactive and soft real-time processes (low_latency), which all
processes that begin together get for their first seconds and which a lasting load does not keep; merging queues of
processes that read near each other; and letting others' requests in while the drive idles (injection). Its CPU time is
that of other schedulers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from ..core.request import ASYNC, READ, Request
from .base import QueuedRequest, Scheduler
from .bfq_process import BfqProcess, is_seek
from .fair_queueing import FairQueueing
from .peak_rate import PeakRate
from .settings import QueueFacts, SchedulerSettings

_MOST_BACK: Final = 16 << 20
"""How far (bytes) the elevator goes back before it sweeps (bfq_back_max)."""
_SEEK_WAIT_S: Final = 0.002
"""How long the drive idles for a process that seeks (BFQ_MIN_TT)."""
_DEFAULT_BUDGET: Final = 16 * 1024 * 512
"""Bytes, until enough turns have shown what the drive can do (bfq_default_max_budget)."""
_ENOUGH_TURNS: Final = 194
_TURN_WEIGHT, _MOST_TURNS = 1 / 8, 256
"""The count of turns goes towards 256 by an eighth of what is missing (bfq_stats_min_budgets, budgets_assigned)."""
_LEAST: Final = 1 / 32
"""Least budget, as a share of the largest (bfq_min_budget)."""
_ASYNC_CHARGE: Final = 3
_QUEUE_DEPTH, _QUEUE_SAMPLES = 3, 32
"""A drive that had more requests inside queues them itself; looked at in so many completions (bfq_update_hw_tag)."""
_UNKNOWN: Final = -1
_SURE_S, _TOO_SHORT_S = 0.020, 0.001
"""How fast a process was served is told after so long, and not at all before."""
_BACK_IN_TIME: Final = 3
"""A process comes back in time within so many idlings."""
_WRITE_BACK: Final = 0


@dataclass(frozen=True, slots=True)
class BfqSettings:
    """The tunables of BFQ."""

    slice_idle_s: float = 0.008
    """How long (s) the drive idles for the next request of whoever has the turn; 0 turns idling off."""
    timeout_s: float = 0.125
    """How long a turn lasts (timeout_sync)."""
    sync_expire_s: float = 0.125
    async_expire_s: float = 0.250
    """Age (s) at which a request is served before its turn in address order, one in each turn."""


class Bfq(Scheduler):
    """Turns with budgets.

    Parameters
    ----------
    max_bytes
        Largest merged request (bytes).
    rotational
        Whether the drive turns.
    settings
        Tunables.
    """

    __slots__ = (
        "_began",
        "_idle_from",
        "_in_driver",
        "_most_in_driver",
        "_number",
        "_owners",
        "_position",
        "_processes",
        "_queueing",
        "_queueing_samples",
        "_rate",
        "_rotational",
        "_served",
        "_settings",
        "_turns",
        "_turns_of",
        "_wait_until",
    )
    name: ClassVar[str] = "bfq"
    listed: ClassVar[bool] = True
    throttled: ClassVar[bool] = False  # unless it is asked for (wbt_disable_default)
    async_share: ClassVar[float] = 0.5  # bfq_update_depths
    idles = True

    def __init__(self, max_bytes: int, rotational: bool = True, settings: BfqSettings | None = None) -> None:
        super().__init__(max_bytes)
        self._settings = settings or BfqSettings()
        self._rotational = rotational
        self._processes: dict[tuple[bool, int], BfqProcess] = {}
        self._owners: dict[QueuedRequest, BfqProcess] = {}
        self._turns_of = FairQueueing()
        self._served: BfqProcess | None = None
        self._rate = PeakRate(rotational)
        self._turns = 0.0
        self._began = self._idle_from = 0.0
        self._wait_until = -1.0
        self._position = 0
        self._number = 0
        self._in_driver = self._most_in_driver = self._queueing_samples = 0
        self._queueing = _UNKNOWN

    @classmethod
    def made(cls, queue: QueueFacts) -> Bfq:
        """See :meth:`Scheduler.made`."""
        return cls(queue.max_bytes, queue.rotational)

    @classmethod
    def round_s(cls, section: SchedulerSettings) -> float:
        """See :meth:`Scheduler.round_s`."""
        return 2 * BfqSettings().timeout_s

    # what arrives

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        self._look_at_timer(now)
        process = self._owners[queued] = self._process_of(queued, now)
        process.learn(queued, self._rotational, self._settings.slice_idle_s, now)
        self._number += 1
        queued.number = self._number
        process.requests.add(queued)
        process.fifo.add(queued)
        if not process.busy:
            self._come_back(process, now)
        elif process is self._served and self._wait_until >= 0.0:
            self._wait_until = -1.0
            if self._time_is_up(now):
                self._expire(process, "time", now)

    def _process_of(self, queued: Request, now: float) -> BfqProcess:
        sync = queued.op == READ or queued.sync != ASYNC
        key = (sync, queued.issuer if sync else _WRITE_BACK)
        process = self._processes.get(key)
        if process is None:
            process = self._processes[key] = BfqProcess(key[1], sync, 2 * self._usual_budget() / 3, now)
        return process

    def _come_back(self, process: BfqProcess, now: float) -> None:
        """It has something to do again; if it was away for a moment only, it takes the turn from the other."""
        in_time = now <= process.last_end + _BACK_IN_TIME * self._settings.slice_idle_s
        goes_on = process.away and in_time and process.budget_left > 0
        if goes_on:
            process.budget = min(process.budget_left, process.largest_budget)
        else:
            process.budget = max(process.largest_budget, self._charge_of_first(process))
        process.service = 0.0
        process.busy = True
        self._turns_of.activate(process, goes_on)
        process.away = False
        served = self._served
        if served is not None and (goes_on or not self._worth_idling(served)):
            self._expire(served, "preempted", now)

    # whose turn it is

    def wake_at(self) -> float | None:
        """End of the idling, while the drive idles for a process."""
        return self._wait_until if self._wait_until >= 0.0 else None

    def next(self, now: float) -> QueuedRequest | None:
        """The next request of whoever has the turn; None while the drive idles or with nothing queued."""
        self._look_at_timer(now)
        process = self._select(now)
        if process is None:
            return None
        queued = self._expired(process, now)
        if queued is None:
            queued = process.requests.nearest(self._position, _MOST_BACK)
        process.requests.remove(queued)
        process.fifo.remove(queued)
        self._turns_of.serve(process, self._charge(queued, process))
        process.under_way += 1
        near = not is_seek(self._position, queued, self._rotational)
        self._rate.dispatched(queued.size, near, self._in_driver, now)
        self._position = queued.offset + queued.size
        self._in_driver += 1
        return self._take(queued)

    def _select(self, now: float) -> BfqProcess | None:
        process = self._served
        if process is not None and self._may_time_out(process, now) and not self._must_idle(process):
            self._expire(process, "time", now)
            process = None
        while True:
            if process is None:
                process = self._start_turn(now)
                if process is None:
                    return None
            if process.requests.count:
                if self._charge_of_first(process) <= process.budget_left:
                    self._wait_until = -1.0
                    return process
                self._expire(process, "budget", now)
            elif self._wait_until >= 0.0 or (process.under_way and self._worth_idling(process)):
                return None
            else:
                self._expire(process, "empty", now)
            process = None

    def _start_turn(self, now: float) -> BfqProcess | None:
        chosen = self._turns_of.choose()
        assert chosen is None or isinstance(chosen, BfqProcess)
        self._served = chosen
        if chosen is not None:
            chosen.fifo_checked = False
            self._turns += (_MOST_TURNS - self._turns) * _TURN_WEIGHT
            self._began = now
        return chosen

    def _expired(self, process: BfqProcess, now: float) -> QueuedRequest | None:
        """The oldest request if it has expired; looked at once in a turn."""
        oldest = process.fifo.oldest
        if process.fifo_checked or oldest is None:
            return None
        process.fifo_checked = True
        expire_s = self._settings.sync_expire_s if process.sync else self._settings.async_expire_s
        return oldest if now - oldest.arrived >= expire_s else None

    # idling

    def _worth_idling(self, process: BfqProcess) -> bool:
        """Whether the drive should wait for the next request of the process (bfq_better_to_idle)."""
        if not self._settings.slice_idle_s or not process.sync:
            return False
        if self._turns_of.busy == 1:
            return True
        if self._rotational and not self._queueing:
            return True
        reads_on = not process.seeky and process.io_bound and process.thinks_shortly
        return reads_on and (self._rotational or not self._queueing)

    def _must_idle(self, process: BfqProcess) -> bool:
        return not process.requests.count and self._worth_idling(process)

    def _look_at_timer(self, now: float) -> None:
        """End the idling if nothing has come."""
        if 0.0 <= self._wait_until <= now:
            self._wait_until = -1.0
            process = self._served
            if process is None:
                return
            if self._time_is_up(now):
                self._expire(process, "time", now, self._idle_from)
            elif not process.requests.count:
                self._expire(process, "idle", now, self._idle_from)

    # the end of a turn

    def _time_is_up(self, now: float) -> bool:
        return now >= self._began + self._settings.timeout_s

    def _may_time_out(self, process: BfqProcess, now: float) -> bool:
        waits_late = self._wait_until >= 0.0 and process.budget_left < process.budget / 3
        return not waits_late and self._time_is_up(now)

    def _charge(self, queued: QueuedRequest, process: BfqProcess) -> int:
        return queued.size if process.sync else queued.size * _ASYNC_CHARGE

    def _charge_of_first(self, process: BfqProcess) -> int:
        """The charge of its request at the lowest address; there is one."""
        first = process.requests.first()
        assert first is not None
        return self._charge(first, process)

    @property
    def _largest_budget(self) -> float:
        """What the drive can do in a whole turn (bfq_calc_max_budget)."""
        return self._rate.rate * self._settings.timeout_s if self._rate.updates else _DEFAULT_BUDGET

    def _usual_budget(self) -> float:
        """The largest budget, once enough turns have shown it."""
        return _DEFAULT_BUDGET if self._turns < _ENOUGH_TURNS else self._largest_budget

    def _expire(self, process: BfqProcess, why: str, now: float, until: float | None = None) -> None:
        """End the turn: `why` it does decides how large the next one is (bfq_bfqq_expire); it lasted `until`."""
        self._wait_until = -1.0
        slow, seconds = self._slow(process, now if until is None else until)
        if slow or (why == "time" and process.budget_left >= process.budget / 3):
            self._charge_time(process, seconds)
        self._size_budget(process, why)
        goes_on = process.requests.count > 0
        self._turns_of.end_turn(goes_on)
        self._served = None
        process.busy = goes_on
        if goes_on or why in ("time", "budget"):
            process.service = 0.0
        else:
            process.away = True

    def _slow(self, process: BfqProcess, until: float) -> tuple[bool, float]:
        """Whether it had less than the drive can do, and how long its turn has lasted (s)."""
        if not process.sync:
            return False, 0.0
        seconds = until - self._began
        if seconds < _TOO_SHORT_S:
            return process.seeky, self._settings.slice_idle_s if self._rotational else _SEEK_WAIT_S
        if seconds > _SURE_S:
            return process.service < self._largest_budget / 2, seconds
        return process.seeky, seconds

    def _charge_time(self, process: BfqProcess, seconds: float) -> None:
        """As much as the drive could have moved meanwhile."""
        timeout_s = self._settings.timeout_s
        charged = max(self._largest_budget * min(seconds, timeout_s) / timeout_s, process.service)
        process.budget = max(process.budget, charged)
        self._turns_of.serve(process, charged - process.service)

    def _size_budget(self, process: BfqProcess, why: str) -> None:
        largest = self._largest_budget
        least = self._usual_budget() * _LEAST
        budget = process.largest_budget
        if not process.sync:
            budget = largest
        elif why == "idle":
            if process.under_way:
                budget = min(budget * 2, largest)
            else:
                budget = budget - 4 * least if budget > 5 * least else least
        elif why == "time":
            budget = min(budget * 2, largest)
        elif why == "budget":
            budget = min(budget * 4, largest)
        elif why == "empty":
            budget = max(process.service, least)
        if why != "preempted" or not process.sync:
            if self._turns >= _ENOUGH_TURNS:
                budget = min(budget, largest)
            process.largest_budget = budget
            if process.requests.count:
                process.budget = max(budget, self._charge_of_first(process))

    def completed(self, queued: QueuedRequest, now: float) -> None:
        """Begin to idle, or end a turn that is over."""
        self._look_at_timer(now)
        self._look_at_queueing()
        process = self._owners.pop(queued)
        self._in_driver -= 1
        process.under_way -= 1
        process.last_end = now
        self._rate.completed(now)
        if process is not self._served:
            return
        if self._must_idle(process):
            if not process.under_way:
                self._idle(process, now)
        elif self._may_time_out(process, now):
            self._expire(process, "time", now)
        elif not process.requests.count and (not process.under_way or not self._worth_idling(process)):
            self._expire(process, "empty", now)

    def _idle(self, process: BfqProcess, now: float) -> None:
        """Wait for its next request (bfq_arm_slice_timer)."""
        wait_s = self._settings.slice_idle_s
        self._wait_until = now + (min(wait_s, _SEEK_WAIT_S) if process.seeky else wait_s)
        self._idle_from = now

    def _look_at_queueing(self) -> None:
        """Find out whether the drive queues requests."""
        self._most_in_driver = max(self._most_in_driver, self._in_driver)
        if self._queueing == 1 or self._in_driver + self.reads + self.writes <= _QUEUE_DEPTH:
            return
        process = self._served
        if (
            process is not None
            and process.thinks_shortly
            and process.under_way + process.requests.count < _QUEUE_DEPTH
            and self._in_driver < _QUEUE_DEPTH
        ):
            return
        self._queueing_samples += 1
        if self._queueing_samples > _QUEUE_SAMPLES:
            self._queueing = int(self._most_in_driver > _QUEUE_DEPTH)
            self._most_in_driver = self._queueing_samples = 0
