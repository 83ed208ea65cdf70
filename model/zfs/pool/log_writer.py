"""The intent log of one dataset at work: commits are gathered into log blocks, written, flushed, and end in order.

A commit that comes alone closes its log block at once. When several come at the same time, the block stays open for
a tenth of the time that the last ones took, so that more commits share it. Source: OpenZFS 2.3 module/zfs/zil.c
(zil_commit_writer, zil_process_commit_list, zil_commit_waiter, zil_lwb_write_done, zil_lwb_flush_vdevs_done).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from mypy_extensions import i64

from ...core.engine import Engine
from ..allocation.allocator import Allocator, Place
from ..intent_log.log import Commit, IntentLog
from ..intent_log.records import LogRecord, LogRules, log_records
from .member_io import SYNC_WRITE
from .members import Members
from .transaction_groups import Owner, TransactionGroups

TIMEOUT_SHARE: Final = 0.1
"""How long a log block stays open, over the latency of the last ones (zfs_commit_timeout_pct)."""
BURSTS: Final = 8
"""Bursts for which the log stays in parallel mode after commits have met (ZIL_BURSTS)."""
LOCK_S: Final = 10e-6
"""How long (s) a commit takes to gather the records; assumed. Commits that come meanwhile are gathered with it."""


class Logged(Owner, Protocol):
    """The volume or file whose writes are logged."""

    log_issuer: int

    @property
    def psize(self) -> int:
        """Physical size of a block (bytes)."""

    def is_dirty(self, block: int) -> bool:
        """Whether a block has data that no transaction group has written."""

    def put_in_place(self, block: int, places: list[Place]) -> None:
        """The log writes a dirty block to its place."""


class LogWriter:
    """The log of one dataset.

    Parameters
    ----------
    engine
        The clock.
    dataset
        Whose writes are logged.
    members, allocator, groups
        The pool's parts.
    rules
        How writes are logged.
    """

    __slots__ = (
        "_allocator",
        "_arriving",
        "_batch",
        "_dataset",
        "_engine",
        "_gathering",
        "_groups",
        "_head_waits",
        "_in_flight",
        "_latency_s",
        "_log",
        "_members",
        "_new_places",
        "_next",
        "_old_places",
        "_old_records",
        "_parallel",
        "_pending",
        "_rules",
    )

    def __init__(
        self,
        engine: Engine,
        dataset: Logged,
        members: Members,
        allocator: Allocator,
        groups: TransactionGroups,
        rules: LogRules,
    ) -> None:
        self._engine = engine
        self._dataset = dataset
        self._members = members
        self._allocator = allocator
        self._groups = groups
        self._rules = rules
        self._log = IntentLog(rules)
        self._pending: list[LogRecord] = []
        # Records of writes whose group is closed and not yet on disk.
        self._old_records = 0
        self._arriving: list[Callable[[], None]] = []
        self._gathering = False
        self._batch: _Batch | None = None
        self._in_flight: deque[_Batch] = deque()
        self._head_waits = False
        self._parallel = 0
        self._latency_s = 0.0
        self._next: Place | None = None
        self._new_places: list[Place] = []
        self._old_places: list[Place] = []

    def begun(self) -> None:
        """See :meth:`IntentLog.begun`."""
        self._log.begun()

    def add(self, offset: i64, size: i64, synchronous: bool) -> None:
        """Note a write, which the next commit logs."""
        self._pending += log_records(self._rules, [(offset, size)], synchronous)

    def commit(self, done: Callable[[], None]) -> None:
        """Put all noted writes on stable storage and call back."""
        self._arriving.append(done)
        if not self._gathering and not self._head_waits:
            self._gathering = True
            self._engine.call_at(self._engine._now + LOCK_S, self._gather)

    def group_closed(self) -> None:
        """The open transaction group is closed: its log blocks are freed when it is on disk."""
        self._old_places, self._new_places = self._new_places, []
        self._old_records = len(self._pending)

    def group_done(self) -> None:
        """A transaction group is on disk: what it wrote need not be logged any more."""
        for place in self._old_places:
            self._allocator.free(place)
        self._old_places = []
        del self._pending[: self._old_records]
        self._old_records = 0

    def _gather(self, _: Any) -> None:
        """Take what has been noted into the open log block, and close it, now or later."""
        self._gathering = False
        waiters, self._arriving = self._arriving, []
        records, self._pending = self._pending, []
        self._old_records = 0
        if len(waiters) > 1:
            self._parallel = BURSTS
        batch = self._batch
        if batch is None:
            if not records:
                self._after_last(waiters)
                return
            batch = self._batch = _Batch(self)
        batch.records += records
        batch.waiters += waiters
        batch.size += sum([record.size for record in records])
        if not self._parallel or batch.size >= self._rules.largest_block:
            self.close(batch)
        elif not batch.timed:
            batch.timed = True
            self._engine.call_at(self._engine._now + TIMEOUT_SHARE * self._latency_s, batch.time_out)

    def _after_last(self, waiters: list[Callable[[], None]]) -> None:
        """Nothing is left to log: commits end with the last one that is under way."""
        if self._in_flight:
            self._in_flight[-1].waiters += waiters
            return
        for waiter in waiters:
            waiter()

    def close(self, batch: _Batch) -> None:
        """Close the open log block, unless that has been done, and write it."""
        if batch is not self._batch:
            return
        self._batch = None
        if self._parallel:
            self._parallel -= 1
        self._in_flight.append(batch)
        commit = self._log.commit(batch.records)
        if commit.waits_for_txg:
            self._head_waits = True
            self._groups.dirtied(self._dataset, 0)
            self._groups.when_synced(_HeadWritten(self, batch, commit).done)
        else:
            self._issue(batch, commit)

    def head_written(self, batch: _Batch, commit: Commit) -> None:
        """A transaction group has written the head of the log: the first commit goes on."""
        self._head_waits = False
        self._issue(batch, commit)
        if self._arriving and not self._gathering:
            self._gathering = True
            self._engine.call_at(self._engine._now + LOCK_S, self._gather)

    def _issue(self, batch: _Batch, commit: Commit) -> None:
        batch.issued = self._engine._now
        pool, allocator, dataset = self._members.pool, self._allocator, self._dataset
        writes: list[Place] = []
        for number in dict.fromkeys(commit.in_place):
            if dataset.is_dirty(number):
                places = allocator.allocate(dataset.psize)
                dataset.put_in_place(number, places)
                writes += places
        for number, block in enumerate(commit.blocks):
            # Each block is allocated when the one before it is closed, so it lies before what is allocated meanwhile.
            place = self._next or allocator.allocate_log(block.size)
            self._new_places.append(place)
            writes.append(Place(place.vdev, place.offset, block.written(pool.vdevs[place.vdev])))
            last = number + 1 == len(commit.blocks)
            self._next = allocator.allocate_log(self._log.next_bytes if last else commit.blocks[number + 1].size)
        batch.left = len(writes)
        batch.vdevs = sorted({place.vdev for place in writes})
        for place in writes:
            self._members.write(place, SYNC_WRITE, dataset.log_issuer, batch.part)

    def flush(self, batch: _Batch) -> None:
        """All of a batch is written: flush the members that it went to."""
        self._members.flush(batch.vdevs, batch.flushed)

    def finish(self, batch: _Batch) -> None:
        """A batch is on stable storage; commits end in the order in which they were written."""
        took_s = self._engine._now - batch.issued
        self._latency_s = (7 * self._latency_s + took_s) / 8 if self._latency_s else took_s
        in_flight = self._in_flight
        while in_flight and in_flight[0].stable:
            for waiter in in_flight.popleft().waiters:
                waiter()


class _Batch:
    """Commits that share log blocks."""

    __slots__ = ("_writer", "issued", "left", "records", "size", "stable", "timed", "vdevs", "waiters")

    def __init__(self, writer: LogWriter) -> None:
        self._writer = writer
        self.records: list[LogRecord] = []
        self.waiters: list[Callable[[], None]] = []
        self.size: i64 = 0
        self.timed = False
        self.stable = False
        self.issued = 0.0
        self.left: i64 = 0
        self.vdevs: Sequence[int] = ()

    def time_out(self, _: Any) -> None:
        """The log block has been open for long enough."""
        self._writer.close(self)

    def part(self) -> None:
        """One write is complete."""
        self.left -= 1
        if not self.left:
            self._writer.flush(self)

    def flushed(self) -> None:
        """The caches are flushed."""
        self.stable = True
        self._writer.finish(self)


class _HeadWritten:
    """What waits for the head of a log."""

    __slots__ = ("_batch", "_commit", "_writer")

    def __init__(self, writer: LogWriter, batch: _Batch, commit: Commit) -> None:
        self._writer = writer
        self._batch = batch
        self._commit = commit

    def done(self) -> None:
        """The head is written."""
        self._writer.head_written(self._batch, self._commit)
