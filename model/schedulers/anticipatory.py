"""The anticipatory scheduler of Linux 2.6 (drivers/block/as-iosched.c).

Reads and writes are served in alternating batches. Inside a read batch the disk is kept idle for a few
milliseconds after a read, because the process that read is likely to read nearby again (Iyer and
Druschel, "Anticipatory scheduling", SOSP 2001): one sequential reader is then not slowed by every write
in the queue, and writes get their turn when the read batch expires or nobody reads. Nor do two sequential
readers send the disk back and forth with every read: each has it until the oldest read of the other has
expired. A read of another process ends the waiting only if it is near (as_close_req) or nearer than what
the process usually seeks, a write if it is the reader's own or as near (as_can_break_anticipation).

What is remembered of a process is one for all queues of the host (as_io_context hangs on the task). Its pauses and
seeks are therefore those of all its reads, and no queue waits for a process that has a request in another: a striped
or mirrored array anticipates less than a disk does.
"""

from __future__ import annotations

from typing import ClassVar, Final

from ..core.request import READ, WRITE, Request
from .address_order import AddressOrder, ArrivalOrder
from .base import QueuedRequest, Scheduler
from .io_history import SeekHistory
from .settings import AnticipatorySettings, QueueFacts, SchedulerSettings

_FIRST_WRITE_BUDGET: Final = 16
_LARGEST_WRITE_BUDGET: Final = 4096
_THINK_TIME_WEIGHT: Final = 0.125
"""How much the newest pause between two reads counts in a process's think time."""
_LONGEST_THINK_S: Final = 0.02
"""A longer pause counts as this one: a reader that has been away is believed again soon (MAX_THINKTIME, HZ / 50)."""
_MOST_BACK: Final = 512 << 20
"""How far (bytes) the elevator goes back before it sweeps: MAXBACK, 2^20 sectors."""
_CLOSE: Final = 32 * 1024
"""A read of another process so near (bytes) is served at once; doubles with every millisecond but the first."""


class Reader:
    """What the scheduler remembers of a process: when its last read ended, how long it thinks and how far it seeks."""

    __slots__ = ("_samples", "_total_s", "ended", "seeks", "under_way")

    def __init__(self) -> None:
        self.ended = -1.0
        self.seeks = SeekHistory()
        self.under_way = 0
        self._samples = 0.0
        self._total_s = 0.0

    @property
    def think_s(self) -> float:
        """Mean pause between its reads, the newest ones counting most (as_update_thinktime)."""
        return self._total_s / self._samples if self._samples else 0.0

    def paused(self, seconds: float) -> None:
        """One more pause between two reads."""
        self._samples += (1.0 - self._samples) * _THINK_TIME_WEIGHT
        self._total_s += (min(seconds, _LONGEST_THINK_S) - self._total_s) * _THINK_TIME_WEIGHT


