"""Writes of RAID 4, 5 and 6 as md's thread handles them today (Linux 6.1).

A write puts its blocks into stripe heads and wakes the thread (:mod:`raidsim.model.raid.parity_6_1.thread`). For each
run of heads the thread decides anew every time it looks: complete rows are written, and the missing blocks of others
are read (:mod:`raidsim.model.raid.stripes.write_plan`). Blocks that arrive before the thread runs, or while a row is
being read up, still go into the same write; blocks that arrive while it is being written wait for the next one. Heads
that nobody waits for (write-back) are read up only while no others are (IO_THRESHOLD is 1), and meanwhile gather
neighbors. They are held back behind full stripes that are not on the members yet, unless other heads keep coming. What
a task submits while it is plugged is handled when it unplugs. Sources: Linux 6.1 drivers/md/raid5.c,
make_stripe_request (REQ_SYNC sets STRIPE_PREREAD_ACTIVE), handle_stripe_dirtying, schedule_reconstruction,
raid5_activate_delayed, __get_priority_stripe, release_stripe_plug; stripe_add_to_batch_list (full stripes of a chunk
are handled as one); async_copy_data (for every block it copies it looks for the block's page from the first page of the
write on).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

from mypy_extensions import i64

from ...core.request import ASYNC, READ, WAITED, WRITE, WRITE_THROUGH, Request
from ...layouts.parity import ParityLayout
from ...waits.causes import BITMAP, JOURNAL, MD_THREAD, PARITY_TURN, PREREAD, STRIPE, STRIPE_HEAD
from ..base.array import Array
from ..metadata.bitmap_waits import RowWaits
from ..metadata.journal import Journal
from ..stripes.head_cache import HeadCache
from ..stripes.owner import Owner
from ..stripes.settings import ParitySettings
from ..stripes.write_plan import WritePlan
from .bitmap_list import BitmapList
from .plan_cache import RunPlans
from .stripe_head_run import Flight, Piece, StripeHeadRun, all_followed, all_waited, any_accounted, cover, numbers
from .thread import STRIPE_BATCH, ParityThread
from .workers import ParityWorkers

BYPASS_THRESHOLD = 1
"""So many heads may pass by those that are held back behind full stripes (preread_bypass_threshold)."""


class StripeHandler:
    """The writing half of a parity array.

    Parameters
    ----------
    array
        Whose members are written.
    layout, settings, cache, thread
        The array's.
    journal
        Takes data and parity before the members do; None for an array without one.

    Attributes
    ----------
    unreadable, absent
        Members whose old contents cannot be read, and members that cannot be written either; set by the array.
    prereading
        Runs that are being read up.
    parity_reads
        Member reads for that purpose.
    row_writes
        Runs of heads written in each mode.
    """

    __slots__ = (
        "_array",
        "_asleep",
        "_bitmap_list",
        "_bitmap_waits",
        "_bypassed",
        "_cache",
        "_chunk_bytes",
        "_delayed",
        "_full_writes",
        "_head_bytes",
        "_idle",
        "_journal",
        "_late",
        "_layout",
        "_listed",
        "_md_thread",
        "_plans",
        "_plugged",
        "_ready",
        "_rows",
        "_waking",
        "absent",
        "parity_reads",
        "prereading",
        "row_writes",
        "unreadable",
    )

    def __init__(
        self,
        array: Array,
        layout: ParityLayout,
        settings: ParitySettings,
        cache: HeadCache,
        thread: ParityThread | ParityWorkers,
        journal: Journal | None = None,
    ) -> None:
        self._array = array
        self._layout = layout
        self._head_bytes = settings.head
        self._chunk_bytes = layout.chunk_bytes
        self._cache = cache
        self._md_thread = thread
        self._journal = journal
        self._rows: dict[int, list[StripeHeadRun]] = {}
        # Rows in order of arrival: for the next pass, of a plugged task, and with heads that are not yet read up.
        self._ready: dict[int, None] = {}
        if isinstance(thread, ParityWorkers):
            thread.ready = self._heads_ready
        self._listed: dict[int, None] = {}
        self._delayed: dict[int, None] = {}
        # What is left of writes for which there were no heads: (row, data index, low, high, owner).
        self._late: deque[tuple[int, int, int, int, Owner]] = deque()
        # What waits until no write is under way in a row.
        self._idle: dict[int, list[Callable[[], None]]] = {}
        # Full runs that are not on the members yet, and heads that were handled while others are held back.
        self._full_writes = self._bypassed = 0
        self._plugged = self._waking = self._asleep = False
        self._plans = RunPlans(layout, settings.rmw_level)
        self._bitmap_list: BitmapList | None = None
        self._bitmap_waits: RowWaits | None = None
        self.unreadable = self.absent = array.failed
        self.prereading = 0
        self.parity_reads = 0
        self.row_writes = {"full": 0, "rmw": 0, "rcw": 0}

    def keep_bitmap(self, waits: RowWaits) -> None:
        """From now on heads with new data wait until their bits are on the members."""
        self._bitmap_waits = waits
        self._bitmap_list = BitmapList(waits.bitmap, self._activate)
        thread = self._md_thread if isinstance(self._md_thread, ParityThread) else self._md_thread.threads[0]
        thread.bitmap_list = self._bitmap_list

    # from the submitters

    def plug(self) -> None:
        """A task begins to submit several I/Os; their heads are handled when it unplugs."""
        self._plugged = True

    def unplug(self) -> None:
        """The task has submitted all, or goes to sleep."""
        self._plugged = False
        if self._listed:
            self._ready.update(self._listed)
            if self._bitmap_list is not None:
                self._await_bits(self._bitmap_list, self._listed)
            self._listed.clear()
            self._wake()

    def hold(self) -> None:
        """A task sleeps for want of heads."""
        self.unplug()

    def write(self, request: Request, pieces: list[tuple[int, int, int, int]]) -> None:
        """Take a write; pieces are (row, data index, low, high)."""
        owner = Owner(request, len(pieces))
        head = self._head_bytes
        self._md_thread.filled(sum([-(-high // head) - low // head for _, _, low, high in pieces]), request.issuer)
        for row, index, low, high in pieces:
            blocks = -(-high // head) - low // head
            fits = not self._late and (not self._cache.heads or blocks <= self._cache.heads)
            if fits and self._cache.acquire(row, low, high):
                self._add(row, index, low, high, self._piece(row, index, low, high, owner))
            else:
                self._late.append((row, index, low, high, owner))
        if self._late and not self._asleep:
            self._take_late()

    def _take_late(self) -> None:
        """Take what there are heads for, in order; the task sleeps until a quarter of the heads is free."""
        cache, head = self._cache, self._head_bytes
        while self._late:
            row, _, low, high, _ = self._late[0]
            first = low // head
            last = min(high, (first + max(1, cache.free_heads)) * head)
            if not cache.acquire(row, low, last):
                last = min(high, (first + max(1, cache.heads // 4)) * head)
                self._asleep = True
                cache.wait(row, low, last, partial(self._awake, last))
                self.unplug()
                return
            self._add_late(last)

    def _awake(self, last: int) -> None:
        self._asleep = False
        self._add_late(last)
        self._take_late()

    def _add_late(self, last: int) -> None:
        """Add what comes next, up to byte `last` of its chunk, whose heads are taken."""
        row, index, low, high, owner = self._late.popleft()
        if last < high:
            owner.left += 1
            self._late.appendleft((row, index, last, high, owner))
        self._add(row, index, low, last, self._piece(row, index, low, last, owner))

    def _piece(self, row: int, index: int, low: int, high: int, owner: Owner) -> Piece:
        head = self._head_bytes
        start = (row * self._layout.data_members + index) * self._chunk_bytes
        first, last = (start + low - owner.request.offset) // head, -(-(start + high - owner.request.offset) // head)
        slot = self._layout.row(row).data[index]
        piece = Piece(row, low, high, owner, (last - first) * (first + last + 1) // 2, slot)
        piece.mark(STRIPE_HEAD, self._array._engine._now)
        return piece

    def _add(self, row: int, index: int, low: int, high: int, piece: Piece) -> None:
        """Put new data into heads that are taken, in whole blocks and parts of them."""
        if self._bitmap_waits is not None:
            self._bitmap_waits.has_heads(piece.owner.request)
        head = self._head_bytes
        first, last = low // head * head, -(-high // head) * head
        runs = self._rows.get(row)
        if runs is None:
            runs = self._rows[row] = []
        edges = {first, last, -(-low // head) * head, high // head * head}
        if self._cache.knows(row):
            self._find_known(runs, row, first, last)
        borders = sorted(edge for edge in edges if first <= edge <= last)
        for a, b in pairwise(borders):
            for run in cover(runs, row, a, b):
                run.add(index, low, high, piece)
                run.queued = True
                if self._bitmap_list is not None:
                    run.flush = self._bitmap_list.following
        if self._plugged:
            self._listed[row] = None
        else:
            self._ready[row] = None
            if self._bitmap_list is not None:
                self._await_bits(self._bitmap_list, (row,))
            self._wake()

    def _await_bits(self, bitmap_list: BitmapList, rows: Iterable[int]) -> None:
        """Put rows with new data on the list of heads that wait for their bits."""
        for row in rows:
            bitmap_list.rows[row] = None

    def _find_known(self, runs: list[StripeHeadRun], row: int, first: int, last: int) -> None:
        """Make runs of the heads of bytes [first, last) that the stripe cache holds something of, but for those in use.

        Every head decides for itself, so that heads which hold different blocks are different runs.
        """
        at = first
        gaps: list[tuple[int, int]] = []
        for run in runs:
            if run.high > at and run.low < last:
                if at < run.low:
                    gaps.append((at, run.low))
                at = run.high
        if at < last:
            gaps.append((at, last))
        for low, high in gaps:
            for a, b, known in self._cache.parts(row, low, high):
                if known:
                    for run in cover(runs, row, a, b):
                        run.known = known

    # in the thread

    def _activate(self, rows: Iterable[int]) -> None:
        """The bits of these rows are on the members."""
        for row in rows:
            self._ready[row] = None
        self._wake()

    def _wake(self) -> None:
        if not self._waking:
            self._waking = True
            self._md_thread.add(self._handle_ready)
        elif isinstance(self._md_thread, ParityWorkers):
            self._md_thread.wake()

    def _heads_ready(self, most: int) -> int:
        """Count the heads of rows that are to be looked at, up to `most`; full stripes of a chunk are one."""
        heads, everything = 0, (1 << self._layout.data_members) - 1
        for row in self._ready:
            for run in self._rows.get(row, ()):
                if run.queued and not run.flush:
                    heads += 1 if run.full == everything else self._heads(run)
            if heads >= most:
                break
        return heads

    def _handle_ready(self) -> float:
        """Look at the rows on the list, as far as this pass goes; returns CPU time (s)."""
        self._waking = False
        seconds = 0.0
        ready, thread = self._ready, self._md_thread
        while True:
            while ready:
                if thread.heads >= STRIPE_BATCH:
                    self._wake()
                    return seconds
                row = next(iter(ready))
                del ready[row]
                held, before = bool(self._delayed), thread.heads
                seconds += self._handle_row(row)
                if held:
                    self._bypassed += thread.heads - before
            if not self._delayed or self.prereading:
                break
            if self._full_writes and self._bypassed <= BYPASS_THRESHOLD + 1:
                break
            self._bypassed = 0
            for row in self._delayed:
                for run in self._rows.get(row, ()):
                    if run.full | run.partial:
                        run.active = run.queued = True
                        self._waited(run.pieces, PARITY_TURN)
            ready.update(self._delayed)
            self._delayed.clear()
        if self._journal is not None:
            thread.then(self._journal.submit)
        return seconds

    def _handle_row(self, row: int) -> float:
        runs = self._rows.get(row)
        if runs is None:
            return 0.0
        if self._bitmap_list is not None:
            self._note_bits(self._bitmap_list, row, runs)
        if len(runs) > 1:
            joined = [runs[0]]
            for run in runs[1:]:
                if joined[-1].like(run):
                    joined[-1].join(run)
                else:
                    joined.append(run)
            runs[:] = joined
        seconds = 0.0
        for run in runs:
            if run.queued and not run.flush:
                run.queued = False
                if run.full | run.partial:
                    seconds += self._handle(run)
        return seconds

    def _note_bits(self, bitmap_list: BitmapList, row: int, runs: list[StripeHeadRun]) -> None:
        """See which runs have their bits on the members; a row with others waits for the next flush."""
        for run in runs:
            if run.flush <= bitmap_list.written:
                run.flush = 0
            else:
                bitmap_list.rows[row] = None

    def _handle(self, run: StripeHeadRun) -> float:
        """Read up or write a run with new data, if it can be now; returns CPU time (s)."""
        if run.reading:
            return 0.0
        plan = self._plans.plan(run, self.unreadable, self.absent)
        self._md_thread.heads += 1 if plan.mode == "full" else self._heads(run)
        if plan.reads:
            if not (run.sync or run.active or self._journal is not None):
                self._delayed[run.row] = None
                return self._array.prices.stripe_s * self._heads(run)
            return self._read_up(run, plan)
        return 0.0 if run.writing else self._write(run, plan)

    def _thread_came(self, pieces: list[Piece]) -> None:
        """These have waited for md's thread, which may have slept until the bitmap was written."""
        if any_accounted(pieces):
            all_waited(pieces, BITMAP, self._md_thread.slept_until)
            all_waited(pieces, MD_THREAD, self._array._engine._now)

    def _waited(self, pieces: list[Piece], cause: i64) -> None:
        """These have waited for `cause` until now."""
        if any_accounted(pieces):
            all_waited(pieces, cause, self._array._engine._now)

    def _heads(self, run: StripeHeadRun) -> int:
        return (run.high - run.low) // self._head_bytes

    def _heads_of(self, flight: Flight) -> int:
        return (flight.high - flight.low) // self._head_bytes

    def _read_up(self, run: StripeHeadRun, plan: WritePlan) -> float:
        run.reading = True
        self._thread_came(run.pieces)
        self.prereading += 1
        count = len(plan.reads)
        self.parity_reads += count
        self._array.member_reads += count
        done = Flight(run, plan.reads, [], self._has_read)
        offset, size = run.row * self._chunk_bytes + run.low, run.high - run.low
        for slot in plan.reads:
            self._md_thread.send(slot, Request(READ, offset, size, done, self._md_thread.issuer, parent=slot))
        prices = self._array.prices
        # The price of a command has that of its first bio.
        heads = self._heads(run)
        return heads * prices.stripe_s + (heads - 1) * count * prices.bio_s

    def _has_read(self, flight: Flight) -> None:
        """The thread will go on with the heads that were read up."""
        self.prereading -= 1
        bits = _bits(flight.slots)
        for run in self._rows[flight.row]:
            if flight.low <= run.low < flight.high:
                run.reading = False
                run.queued = True
                run.known |= bits
                self._waited(run.pieces, PREREAD)
        self._ready[flight.row] = None
        self._wake()

    def _write(self, run: StripeHeadRun, plan: WritePlan) -> float:
        """Copy the new data into the heads, compute parity, and have everything written."""
        prices, members = self._array.prices, self._layout.row(run.row)
        size, heads = run.high - run.low, self._heads(run)
        touched = run.full.bit_count() + run.partial.bit_count()
        self.row_writes[plan.mode] += 1
        if plan.mode == "full":
            self._full_writes += 1
        sync = WRITE_THROUGH if run.write_through else WAITED if run.sync else ASYNC
        full = tuple([members.data[index] for index in numbers(run.full)])
        run.known |= _bits(plan.writes) | _bits(full)
        run.writing = True
        parities = (members.p,) if members.q is None else (members.p, members.q)
        flight = Flight(run, plan.writes, run.take(), self._has_written, parities, self._has_written_part)
        flight.full = plan.mode == "full"
        self._thread_came(flight.pieces)
        steps, host = sum([piece.steps for piece in flight.pieces]), self._array.host
        for piece in flight.pieces:
            piece.steps = 0
            if host is not None:
                copied = min(piece.high, flight.high) - max(piece.low, flight.low)
                host.has_copied(copied, piece.owner.request.issuer)
        passes = 1 if plan.mode == "full" and self._journal is None else heads
        if self._journal is None:
            self._md_thread.add(partial(self._send_writes, flight, sync, passes), passes)
        else:
            journal, blocks = self._journal, heads * (touched + self._layout.parities)
            logged = partial(self._logged, flight, sync=sync)
            self._md_thread.then(lambda: journal.append(heads, blocks, logged))
        seconds = passes * prices.stripe_s + steps * prices.segment_s
        if self._journal is not None:
            seconds += size * (touched + self._layout.parities) * prices.checksum_s_per_byte
        return seconds + touched * size * prices.copy_s_per_byte + plan.sources * size * prices.xor_s_per_byte

    def _logged(self, flight: Flight, ticket: int, sync: int) -> None:
        """Data and parity are safe in the journal, so the members may be written."""
        flight.ticket = ticket
        self._waited(flight.pieces, JOURNAL)
        heads = self._heads_of(flight)
        self._md_thread.add(partial(self._send_writes, flight, sync, heads), heads)

    def _send_writes(self, flight: Flight, sync: int, passes: int) -> float:
        """What was computed is written when the heads' turn has come again; returns CPU time (s)."""
        offset, size = flight.row * self._chunk_bytes + flight.low, flight.high - flight.low
        # Requests past a volatile cache do not merge (include/linux/blk-mq.h, RQF_NOMERGE_FLAGS; REQ_NOMERGE_FLAGS).
        bio = size if sync != WRITE_THROUGH else self._head_bytes
        flight.expect(size // bio)
        thread, done = self._md_thread, flight
        self._thread_came(flight.pieces)
        flight.trail = next((piece.trail for piece in flight.pieces if piece.trail is not None), None)
        self._array.member_writes += len(flight.slots) * (size // bio)
        for start in range(offset, offset + size, bio):
            for slot in flight.slots:
                thread.send(slot, Request(WRITE, start, bio, done, thread.issuer, sync, slot, flight.trail))
        self._md_thread.heads += passes
        prices = self._array.prices
        merged = size // self._head_bytes - size // bio
        return passes * prices.stripe_s + merged * len(flight.slots) * prices.bio_s

    def _has_written_part(self, flight: Flight, pieces: list[Piece]) -> None:
        """Parity and these data are on the members: the thread answers their writers."""
        all_followed(pieces, flight.trail)
        self._md_thread.add(lambda: self._answer_part(flight, pieces), self._heads_of(flight))

    def _answer_part(self, flight: Flight, pieces: list[Piece]) -> float:
        self._md_thread.then(lambda: self._answer(pieces))
        heads = self._heads_of(flight)
        self._md_thread.heads += heads
        return self._array.prices.stripe_s * heads

    def _has_written(self, flight: Flight) -> None:
        """The thread will answer the writers."""
        all_followed(flight.pieces, flight.trail)
        self._md_thread.add(lambda: self._finish(flight), 1 if flight.full else self._heads_of(flight))

    def _finish(self, flight: Flight) -> float:
        row = flight.row
        if flight.full:
            self._full_writes -= 1
            if not self._full_writes and self._delayed:
                self._wake()
        if self._journal is not None:
            self._journal.written(flight.ticket)
        kept: list[StripeHeadRun] = []
        for run in self._rows[row]:
            if flight.low <= run.low < flight.high:
                run.writing = False
                run.queued = True
                self._waited(run.pieces, STRIPE)
                if not (run.pieces or run.deferred or run.reading):
                    self._remember(run)
                    continue
            kept.append(run)
        if kept:
            self._rows[row] = kept
            self._add_deferred(row, kept)
            self._ready[row] = None
            self._wake()
        else:
            del self._rows[row]
            for callback in self._idle.pop(row, ()) if self._idle else ():
                callback()
        self._md_thread.then(lambda: self._answer(flight.pieces))
        heads = self._heads_of(flight)
        self._md_thread.heads += heads
        return self._array.prices.stripe_s * heads

    def when_idle(self, row: int, callback: Callable[[], None]) -> None:
        """Call `callback` once no write is under way in `row`."""
        if row in self._rows:
            self._idle.setdefault(row, []).append(callback)
        else:
            callback()

    def _remember(self, run: StripeHeadRun) -> None:
        self._cache.keep(run.row, run.low, run.high, run.known)

    def _add_deferred(self, row: int, runs: list[StripeHeadRun]) -> None:
        """Writes of blocks whose last new data is on the members now take their turn."""
        late = []
        for run in runs:
            if not run.writing and run.deferred:
                late += run.deferred
                run.deferred = []
        for index, low, high, piece in late:
            self._waited([piece], STRIPE)
            self._add(row, index, low, high, piece)
            piece.left -= 1

    def _answer(self, pieces: list[Piece]) -> None:
        self._thread_came(pieces)
        for piece in pieces:
            piece.left -= 1
            if not piece.left:
                self._cache.release(piece.row, piece.low, piece.high)
                owner = piece.owner
                owner.done(piece.trail)


def _bits(slots: tuple[int, ...]) -> int:
    bits = 0
    for slot in slots:
        bits |= 1 << slot
    return bits
