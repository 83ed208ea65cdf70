"""Writes of RAID 4, 5 and 6: gathered by row, completed by reading up what is missing, and written.

A row that becomes full is written without reading; one that does not is held back for a few milliseconds for its
neighbors and then completed by read-modify-write or reconstruct-write (:mod:`raidsim.model.raid.stripes.write_plan`).
A write that somebody waits for is not held. Source: drivers/md/raid5.c, make_request, handle_stripe,
raid5_activate_delayed.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.engine import Engine
from ...core.join import Join
from ...core.request import Request
from ...layouts.parity import ParityLayout
from ...waits.causes import BITMAP, GATHERING, MD_THREAD, STRIPE_HEAD
from ...waits.trail import waited
from ..base.array import Array
from ..metadata.bitmap_waits import RowWaits
from ..stripes.owner import Owner
from ..stripes.settings import ParitySettings
from ..stripes.stripe_cache import StripeCache
from ..stripes.write_plan import WritePlan, plan_write
from .daemon import ParityDaemon
from .gathered_row import GatheredRow
from .row_write import RangeWrite, RowState, SmallPlan, SmallWrite

_PLANS = 4096
"""So many different plans are remembered at most."""

Piece = tuple[int, int, int, int]
"""Row, data index, low, high."""


class RowWriter(RowState):
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
    """

    __slots__ = (
        "_all_data",
        "_bitmap_waits",
        "_data_members",
        "_engine",
        "_gathers_per_head",
        "_hold_s",
        "_hold_timer",
        "_layout",
        "_letting_go",
        "_plans",
        "_rmw_level",
        "_shared_plug",
        "_small_plans",
        "_stripe_bytes",
        "_unlimited",
        "_whole_heads",
        "absent",
        "gathering",
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
        super().__init__(array, layout.chunk_bytes, settings.head, cache, daemon)
        self._engine = engine
        self._layout = layout
        self._hold_s = settings.hold or 0.0
        self._gathers_per_head = settings.gathers_per_head
        self._rmw_level = settings.rmw_level
        self._shared_plug = settings.shared_plug
        self._data_members = layout.data_members
        self._stripe_bytes = layout.stripe_bytes
        self._all_data = list(range(layout.data_members))
        self._whole_heads = layout.chunk_bytes % settings.head == 0
        self._unlimited = not settings.heads
        self._plans: dict[Any, WritePlan] = {}
        self._small_plans: list[SmallPlan | None] = [None] * (layout.data_members * layout.period)
        self.unreadable = self.absent = array.failed
        self._bitmap_waits: RowWaits | None = None
        self.gathering: dict[int, GatheredRow] = {}
        self._hold_timer = False
        self._letting_go = False

    def keep_bitmap(self, waits: RowWaits) -> None:
        """From now on rows are written when their bits are on the members."""
        self._bitmap_waits = waits

    def plug(self) -> None:
        """A task begins to submit several I/Os: rows gather anyway."""

    def unplug(self) -> None:
        """Somebody waits for data: incomplete rows are read up, unless that is under way already."""
        if self.gathering and not self.prereading:
            for row in list(self.gathering.values()):
                self.complete_row(row)

    def write_small(self, request: Request, row: int, place: int, low: int) -> bool:
        """Write at once what need not be gathered; False if it is not that simple."""
        if (low | request.size) % self.head_bytes or row in self.gathering or self.cache.knows(row):
            return False
        plan = self._small_plans[place]
        if plan is None:
            members = self._layout.row(row)
            plan = SmallPlan(plan_write(members, (place % self._layout.data_members,), rmw_level=self._rmw_level))
            self._small_plans[place] = plan
        if not plan.reads:
            return False
        request.submitted = self._engine._now
        self.array.writes += 1
        SmallWrite(self, request, row, low, plan)
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
        self.unplug_members()
        self._let_go()
        self.hold()

    def thread_read_up(self) -> None:
        if self._letting_go:
            self._read_up()
        self.thread_ran()

    def thread_ran(self) -> None:
        """md's thread has dealt with what came back from the members (md_thread runs tq_disk then)."""
        if self._shared_plug:
            self.unplug_members()
            if self.gathering:
                self._let_go()

    def _let_go(self) -> None:
        """Somebody runs the array's plug if it is on a list that everybody runs: incomplete rows are read up.

        That is done when what gets its heads at this moment has been gathered, and no row is being read up any more
        (raid5d, IO_THRESHOLD).
        """
        if self._shared_plug and not self._letting_go:
            self._letting_go = True
            self._engine.call_at(self._engine._now, self._read_up)

    def _read_up(self, _: Any = None) -> None:
        if self._letting_go and not self.prereading:
            self._letting_go = False
            for row in list(self.gathering.values()):
                self.complete_row(row)

    def _gather_late(self, number: int, index: int, low: int, high: int, owner: Owner) -> None:
        """Gather a piece that had to wait for its heads, and see to it that its row is completed."""
        trail = owner.request.trail
        if trail is not None:
            owner.request.trail = waited(trail, STRIPE_HEAD, self._engine._now)
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
        """Set the timer, unless it runs, that completes incomplete rows and submits those with awaited heads."""
        if not self._hold_timer:
            self._hold_timer = True
            self._engine.call_at(self._engine._now + self._hold_s, self._hold_over)

    def _gather(self, number: int, index: int, low: int, high: int, owner: Owner) -> None:
        """Add a piece, whose heads are taken, to its row; write the row if it is complete now."""
        if self._bitmap_waits is not None:
            self._bitmap_waits.has_heads(owner.request)
        row = self.gathering.get(number)
        if (
            row is not None
            and row.cover[index] is not None
            and not row.touches(index, low, high)
            and (not self._gathers_per_head or row.overlaps(index, low, high))
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
            self.unplug_members()
            soonest = min(soonest or now + self._hold_s, now + self._hold_s)
        if soonest is not None:
            self._hold_timer = True
            self._engine.call_at(soonest, self._hold_over)

    def complete_row(self, gathered: GatheredRow) -> None:
        """Stop gathering and write the row: its bits, reads, parity, writes, and the owners' completion.

        Nothing is done if the row is complete already. That happens where rows are completed one after the other: when
        the bits of one are on the members, writers go on, and unplug the array, which completes all others.
        """
        if self.gathering.get(gathered.row) is not gathered:
            return
        del self.gathering[gathered.row]
        gathered.waited(GATHERING, self._engine._now)
        if self._bitmap_waits is None:
            self._write_row(gathered)
        else:
            self._bitmap_waits.hold(partial(self._write_row, gathered))

    def _write_row(self, gathered: GatheredRow) -> None:
        gathered.waited(BITMAP, self._engine._now)
        ranges: list[tuple[int, int, list[int], list[int]]]
        if gathered.covered == self._stripe_bytes and self._whole_heads:
            ranges = [(0, self.chunk_bytes, self._all_data, [])]
        else:
            ranges = gathered.ranges(self.head_bytes)
        over = Join(len(ranges), self.daemon.takes(partial(self._row_written, gathered)))
        for a, b, full, some in ranges:
            self._write_range(gathered, a, b, full, some, over)

    def _write_range(
        self, gathered: GatheredRow, low: int, high: int, full: list[int], some: list[int], over: Join
    ) -> None:
        row = gathered.row
        members = self._layout.row(row)
        cached: tuple[int, ...] = ()
        if self.cache.knows(row):
            slots = range(len(self.members))
            cached = tuple(slot for slot in slots if self.cache.holds(row, slot, low, high) is not None)
        key = row % self._layout.period, tuple(full), tuple(some), cached, self.unreadable, self.absent
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = plan_write(members, full, some, self.unreadable, self.absent, cached, self._rmw_level)
            self._plans[key] = plan
        self.row_writes[plan.mode] += 1
        data = (*plan.reads, *plan.writes, *(members.data[index] for index in full)) if plan.mode != "full" else ()
        RangeWrite(self, gathered, low, high - low, plan, data, len(full) + len(some), over)

    def _row_written(self, gathered: GatheredRow) -> None:
        for _ in range(gathered.acquired):
            self.cache.release(gathered.row)
        gathered.waited(MD_THREAD, self._engine._now)
        for owner in gathered.owners:
            owner.done()
        self.thread_ran()