class Anticipatory(Scheduler):
    """Batches of reads and writes with anticipation.

    Parameters
    ----------
    max_bytes
        Largest merged request (bytes).
    settings
        Tunables.
    phase
        How much of the first read batch is already over when a write begins to wait (0 to 1): disks do not start
        their batches together.
    processes
        What all queues of the host remember of processes; None: each for itself.
    """

    __slots__ = (
        "_alone",
        "_anticipation_s",
        "_batch",
        "_batch_ends",
        "_ended",
        "_expire_s",
        "_expiry_checked",
        "_fifo",
        "_in_driver",
        "_last_reader",
        "_number",
        "_positions",
        "_read_batch_s",
        "_readers",
        "_sorted",
        "_usual_read_batch_s",
        "_wait_until",
        "_write_batch_s",
        "_write_budget",
        "_writes_allowed",
        "_writes_done",
    )
    name: ClassVar[str] = "anticipatory"
    listed: ClassVar[bool] = True
    idles = True

    def __init__(
        self,
        max_bytes: int,
        settings: AnticipatorySettings,
        phase: float = 0.0,
        processes: dict[int, Reader] | None = None,
    ) -> None:
        super().__init__(max_bytes)
        self._usual_read_batch_s = settings.read_batch
        self._write_batch_s = settings.write_batch
        self._anticipation_s = settings.anticipation
        self._expire_s = (settings.read_expire, settings.write_expire)
        self._sorted = (AddressOrder(), AddressOrder())
        self._fifo = (ArrivalOrder(), ArrivalOrder())
        self._batch = READ
        self._read_batch_s = settings.read_batch * (1.0 - phase)
        self._batch_ends = self._read_batch_s
        self._positions = [0, 0]
        self._in_driver = 0
        self._number = 0
        self._expiry_checked = [0.0, 0.0]
        self._wait_until = -1.0
        self._last_reader: Reader | None = None
        self._alone = processes is None
        self._readers: dict[int, Reader] = {} if processes is None else processes
        self._ended = -1.0
        self._write_budget = _FIRST_WRITE_BUDGET
        self._writes_allowed = 0
        self._writes_done = 0

    @classmethod
    def made(cls, queue: QueueFacts) -> Anticipatory:
        """See :meth:`Scheduler.made`; queues share what they remember of processes where the kernel does so."""
        section = queue.section
        readers: dict[int, Reader] | None = queue.shared.setdefault(cls.name, {}) if section.task_history else None
        return cls(queue.max_bytes, section if queue.usual else AnticipatorySettings(), queue.draw(), readers)

    @classmethod
    def round_s(cls, section: SchedulerSettings) -> float:
        """See :meth:`Scheduler.round_s`."""
        return section.read_batch + section.write_batch

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        self._number += 1
        queued.number = self._number
        self._sorted[queued.op].add(queued)
        self._fifo[queued.op].add(queued)
        if queued.op == READ:
            self._read_arrived(queued.issuer, now)
            reader = self._readers[queued.issuer]
            reader.seeks.add(queued.offset, queued.size)
            reader.under_way += 1
            if self._wait_until >= 0.0 and (self._has_other() or self._is_better(queued, now)):
                self._stop_waiting()
        elif self._wait_until >= 0.0 and self._breaks(queued):
            self._stop_waiting()

    def _breaks(self, write: QueuedRequest) -> bool:
        """Whether a write ends the waiting: the reader's own, or one nearer than what the reader usually seeks."""
        reader = self._last_reader
        if reader is None or self._readers.get(write.issuer) is reader or self._has_other():
            return True
        distance: int = write.offset - self._positions[READ]
        return reader.seeks.mean > abs(distance)

    def _has_other(self) -> bool:
        """Whether the reader that is waited for has a request in another queue."""
        reader = self._last_reader
        return not self._alone and reader is not None and reader.under_way > 0

    def _merged(self, queued: QueuedRequest, request: Request, now: float) -> None:
        if request.op == READ and self._alone:
            self._read_arrived(request.issuer, now)

    def _read_arrived(self, issuer: int, now: float) -> None:
        reader = self._readers.get(issuer)
        if reader is None:
            reader = self._readers[issuer] = Reader()
        else:
            pauses = reader.ended >= 0.0 and (self._alone or not reader.under_way)
            reader.paused(now - reader.ended if pauses else 0.0)
            reader.ended = -1.0
        if reader is self._last_reader:
            self._stop_waiting()

    def _stop_waiting(self) -> None:
        """There will be no more waiting until another read has gone out."""
        self._wait_until = -1.0
        self._last_reader = None

    def wake_at(self) -> float | None:
        """End of the anticipation, while one is on."""
        return self._wait_until if self._wait_until >= 0.0 else None

    def next(self, now: float) -> QueuedRequest | None:
        """The next request of the batch; None while anticipating or with nothing queued."""
        reads, writes = self.reads, self.writes
        if self._batch == READ:
            expired = now >= self._batch_ends
            if reads and not (expired and writes):
                return self._next_read(now)
            if not reads and not writes:
                return None
            if writes and not reads and self._anticipating(now):
                return None
            self._wait_until = -1.0
            self._start_writes(now)
            return self._next_write(now)
        if writes and not (reads and (now >= self._batch_ends or self._writes_done >= self._writes_allowed)):
            return self._next_write(now)
        if not reads and not writes:
            return None
        if self._in_driver:
            return None
        self._end_writes(now)
        self._batch = READ
        self._batch_ends = now + self._usual_read_batch_s
        return self._pick(READ, now)

    def _next_read(self, now: float) -> QueuedRequest | None:
        if self._wait_until >= 0.0 and self._anticipating(now):
            return None
        chosen = self._expired(READ, now)
        if chosen is None:
            chosen = self._sorted[READ].nearest(self._positions[READ], _MOST_BACK)
            if not self._is_better(chosen, now) and self._anticipating(now):
                return None
        self._wait_until = -1.0
        if not self.writes:
            self._batch_ends = now + self._read_batch_s
        return self._send(READ, chosen)

    def _is_better(self, other: QueuedRequest, now: float) -> bool:
        """Whether a read of another process is near, or nearer than what the last reader is expected to send."""
        reader = self._last_reader
        if reader is None:
            return True
        ahead: int = other.offset - self._positions[READ]
        waited_s = now - self._ended if self._wait_until >= 0.0 else 0.0
        if waited_s > self._anticipation_s:
            return True
        close = _CLOSE << max(0, int(waited_s * 1000) - 1)
        if -close // 2 <= ahead <= close:
            if not self._alone:
                reader.ended = now  # two that work side by side count as one (as_can_break_anticipation)
            return True
        return reader.seeks.mean > abs(ahead)

    def _anticipating(self, now: float) -> bool:
        reader = self._last_reader
        if self._wait_until > now and not self._alone:
            return True
        if reader is None or self._ended < 0.0 or reader.under_way:
            return False
        limit = self._anticipation_s
        if reader.think_s > limit:
            return False
        until = self._ended + limit
        if now >= until:
            self._last_reader = None
            return False
        self._wait_until = until
        return True

    def _start_writes(self, now: float) -> None:
        self._batch = WRITE
        self._batch_ends = now + self._write_batch_s
        self._read_batch_s = self._usual_read_batch_s
        self._writes_allowed = self._write_budget
        self._writes_done = 0

    def _end_writes(self, now: float) -> None:
        """Adapt how many writes a batch may send, so that it lasts about its time."""
        if self._writes_done >= self._writes_allowed and now < self._batch_ends:
            self._write_budget = min(self._write_budget * 2, _LARGEST_WRITE_BUDGET)
        elif now > self._batch_ends + self._write_batch_s / 2:
            self._write_budget = max(self._write_budget // 2, 1)

    def _next_write(self, now: float) -> QueuedRequest:
        self._writes_done += 1
        return self._pick(WRITE, now)

    def _pick(self, op: int, now: float) -> QueuedRequest:
        """The nearest request, unless one has expired."""
        chosen = self._expired(op, now)
        if chosen is None:
            chosen = self._sorted[op].nearest(self._positions[op], _MOST_BACK)
        return self._send(op, chosen)

    def _send(self, op: int, queued: QueuedRequest) -> QueuedRequest:
        self._sorted[op].remove(queued)
        self._fifo[op].remove(queued)
        self._positions[op] = queued.offset + queued.size
        self._in_driver += 1
        self._last_reader = self._readers[queued.issuer] if op == READ else None
        self._ended = -1.0
        return self._take(queued)

    def _expired(self, op: int, now: float) -> QueuedRequest | None:
        """The oldest request if it has expired; looked at once an expiry time, to save seeks."""
        expire_s = self._expire_s[1] if op == WRITE else self._expire_s[0]
        if now - self._expiry_checked[op] < expire_s:
            return None
        self._expiry_checked[op] = now
        oldest = self._fifo[op].oldest
        return oldest if oldest is not None and now - oldest.arrived > expire_s else None

    def completed(self, queued: QueuedRequest, now: float) -> None:
        """Remember when whose read ended, for the anticipation."""
        self._in_driver -= 1
        if queued.op == READ:
            reader = self._readers[queued.issuer]
            reader.ended = now
            reader.under_way -= 1
            if reader is self._last_reader:
                self._ended = now
