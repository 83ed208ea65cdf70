"""RAID 4, 5 and 6 in time, as Linux md runs them.

Reads go through the stripe cache (always, before Linux 2.6.21); a read of a lost member reads all others of its
row and computes. Writes are gathered by row: a row that becomes full is written without reading, one that does
not is held back for a few milliseconds for its neighbours and then completed by read-modify-write or
reconstruct-write (:mod:`raidsim.model.parity_plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .array import Array, Join
from .engine import Engine
from .errors import ArrayFailed
from .host import Host
from .layouts.parity import ParityLayout
from .parity_plan import RmwLevel, plan_write
from .request import PREREAD_STREAM, READ, RESYNC_STREAM, WRITE, Device, Request
from .stripe_cache import Arrival, StripeCache



@dataclass(frozen=True, slots=True)
class ParitySettings:
    """How the driver of a parity array works.

    Attributes
    ----------
    heads
        Stripe heads; 0 for as many as needed.
    head_bytes
        Height of a stripe head.
    hold_s
        How long an incomplete row waits for its neighbours before it is read up.
    copies_reads
        Whether a read of a healthy row is copied out of the stripe cache (Linux 2.6 before 2.6.21 does, 2.4 reads
        into the caller's page).
    rmw_level
        md's setting of that name (1 on kernels that have none).
    """

    heads: int = 256
    head_bytes: int = 4096
    hold_s: float = 0.003
    copies_reads: bool = True
    rmw_level: int = RmwLevel.IF_CHEAPER


class _Row:
    """Writes gathered for one row: what of each data block, whose, how often heads were taken, and if somebody waits."""

    __slots__ = ("acquired", "cover", "covered", "held_since", "owners", "row", "sync")

    def __init__(self, row: int, data_members: int, now: float) -> None:
        self.row = row
        self.cover: list[tuple[int, int] | None] = [None] * data_members
        self.covered = 0
        self.acquired = 0
        self.owners: list[_Owner] = []
        self.held_since = now
        self.sync = False


class _Owner:
    """A logical write spread over rows."""

    __slots__ = ("left", "request")

    def __init__(self, request: Request, left: int) -> None:
        self.request = request
        self.left = left


class ParityArray(Array):
    """RAID 4, 5 or 6.

    Parameters
    ----------
    layout
        The address arithmetic.
    settings
        How the driver works.
    """

    __slots__ = (
        "_absent",
        "_data_members",
        "_gathering",
        "_hold_timer",
        "_locate",
        "_prereading",
        "_row",
        "_settings",
        "_unreadable",
        "cache",
        "layout",
        "parity_reads",
        "row_writes",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        layout: ParityLayout,
        settings: ParitySettings,
        host: Host | None = None,
        failed: Iterable[int] = (),
    ) -> None:
        super().__init__(engine, name, members, layout.capacity, host, failed)
        if not layout.tolerates(self.failed):
            raise ArrayFailed(f"{name}: members {sorted(self.failed)} have failed, {layout.level} survives {layout.parities}")
        self.layout = layout
        self._settings = settings
        self._locate = layout.locate
        self._row = layout.row
        self._data_members = layout.data_members
        self.cache = StripeCache(settings.heads, settings.head_bytes, layout.chunk_bytes)
        self._gathering: dict[int, _Row] = {}
        self._hold_timer = False
        self._prereading = 0
        self._unreadable = self.failed
        self._absent = self.failed
        self.parity_reads = 0
        self.row_writes = {"full": 0, "rmw": 0, "rcw": 0}

    def rebuild_onto(self, slot: int) -> None:
        """See :meth:`Array.rebuild_onto`."""
        super().rebuild_onto(slot)
        self._absent = self.failed - self.rebuilding

    def rebuilt(self, slot: int) -> None:
        """See :meth:`Array.rebuilt`."""
        super().rebuilt(slot)
        self._unreadable = self.failed
        self._absent = self.failed - self.rebuilding

    @property
    def has_room(self) -> bool:
        """Whether more writes may be queued: no work waits for stripe heads, and the members have room."""
        return not self.cache.full and super().has_room

    def when_room(self, callback: Callable[[], None]) -> None:
        """See :meth:`Array.when_room`."""
        if self.cache.full:
            self.cache.when_free(callback)
            super().unplug()
        else:
            super().when_room(callback)

    def _acquire(self, row: int, low: int, high: int, start: Callable[[], None]) -> bool:
        """Occupy stripe heads; whoever has to wait for them lets the members' requests go, before and after."""
        if self.cache.acquire(row, low, high):
            start()
            return True

        def late() -> None:
            start()
            super(ParityArray, self).unplug()

        self.cache.wait(row, low, high, late)
        super().unplug()
        self._hold()
        return False

    def unplug(self) -> None:
        """Somebody waits for data: incomplete rows are read up, unless that is under way already, and members go."""
        if self._gathering and not self._prereading:
            for row in list(self._gathering.values()):
                self._complete_row(row)
        super().unplug()

    # reads

    def _pieces(self, offset: int, size: int) -> list[tuple[int, int, int, int]]:
        """(row, data index, low, high) for every chunk that [offset, offset + size) touches."""
        chunk = self.layout.chunk_bytes
        row, index, inside = self._locate(offset)
        if inside + size <= chunk:
            return [(row, index, inside, inside + size)]
        pieces = []
        left = size
        while left:
            take = min(chunk - inside, left)
            pieces.append((row, index, inside, inside + take))
            left -= take
            inside = 0
            index += 1
            if index == self._data_members:
                index = 0
                row += 1
        return pieces

    def _read(self, request: Request) -> None:
        pieces = self._pieces(request.offset, request.size)
        join: Callable[[], None]
        if len(pieces) == 1:
            join = lambda: request.done(request)  # noqa: E731
        else:
            counter = Join(len(pieces), lambda: request.done(request))
            join = lambda: counter.done(request)  # noqa: E731
        for row, index, low, high in pieces:
            self._read_piece(row, self._row(row).data[index], low, high, request, join)

    def _read_piece(self, row: int, slot: int, low: int, high: int, request: Request, done: Callable[[], None]) -> None:
        if not self.failed:
            if not self.cache.heads and self.host is None:
                self.member_reads += 1
                self._submit[slot](
                    Request(READ, row * self.layout.chunk_bytes + low, high - low, lambda _: done(), request.stream)
                )
                return

            def arrived(_: Request) -> None:
                self._charge_read(high - low, self._settings.copies_reads)
                self.cache.release(row)
                done()

            def start() -> None:
                self.member_reads += 1
                offset = row * self.layout.chunk_bytes + low
                self._submit[slot](Request(READ, offset, high - low, arrived, request.stream, request.sync))

            self._acquire(row, low, high, start)
            return

        def finished() -> None:
            self._charge_read(high - low, True)
            self.cache.release(row)
            done()

        def computed() -> None:
            size = high - low
            heads = -(-size // self._settings.head_bytes)
            self._charge(heads * self.prices.stripe_s + self._data_members * size * self.prices.xor_s_per_byte)
            finished()

        def start_degraded() -> None:
            if slot not in self._unreadable:
                self._fetch(row, slot, low, high, request.stream, finished)
                return
            sources = self._sources(row, slot)
            counter = Join(len(sources), computed)
            for source in sources:
                self._fetch(row, source, low, high, request.stream, lambda: counter.done(request))

        self._acquire(row, low, high, start_degraded)

    def _sources(self, row: int, lost: int) -> list[int]:
        """The members from which the block of `lost` is computed."""
        members = self._row(row)
        slots = [*members.data, members.p] if members.q is None else [*members.data, members.p, members.q]
        return [slot for slot in slots if slot != lost and slot not in self._unreadable]

    def _fetch(self, row: int, slot: int, low: int, high: int, stream: int, then: Callable[[], None]) -> None:
        """Bring a block of a member into the stripe cache, unless it is there."""
        arrival = self.cache.holds(row, slot, low, high)
        if arrival is None:
            arrival = Arrival()
            self.cache.remember(row, slot, low, high, arrival)
            self.member_reads += 1
            offset = row * self.layout.chunk_bytes + low
            self._charge(self.prices.bio_s * -(-(high - low) // self._settings.head_bytes))
            self._submit[slot](Request(READ, offset, high - low, arrival.arrived, stream))
        arrival.then(then)

    def _charge_read(self, size: int, copied: bool) -> None:
        if self.host is not None:
            prices = self.host.prices
            heads = -(-size // self._settings.head_bytes)
            seconds = heads * (2 * prices.stripe_s + prices.bio_s)
            if copied:
                seconds += size * prices.copy_s_per_byte
            self.host.cpu.interrupt(seconds)

    # writes

    def _write(self, request: Request) -> None:
        pieces = self._pieces(request.offset, request.size)
        owner = _Owner(request, len(pieces))
        for number, index, low, high in pieces:
            self._take_heads(number, index, low, high, owner)
        if request.sync:
            for row in [r for r in self._gathering.values() if owner in r.owners]:
                self._complete_row(row)
        elif self._gathering:
            self._hold()

    def _take_heads(self, number: int, index: int, low: int, high: int, owner: _Owner) -> None:
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
        super().unplug()
        self._hold()

    def _gather_late(self, number: int, index: int, low: int, high: int, owner: _Owner) -> None:
        """Gather a piece that had to wait for its heads, and see to it that its row is completed."""
        self._gather(number, index, low, high, owner)
        if number in self._gathering:
            if owner.request.sync:  # after the other pieces that get their heads at this moment
                self._engine.call_at(self._engine._now, self._complete_sync_rows)
            else:
                self._hold()

    def _complete_sync_rows(self, _: Any) -> None:
        for row in list(self._gathering.values()):
            if row.sync:
                self._complete_row(row)

    def _hold(self) -> None:
        """Set the timer that completes incomplete rows and lets go whose heads others wait for, unless it runs."""
        if not self._hold_timer:
            self._hold_timer = True
            self._engine.call_at(self._engine._now + self._settings.hold_s, self._hold_over)

    def _gather(self, number: int, index: int, low: int, high: int, owner: _Owner) -> None:
        """Add a piece, whose heads are taken, to its row; write the row if it is complete now."""
        row = self._gathering.get(number)
        if row is not None:
            known = row.cover[index]
            if known is not None and low != known[1] and high != known[0]:
                self._complete_row(row)
                row = None
        if row is None:
            row = self._gathering[number] = _Row(number, self._data_members, self._engine._now)
        known = row.cover[index]
        row.cover[index] = (low, high) if known is None else (min(low, known[0]), max(high, known[1]))
        row.covered += high - low
        row.acquired += 1
        row.owners.append(owner)
        row.sync |= owner.request.sync
        if row.covered == self.layout.stripe_bytes or (self.cache.knows(number) and self._rest_is_cached(row)):
            self._complete_row(row)

    def _rest_is_cached(self, row: _Row) -> bool:
        """Whether what the row lacks for writing without reading is in the stripe cache."""
        low = min(c[0] for c in row.cover if c is not None)
        high = max(c[1] for c in row.cover if c is not None)
        for slot, cover in zip(self._row(row.row).data, row.cover, strict=True):
            holes = [(low, high)] if cover is None else [(low, cover[0]), (cover[1], high)]
            for a, b in holes:
                if a < b and self.cache.holds(row.row, slot, a, b) is None:
                    return False
        return True

    def _hold_over(self, _: Any) -> None:
        self._hold_timer = False
        now = self._engine._now
        soonest = None
        for row in list(self._gathering.values()):
            until = row.held_since + self._settings.hold_s
            if until <= now:
                self._complete_row(row)
            elif soonest is None or until < soonest:
                soonest = until
        if self.cache.full:
            super().unplug()
            soonest = min(soonest or now + self._settings.hold_s, now + self._settings.hold_s)
        if soonest is not None:
            self._hold_timer = True
            self._engine.call_at(soonest, self._hold_over)

    def _complete_row(self, gathered: _Row) -> None:
        """Stop gathering and write the row: reads, parity, writes, and the owners' completion."""
        del self._gathering[gathered.row]
        low = min(c[0] for c in gathered.cover if c is not None)
        high = max(c[1] for c in gathered.cover if c is not None)
        ranges = self._ranges(gathered.cover, low, high)
        counter = Join(len(ranges), lambda: self._row_written(gathered))
        for a, b, full, partial in ranges:
            self._write_range(gathered, a, b, full, partial, counter)

    def _ranges(
        self, cover: list[tuple[int, int] | None], low: int, high: int
    ) -> list[tuple[int, int, list[int], list[int]]]:
        """Split [low, high) of a row where the set of written data blocks changes; borders on whole heads."""
        head = self._settings.head_bytes
        edges = {low - low % head, -(-high // head) * head}
        for known in cover:
            if known is not None:
                for at in known:
                    edges.add(at - at % head)
                    edges.add(-(-at // head) * head)
        borders = sorted(edges)
        ranges = []
        for a, b in pairwise(borders):
            full: list[int] = []
            partial: list[int] = []
            for index, known in enumerate(cover):
                if known is not None and known[0] < b and known[1] > a:
                    (full if known[0] <= a and known[1] >= b else partial).append(index)
            if full or partial:
                ranges.append((a, b, full, partial))
        return ranges

    def _write_range(
        self, gathered: _Row, low: int, high: int, full: list[int], partial: list[int], over: Join
    ) -> None:
        row = gathered.row
        members = self._row(row)
        cached: tuple[int, ...] = ()
        if self.cache.knows(row):
            slots = range(len(self._members))
            cached = tuple(slot for slot in slots if self.cache.holds(row, slot, low, high) is not None)
        plan = plan_write(
            members, full, partial, self._unreadable, self._absent, cached, self._settings.rmw_level
        )
        self.row_writes[plan.mode] += 1
        base, size = row * self.layout.chunk_bytes + low, high - low
        heads = -(-size // self._settings.head_bytes)
        submit = self._submit

        def write() -> None:
            if self.host is not None:
                prices = self.host.prices
                self.host.cpu.interrupt(
                    heads * (3 * prices.stripe_s + len(plan.writes) * prices.bio_s)
                    + (len(full) + len(partial)) * size * prices.copy_s_per_byte
                    + plan.sources * size * prices.xor_s_per_byte
                )
            if plan.mode != "full":
                self._remember(row, low, high, (*plan.reads, *plan.writes, *(members.data[i] for i in full)))
            join = Join(len(plan.writes), lambda: over.done(finished))
            self.member_writes += len(plan.writes)
            for slot in plan.writes:
                submit[slot](Request(WRITE, base, size, join.done, sync=False))
            if gathered.sync:
                super(ParityArray, self).unplug()

        def read() -> None:
            self._prereading -= 1
            write()

        finished = Request(WRITE, base, size, over.done)
        if not plan.reads:
            write()
            return
        self._prereading += 1
        join = Join(len(plan.reads), read)
        self.member_reads += len(plan.reads)
        self.parity_reads += len(plan.reads)
        self._charge(len(plan.reads) * heads * self.prices.bio_s)
        for slot in plan.reads:
            submit[slot](Request(READ, base, size, join.done, PREREAD_STREAM))
        super().unplug()

    def _remember(self, row: int, low: int, high: int, slots: Iterable[int]) -> None:
        """What an incomplete row has read and written stays in the stripe cache for its next write."""
        arrival = Arrival()
        arrival.arrived()
        for slot in slots:
            self.cache.remember(row, slot, low, high, arrival)

    def _row_written(self, gathered: _Row) -> None:
        for _ in range(gathered.acquired):
            self.cache.release(gathered.row)
        for owner in gathered.owners:
            owner.left -= 1
            if not owner.left:
                owner.request.done(owner.request)

    # resync

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Rebuild [offset, offset + size) of the members being rebuilt from the others (within one chunk)."""
        chunk = self.layout.chunk_bytes
        row, low = divmod(offset, chunk)
        targets = sorted(self.rebuilding)
        sources = self._sources(row, targets[0])
        prices = self.prices
        heads = -(-size // self._settings.head_bytes)

        def read() -> None:
            join = Join(len(sources), compute)
            for slot in sources:
                self._submit[slot](Request(READ, offset, size, join.done, RESYNC_STREAM, False))
            self.unplug()

        def compute() -> None:
            self._charge(
                heads * (3 * prices.stripe_s + (len(sources) + 1) * prices.bio_s)
                + len(sources) * size * prices.xor_s_per_byte
            )
            join = Join(len(targets), over)
            for slot in targets:
                self._submit[slot](Request(WRITE, offset, size, join.done, RESYNC_STREAM, False))
            self.unplug()

        def over() -> None:
            self.cache.release(row)
            done()

        self._acquire(row, low, low + size, read)

    @property
    def resync_bytes(self) -> int:
        """How much there is to rebuild (bytes per member)."""
        return self.layout.rows * self.layout.chunk_bytes
