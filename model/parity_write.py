"""Writes of RAID 4, 5 and 6: gathered by row, completed by reading up what is missing, and written.

A row that becomes full is written without reading; one that does not is held back for a few milliseconds for its
neighbours and then completed by read-modify-write or reconstruct-write (:mod:`raidsim.model.parity_plan`). A write
that somebody waits for is not held. Source: drivers/md/raid5.c, make_request, handle_stripe, raid5_activate_delayed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .array import Array, Join
from .engine import Engine
from .gathered_row import GatheredRow, Owner
from .layouts.parity import ParityLayout
from .parity_daemon import ParityDaemon
from .parity_plan import WritePlan, plan_write
from .parity_settings import ParitySettings
from .request import ASYNC, PREREAD_STREAM, READ, WAITED, WRITE, Request
from .stripe_cache import StripeCache

_PLANS = 4096
"""So many different plans are remembered at most."""

Piece = tuple[int, int, int, int]
"""Row, data index, low, high."""


class _SmallWrite:
    """A write that somebody waits for, of whole heads in one chunk of a row of which nothing is known."""

    __slots__ = ("_left", "_low", "_plan", "_request", "_row", "_writer")

    def __init__(self, writer: RowWriter, request: Request, row: int, low: int, plan: WritePlan) -> None:
        self._writer = writer
        self._request = request
        self._row = row
        self._low = low
        self._plan = plan
        reads = plan.reads
        self._left = count = len(reads)
        writer.row_writes[plan.mode] += 1
        writer.prereading += 1
        writer.array.member_reads += count
        writer.parity_reads += count
        offset, size = row * writer.chunk_bytes + low, request.size
        submit, done = writer.submit, self._read
        for slot in reads:
            submit[slot](Request(READ, offset, size, done, PREREAD_STREAM))
        for unplug in writer.unpluggable:
            unplug()

    def _read(self, _: Request) -> None:
        self._left -= 1
        if self._left:
            return
        writer, row, low, plan = self._writer, self._row, self._low, self._plan
        writer.prereading -= 1
        size = self._request.size
        writer.cache.remember_all(row, (*plan.reads, *plan.writes), low, low + size)
        self._left = count = len(plan.writes)
        writer.array.member_writes += count
        offset = row * writer.chunk_bytes + low
        submit, done = writer.submit, self._written
        for slot in plan.writes:
            submit[slot](Request(WRITE, offset, size, done, 0, WAITED))
        for unplug in writer.unpluggable:
            unplug()

    def _written(self, _: Request) -> None:
        self._left -= 1
        if not self._left:
            request = self._request
            request.done(request)


class RowWriter:
    """The writing half of a parity array.

    Parameters
    ----------
    engine
        The clock.
    array
        Whose members are written.
    layout, settings, cache, daemon
        The array's.

    Attributes
    ----------
    unreadable, absent
        Members whose old contents cannot be read, and members that cannot be written either; set by the array.
    gathering
        The incomplete rows by number.
    prereading
        Rows that are being read up.
    parity_reads
        Member reads for that purpose.
    row_writes
        Ranges of rows written in each mode.
    """

    __slots__ = (
        "_all_data",
        "_daemon",
        "_data_members",
        "_engine",
        "_hold_s",
        "_hold_timer",
        "_host",
        "_layout",
        "_letting_go",
        "_plans",
        "_settings",
        "_small_plans",
        "_stripe_bytes",
        "_unlimited",
        "_unplug_members",
        "_whole_heads",
        "absent",
        "array",
        "cache",
        "chunk_bytes",
        "gathering",
        "parity_reads",
        "prereading",
        "row_writes",
        "submit",
        "unpluggable",
        "unreadable",
    )

    def __init__(
        self,
        engine: Engine,
        array: Array,
        layout: ParityLayout,
        settings: ParitySettings,
        cache: StripeCache,
        daemon: ParityDaemon,
    ) -> None:
        self._engine = engine
        self._daemon = daemon
        self.array = array
        self._host = array.host
        self._layout = layout
        self._settings = settings
        self._hold_s = settings.hold_s or 0.0
        self.cache = cache
        self.chunk_bytes = layout.chunk_bytes
        self._data_members = layout.data_members
        self._stripe_bytes = layout.stripe_bytes
        self._all_data = list(range(layout.data_members))
        self._whole_heads = layout.chunk_bytes % settings.head_bytes == 0
        self._unlimited = not settings.heads
        self._plans: dict[Any, WritePlan] = {}
        self.submit = [member.submit for member in array.members]
        self.unpluggable: list[Callable[[], None]] = [m.unplug for m in array.members if hasattr(m, "unplug")]
        self._unplug_members = functools.partial(Array.unplug, array)
        self._small_plans: list[WritePlan | None] = [None] * (layout.data_members * layout.period)
        self.unreadable = self.absent = array.failed
        self.gathering: dict[int, GatheredRow] = {}
        self._hold_timer = False
        self._letting_go = False
        self.prereading = 0
        self.parity_reads = 0
        self.row_writes = {"full": 0, "rmw": 0, "rcw": 0}

    def plug(self) -> None:
        """A task begins to submit several I/Os: rows gather anyway."""

    def unplug(self) -> None:
        """Somebody waits for data: incomplete rows are read up, unless that is under way already."""
        if self.gathering and not self.prereading:
            for row in list(self.gathering.values()):
                self.complete_row(row)

    def write_small(self, request: Request, row: int, place: int, low: int) -> bool:
        """Write at once what need not be gathered; False if it is not that simple."""
        if (low | request.size) % self._settings.head_bytes or row in self.gathering or self.cache.knows(row):
            return False
        plan = self._small_plans[place]
        if plan is None:
            members = self._layout.row(row)
            plan = plan_write(members, (place % self._layout.data_members,), rmw_level=self._settings.rmw_level)
            self._small_plans[place] = plan
        if not plan.reads:
            return False
        request.submitted = self._engine._now
        self.array.writes += 1
        _SmallWrite(self, request, row, low, plan)
        return True

    def write(self, request: Request, pieces: list[Piece]) -> None:
        """Gather a write; pieces are (row, data index, low, high)."""
        owner = Owner(request, len(pieces))
        for number, index, low, high in pieces:
            if self._unlimited:
                self._gather(number, index, low, high, owner)
            else:
                self._take_heads(number, index, low, high, owner)
        if request.sync:
            for row in [r for r in self.gathering.values() if owner in r.owners]:
                self.complete_row(row)
        elif self.gathering and not self._hold_timer:
            self.hold()

    def _take_heads(self, number: int, index: int, low: int, high: int, owner: Owner) -> None:
        """Gather a piece of a write; what there are no heads for waits."""
        if self.cache.acquire(number, low, high):
            self._gather(number, index, low, high, owner)
            return
        head = self.cache.head_bytes
        there = (low // head + self.cache.free_heads) * head
        if low < there < high and self.cache.acquire(number, low, there):
            owner.left += 1
            self._gather(number, index, low, there, owner)
            low = there
        self.cache.wait(number, low, high, lambda: self._gather_late(number, index, low, high, owner))
        self._unplug_members()
        self._let_go()
        self.hold()

    def thread_ran(self) -> None:
        """md's thread has dealt with what came back from the members (md_thread runs tq_disk then)."""
        if self._settings.shared_plug:
            self._unplug_members()
            if self.gathering:
                self._let_go()

    def _let_go(self) -> None:
        """Somebody runs the array's plug if it is on a list that everybody runs: incomplete rows are read up.

        That is done when what gets its heads at this moment has been gathered, and no row is being read up any more
        (raid5d, IO_THRESHOLD).
        """
        if self._settings.shared_plug and not self._letting_go:
            self._letting_go = True
            self._engine.call_at(self._engine._now, self._read_up)

    def _read_up(self, _: Any = None) -> None:
        if self._letting_go and not self.prereading:
            self._letting_go = False
            for row in list(self.gathering.values()):
                self.complete_row(row)

    def _gather_late(self, number: int, index: int, low: int, high: int, owner: Owner) -> None:
        """Gather a piece that had to wait for its heads, and see to it that its row is completed."""
        self._gather(number, index, low, high, owner)
        if number in self.gathering:
            if owner.request.sync:  # after the other pieces that get their heads at this moment
                self._engine.call_at(self._engine._now, self._complete_sync_rows)
            else:
                self.hold()
        if self.cache.full:
            self._let_go()

    def _complete_sync_rows(self, _: Any) -> None:
        for row in list(self.gathering.values()):
            if row.sync:
                self.complete_row(row)

    def hold(self) -> None:
        """Set the timer that completes incomplete rows and lets go whose heads others wait for, unless it runs."""
        if not self._hold_timer:
            self._hold_timer = True
            self._engine.call_at(self._engine._now + self._hold_s, self._hold_over)

    def _gather(self, number: int, index: int, low: int, high: int, owner: Owner) -> None:
        """Add a piece, whose heads are taken, to its row; write the row if it is complete now."""
        row = self.gathering.get(number)
        if (
            row is not None
            and row.cover[index] is not None
            and not row.touches(index, low, high)
            and (not self._settings.holes or row.overlaps(index, low, high))
        ):
            self.complete_row(row)
            row = None
        if row is None:
            row = self.gathering[number] = GatheredRow(number, self._data_members, self._engine._now)
        row.add(index, low, high, owner)
        if row.covered == self._stripe_bytes or (self.cache.knows(number) and self._rest_is_cached(row)):
            self.complete_row(row)

    def _rest_is_cached(self, row: GatheredRow) -> bool:
        """Whether what the row lacks for writing without reading is in the stripe cache."""
        low, high = row.low, row.high
        for index, slot in enumerate(self._layout.row(row.row).data):
            at = low
            for a, b in (*row.spans(index), (high, high)):
                if at < a and self.cache.holds(row.row, slot, at, a) is None:
                    return False
                at = b
        return True

    def _hold_over(self, _: Any) -> None:
        self._hold_timer = False
        now = self._engine._now
        soonest = None
        for row in list(self.gathering.values()):
            until = row.held_since + self._hold_s
            if until <= now:
                self.complete_row(row)
            elif soonest is None or until < soonest:
                soonest = until
        if self.cache.full:
            self._unplug_members()
            soonest = min(soonest or now + self._hold_s, now + self._hold_s)
        if soonest is not None:
            self._hold_timer = True
            self._engine.call_at(soonest, self._hold_over)

    def complete_row(self, gathered: GatheredRow) -> None:
        """Stop gathering and write the row: reads, parity, writes, and the owners' completion."""
        del self.gathering[gathered.row]
        ranges: list[tuple[int, int, list[int], list[int]]]
        if gathered.covered == self._stripe_bytes and self._whole_heads:
            ranges = [(0, self.chunk_bytes, self._all_data, [])]
        else:
            ranges = gathered.ranges(self._settings.head_bytes)
        counter = Join(len(ranges), self._daemon.takes(lambda: self._row_written(gathered)))
        for a, b, full, partial in ranges:
            self._write_range(gathered, a, b, full, partial, counter)

    def _write_range(
        self, gathered: GatheredRow, low: int, high: int, full: list[int], partial: list[int], over: Join
    ) -> None:
        row = gathered.row
        members = self._layout.row(row)
        cached: tuple[int, ...] = ()
        if self.cache.knows(row):
            slots = range(len(self.submit))
            cached = tuple(slot for slot in slots if self.cache.holds(row, slot, low, high) is not None)
        key = row % self._layout.period, tuple(full), tuple(partial), cached, self.unreadable, self.absent
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = plan_write(members, full, partial, self.unreadable, self.absent, cached, self._settings.rmw_level)
            self._plans[key] = plan
        self.row_writes[plan.mode] += 1
        base, size = row * self.chunk_bytes + low, high - low
        heads = -(-size // self._settings.head_bytes)
        submit = self.submit
        sync = WAITED if gathered.sync else ASYNC  # an array below must not hold what somebody waits for

        def write() -> None:
            if self._host is not None:
                prices = self._host.prices
                self._host.cpu.interrupt(
                    heads * (3 * prices.stripe_s + len(plan.writes) * prices.bio_s)
                    + (len(full) + len(partial)) * size * prices.copy_s_per_byte
                    + plan.sources * size * prices.xor_s_per_byte
                )
            if plan.mode != "full":
                self.cache.remember_all(row, (*plan.reads, *plan.writes, *(members.data[i] for i in full)), low, high)
            join = Join(len(plan.writes), lambda: over.done(finished))
            self.array.member_writes += len(plan.writes)
            for slot in plan.writes:
                submit[slot](Request(WRITE, base, size, join.done, sync=sync))
            if gathered.sync:
                self._unplug_members()

        def read() -> None:
            self.prereading -= 1
            write()
            if self._letting_go:
                self._read_up()
            self.thread_ran()

        finished = Request(WRITE, base, size, over.done)
        if not plan.reads:
            write()
            return
        self.prereading += 1
        join = Join(len(plan.reads), self._daemon.takes(read))
        self.array.member_reads += len(plan.reads)
        self.parity_reads += len(plan.reads)
        if self._host is not None:
            self._host.cpu.interrupt(len(plan.reads) * heads * self._host.prices.bio_s)
        for slot in plan.reads:
            submit[slot](Request(READ, base, size, join.done, PREREAD_STREAM))
        self._unplug_members()

    def _row_written(self, gathered: GatheredRow) -> None:
        for _ in range(gathered.acquired):
            self.cache.release(gathered.row)
        for owner in gathered.owners:
            owner.left -= 1
            if not owner.left:
                owner.request.done(owner.request)
        self.thread_ran()
