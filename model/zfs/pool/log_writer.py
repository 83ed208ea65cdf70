"""The intent log of one dataset at work: commits are gathered into log blocks, written, flushed, and end in order.

A commit that comes alone closes its log block at once. When commits of several processes meet, the block stays open
for a tenth of the time that the last ones took, or until it is full, so that more commits share it. Source: OpenZFS
2.3 module/zfs/zil.c (zil_process_commit_list, zil_commit_waiter, zil_lwb_write_issue, zil_lwb_write_done,
zil_lwb_flush_vdevs_done).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from mypy_extensions import i64

from ...core.engine import Engine
from ..allocation.allocator import Allocator, Place
from ..intent_log.log import IntentLog, LogBlock
from ..intent_log.records import LogRecord, LogRules, log_records
from .member_io import SYNC_WRITE
from .members import Members
from .transaction_groups import Owner, TransactionGroups

TIMEOUT_SHARE: Final = 0.1
"""How long a log block stays open, over the latency of the last ones (zfs_commit_timeout_pct)."""
BURSTS: Final = 8
"""Bursts for which commits count as those of several processes after two have met in a block (ZIL_BURSTS); half of
them after one has come while the one before was not on disk."""
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
        "_noted",
        "_old_places",
        "_old_records",
        "_open",
        "_parallel",
        "_pending",
        "_rules",
        "_taken",
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
        # Records that are not in a log block, and how many there have been up to the last of them and before the first.
        self._pending: list[LogRecord] = []
        self._noted: i64 = 0
        self._taken: i64 = 0
        # Records of writes whose group is closed and not yet on disk.
        self._old_records = 0
        self._arriving: list[_Waiter] = []
        self._gathering = False
        self._open: _Block | None = None
        self._in_flight: deque[_Block] = deque()
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
        records = log_records(self._rules, [(offset, size)], synchronous)
        self._pending += records
        self._noted += len(records)

    def commit(self, done: Callable[[], None]) -> None:
        """Put all noted writes on stable storage and call back."""
        self._arriving.append(_Waiter(done, self._noted))
        if not self._gathering and not self._head_waits:
            self._gather_soon()

    def group_closed(self) -> None:
        """The open transaction group is closed: its log blocks are freed when it is on disk."""
        self._old_places, self._new_places = self._new_places, []
        self._old_records = len(self._pending)

    def group_done(self) -> None:
        """A transaction group is on disk: what it wrote need not be logged any more."""
        for place in self._old_places:
            self._allocator.free(place)
        self._old_places = []
        self._take(self._old_records)

    def _take(self, count: int) -> list[LogRecord]:
        """Take the oldest records that are not in a log block."""
        taken = self._pending[:count]
        del self._pending[:count]
        self._taken += count
        self._old_records = max(0, self._old_records - count)
        return taken

    def _gather_soon(self) -> None:
        self._gathering = True
        self._engine.call_at(self._engine._now + LOCK_S, self._gather)

    def _gather(self, _: Any) -> None:
        """Put what the arrived commits wait for into the open log block, and close it, now or later."""
        self._gathering = False
        log = self._log
        if not log.has_head:
            self._head_waits = True
            self._groups.dirtied(self._dataset, 0)
            self._groups.when_synced(self._head_written)
            return
        waiters, self._arriving = self._arriving, []
        number: i64 = self._taken
        records = self._take(max(0, waiters[len(waiters) - 1].after - number))
        if records:
            if self._open is not None:
                self._parallel = BURSTS
            elif self._in_flight:
                self._parallel = max(self._parallel, BURSTS // 2)
            log.gather(records)
        attached = 0
        for record in records:
            while waiters[attached].after <= number:
                self._attach(waiters[attached].done)
                attached += 1
            number += 1
            closed = log.assign(record, self._parallel > 0)
            if self._open is None:
                self._open = _Block(self)
            if closed:
                self._issue(closed)
                if attached:
                    self._parallel = BURSTS
            if record.block >= 0:
                self._open.in_place.append(record.block)
        for waiter in waiters[attached:]:
            self._attach(waiter.done)
        block = self._open
        if block is not None and not self._parallel:
            self.close(block)

    def _attach(self, done: Callable[[], None]) -> None:
        """A commit ends with the open block, or with the last one that is being written."""
        block = self._open
        if block is None:
            if self._in_flight:
                self._in_flight[-1].waiters.append(done)
            else:
                done()
            return
        if self._parallel and not block.waiters:
            self._engine.call_at(self._engine._now + TIMEOUT_SHARE * self._latency_s, block.time_out)
        block.waiters.append(done)

    def _head_written(self) -> None:
        """A transaction group has written the head of the log, and the first commit's data: its block is empty."""
        self._head_waits = False
        self._log.begun()
        block = self._open = _Block(self)
        block.waiters.append(self._arriving.pop(0).done)
        self.close(block)
        if self._arriving and not self._gathering:
            self._gather_soon()

    def close(self, block: _Block) -> None:
        """Close the open log block, unless that has been done, and write it."""
        if block is self._open:
            if self._parallel:
                self._parallel -= 1
            self._issue([self._log.close()])
            self._open = None

    def _issue(self, closed: Sequence[LogBlock]) -> None:
        """Write the open block and those after it that were filled; another one is open then."""
        for number, log_block in enumerate(closed):
            block = self._open
            assert block is not None
            last = number + 1 == len(closed)
            self._write(block, log_block, self._log.next_bytes if last else closed[number + 1].size)
            self._open = _Block(self)

    def _write(self, block: _Block, log_block: LogBlock, next_bytes: int) -> None:
        block.issued = self._engine._now
        self._in_flight.append(block)
        pool, allocator, dataset = self._members.pool, self._allocator, self._dataset
        writes: list[Place] = []
        for record in dict.fromkeys(block.in_place):
            if dataset.is_dirty(record):
                places = allocator.allocate(dataset.psize)
                dataset.put_in_place(record, places)
                writes += places
        # Each block is allocated when the one before it is closed, so it lies before what is allocated meanwhile.
        place = self._next or allocator.allocate_log(log_block.size)
        self._new_places.append(place)
        writes.append(Place(place.vdev, place.offset, log_block.written(pool.vdevs[place.vdev])))
        self._next = allocator.allocate_log(next_bytes)
        block.left = len(writes)
        block.vdevs |= {place.vdev for place in writes}
        for place in writes:
            self._members.write(place, SYNC_WRITE, dataset.log_issuer, block.part)

    def written(self) -> None:
        """A block is written: flush the members of all those before which everything is.

        A block that no commit waits for leaves its flush to the next one.
        """
        flushed: list[_Block] = []
        before: _Block | None = None
        for block in self._in_flight:
            if before is not None and not before.waiters:
                before.stable = True
                block.vdevs |= before.vdevs
                flushed.remove(before)
            before = None
            if block.left:
                break
            if not block.flushing:
                block.flushing = True
                flushed.append(block)
                before = block
        for block in flushed:
            self._members.flush(sorted(block.vdevs), block.flushed)

    def finish(self) -> None:
        """A block is on stable storage; commits end in the order in which they were written."""
        in_flight = self._in_flight
        while in_flight and in_flight[0].stable:
            block = in_flight.popleft()
            took_s = self._engine._now - block.issued
            self._latency_s = (7 * self._latency_s + took_s) / 8 if self._latency_s else took_s
            for waiter in block.waiters:
                waiter()


class _Waiter(NamedTuple):
    """A commit.

    Attributes
    ----------
    done
        Called at its end.
    after
        How many records there had been when it came.
    """

    done: Callable[[], None]
    after: i64


class _Block:
    """A log block, and the commits that end with it."""

    __slots__ = ("_writer", "flushing", "in_place", "issued", "left", "stable", "vdevs", "waiters")

    def __init__(self, writer: LogWriter) -> None:
        self._writer = writer
        self.in_place: list[int] = []
        self.waiters: list[Callable[[], None]] = []
        self.flushing = False
        self.stable = False
        self.issued = 0.0
        self.left: i64 = 0
        self.vdevs: set[int] = set()

    def time_out(self, _: Any) -> None:
        """The log block has been open for long enough."""
        self._writer.close(self)

    def part(self) -> None:
        """One write is complete."""
        self.left -= 1
        if not self.left:
            self._writer.written()

    def flushed(self) -> None:
        """The caches are flushed."""
        self.stable = True
        self._writer.finish()
