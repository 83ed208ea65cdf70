"""Reads of RAID 4, 5 and 6.

A whole array is read from its members, one request per chunk, if the kernel knows how to
(:attr:`~raidsim.model.raid.stripes.settings.ParitySettings.direct_reads`); otherwise, and always while a member is
lost, a read goes through the stripe cache, and a block of a lost member is computed from all others of its row. Source:
drivers/md/raid5.c, chunk_aligned_read and fetch_block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mypy_extensions import i64

from ...core.device import Device
from ...core.join import FORWARD, Join, Parts
from ...core.request import READ, Request
from ...layouts.parity import ParityLayout
from ...waits.causes import BITMAP, MD_THREAD, MEMBER_READS, STRIPE_HEAD
from ..base.array import Array
from ..parity_6_1.thread import STRIPE_BATCH, ParityThread
from ..parity_6_1.workers import ParityWorkers
from ..parity_until_4_0.daemon import ParityDaemon
from ..parity_until_4_0.waiting_readers import WaitingReaders
from ..stripes.arrival import Arrival
from ..stripes.head_cache import HeadCache
from ..stripes.owner import Owner
from ..stripes.settings import ParitySettings
from ..stripes.stripe_cache import StripeCache
from .coming_blocks import ComingBlocks

Piece = tuple[int, int, int, int]
"""Row, data index, low, high."""

_MOST_HANDLED = 4096
"""Rows of which the last pass over their heads is remembered."""


class _WholeRead:
    """A read of a member that is there, through the stripe cache; what that holds is not read again."""

    __slots__ = ("_done", "_high", "_low", "_reader", "_request", "_row", "_slot")

    def __init__(
        self, reader: RowReader, row: int, slot: int, low: int, high: int, request: Request, done: Callable[[], None]
    ) -> None:
        self._reader = reader
        self._row = row
        self._slot = slot
        self._low = low
        self._high = high
        self._request = request
        self._done = done

    def start(self) -> None:
        self._reader.waited(self._request, STRIPE_HEAD)
        self._reader.read_part(self._row, self._slot, self._low, self._high, self._request, self._arrived)

    def _arrived(self, _: object = None) -> None:
        self._reader.waited(self._request, MEMBER_READS)
        self._reader.copy_out(self._row, self._high - self._low)
        self._done()


class RowReader:
    """The reading half of a parity array.

    Parameters
    ----------
    array
        Whose members are read.
    layout, settings, cache
        The array's.
    acquire
        Occupies the heads of (row, low, high) and then calls back.
    thread
        md's thread, which does what a read through the cache needs; None where reads are served at once.
    daemon
        What completions wake there.
    turns
        Processes that sleep for want of heads; None where pieces of requests wait for theirs in the order they came.

    Attributes
    ----------
    unreadable
        Members whose contents cannot be read; set by the array.
    """

    __slots__ = (
        "_acquire",
        "_array",
        "_cache",
        "_coming",
        "_copies_reads",
        "_daemon",
        "_direct_reads",
        "_handled",
        "_head_bytes",
        "_in_hand",
        "_layout",
        "_md_thread",
        "_members",
        "_passes",
        "_turns",
        "unreadable",
    )

    def __init__(
        self,
        array: Array,
        layout: ParityLayout,
        settings: ParitySettings,
        cache: StripeCache,
        acquire: Callable[[int, int, int, Callable[[], None]], bool],
        thread: ParityThread | ParityWorkers | None,
        daemon: ParityDaemon,
        turns: WaitingReaders | None = None,
    ) -> None:
        self._array = array
        self._daemon = daemon
        self._layout = layout
        self._copies_reads = settings.copies_reads
        self._direct_reads = settings.direct_reads
        self._head_bytes = settings.head
        self._cache = cache
        self._acquire = acquire
        self._md_thread = thread
        self._turns = turns
        # Row, bytes [low, high) and number of the pass in which md's thread gave the last heads of a read away.
        self._in_hand: tuple[int, int, int, int] | None = None
        # By row: the bytes [low, high) whose heads were handled last, and the number of that pass over heads.
        self._handled: dict[int, tuple[int, int, int]] = {}
        self._passes = 0
        self._coming = ComingBlocks(cache, layout.chunk_bytes) if isinstance(cache, HeadCache) else None
        self._members: list[Device] = array.members
        self.unreadable = array.failed

    def read(self, request: Request, pieces: list[Piece]) -> None:
        """Serve a read; pieces are (row, data index, low, high)."""
        array = self._array
        if self._direct_reads and not array.failed:
            self._read_direct(request, pieces)
            return
        join = Owner(request, len(pieces)).done
        if self._md_thread is not None:
            head = self._head_bytes
            self._md_thread.filled(sum([-(-high // head) - low // head for _, _, low, high in pieces]), request.issuer)
        for row, index, low, high in pieces:
            slot = self._layout.row(row).data[index]
            if self._md_thread is not None:
                self._read_in_passes(self._md_thread, row, slot, low, high, request, join)
            elif array.failed:
                self._read_degraded(row, slot, low, high, request, join)
            elif self._turns is not None:
                self._read_in_turn(self._turns, row, slot, low, high, request, join)
            else:
                self._acquire(row, low, high, _WholeRead(self, row, slot, low, high, request, join).start)

    def sources(self, row: int, lost: int) -> list[int]:
        """The members from which the block of `lost` is computed; with one lost, RAID 6 reads Q too."""
        members = self._layout.row(row)
        slots = [*members.data, members.p] if members.q is None else [*members.data, members.p, members.q]
        return [slot for slot in slots if slot != lost and slot not in self.unreadable]

    def _read_direct(self, request: Request, pieces: list[Piece]) -> None:
        """Past the stripe cache: one request per chunk, which the thread that reads submits (chunk_aligned_read)."""
        array, chunk_bytes = self._array, self._layout.chunk_bytes
        array.member_reads += len(pieces)
        if array.host is not None:
            array.host.pass_on(array.host.prices.bio_s * len(pieces), request.issuer)
        issuer, sync = request.issuer, request.sync
        if len(pieces) == 1:
            row, index, low, high = pieces[0]
            slot = self._layout.row(row).data[index]
            offset, trail = row * chunk_bytes + low, request.trail
            self._members[slot].submit(Request(READ, offset, high - low, FORWARD, issuer, sync, request, trail))
            return
        join = Parts(len(pieces), request)
        for row, index, low, high in pieces:
            slot = self._layout.row(row).data[index]
            read = Request(READ, row * chunk_bytes + low, high - low, join, issuer, sync, trail=request.trail)
            self._members[slot].submit(read)

    def _read_in_passes(
        self,
        thread: ParityThread | ParityWorkers,
        row: int,
        slot: int,
        low: int,
        high: int,
        request: Request,
        done: Callable[[], None],
    ) -> None:
        """Through the stripe cache by md's thread: whole heads are read, then what was asked for is copied out.

        The thread handles a head to send its reads, to compute a lost block, to copy, and once more after the answer. A
        head that holds the block is handled twice (raid5.c, ops_complete_compute and ops_complete_biofill, which put it
        on the list again).
        """
        array, cache, head = self._array, self._cache, self._head_bytes
        blocks = self._coming
        assert blocks is not None
        assert isinstance(cache, HeadCache), "md's thread has heads of today's kind"
        first, last = low // head * head, -(-high // head) * head
        size = last - first
        heads = size // head
        prices = array.prices
        turns = self._in_turn(thread, row, first, last)

        def fetch(added: int) -> float:
            request.mark(BITMAP, thread.slept_until)
            self.waited(request, MD_THREAD)
            handled = self._handle(row, first, last, added)
            lost = slot in self.unreadable
            missing = blocks.missing(row, slot, self.sources(row, slot) if lost else [slot], first, last)
            fresh = sum([end - begin for begin, end, known in cache.parts(row, first, last) if not known >> slot & 1])
            left = 1
            count = 0

            def one() -> None:
                nonlocal left
                left -= 1
                if not left:
                    thread.add(partial(fill, self._passes, fresh // head, lost))

            for source, low_end, high_end in missing:
                for arrival in blocks.arrivals(thread, row, source, low_end, high_end, turns):
                    left += 1
                    arrival.then(one)
                count += (high_end - low_end) // head
            array.member_reads += len(missing)
            one()
            thread.heads += handled
            # The price of a command has that of its first bio.
            return handled * prices.stripe_s + (count - len(missing)) * prices.bio_s

        def fill(arrived: int, fresh: int, computed: bool) -> float:
            self.waited(request, MEMBER_READS)
            handled = self._handle(row, first, last, arrived)
            thread.heads += handled
            thread.then(partial(over, self._passes if handled else arrived + 1, fresh))
            cache.keep(row, first, last, 1 << slot)
            seconds = handled * prices.stripe_s + (high - low) * prices.copy_s_per_byte
            if computed:
                sources = len(self.sources(row, slot))
                seconds += fresh * (prices.stripe_s + sources * head * prices.xor_s_per_byte)
            return seconds

        def over(filled: int, fresh: int) -> None:
            self.waited(request, MD_THREAD)
            if fresh and self._handle(row, first, last, filled):
                thread.finishes(fresh)
            cache.release(row, low, high)
            if isinstance(thread, ParityThread):
                batch = ((heads - 1) % STRIPE_BATCH + 1) * head
                self._in_hand = row, max(turns[-1][0], turns[-1][1] - batch), turns[-1][1], thread.passes
            done()

        def acquired() -> None:
            self.waited(request, STRIPE_HEAD)
            thread.add(partial(fetch, self._passes))

        self._acquire(row, low, high, acquired)

    def waited(self, request: Request, cause: i64) -> None:
        """A read has waited for `cause` until now."""
        request.mark(cause, self._array._engine._now)

    def _handle(self, row: int, first: int, last: int, since: int) -> int:
        """The thread handles the heads of bytes [first, last): how many are left that no later pass than `since` did.

        One pass over a head does what all I/Os in it want.
        """
        handled = self._handled.get(row)
        if handled is not None and handled[0] <= first and last <= handled[1] and handled[2] > since:
            return 0
        if len(self._handled) >= _MOST_HANDLED:
            self._handled.clear()
        self._passes += 1
        self._handled[row] = first, last, self._passes
        return (last - first) // self._head_bytes

    def _in_turn(self, thread: ParityThread | ParityWorkers, row: int, first: int, last: int) -> list[tuple[int, int]]:
        """The heads of bytes [first, last) of `row` as ranges, in the order in which the thread will handle them.

        A reader that the thread wakes with the last heads of a batch runs before the thread puts those down, where both
        share a core. If it goes on in the same row, these heads come back to the list before the others, which the
        reader has taken off it (raid5.c: handle_active_stripes puts its batch down behind cond_resched, and raid5d then
        takes what was released, release_stripe_list).
        """
        whole = [(first, last)]
        host = self._array.host
        if self._in_hand is None or not isinstance(thread, ParityThread) or host is None or host.cpu.cores > 1:
            return whole
        held_row, low, high, passes = self._in_hand
        self._in_hand = None
        low, high = max(low, first), min(high, last)
        if held_row != row or passes != thread.passes or low >= high:
            return whole
        return [(a, b) for a, b in ((low, high), (first, low), (high, last)) if a < b]

    def copy_out(self, row: int, size: int) -> None:
        """Give the reader its bytes of the row's heads, and return the heads."""
        self._charge(size, self._copies_reads)
        self._cache.release(row)

    def _read_in_turn(
        self,
        turns: WaitingReaders,
        row: int,
        slot: int,
        low: int,
        high: int,
        request: Request,
        done: Callable[[], None],
    ) -> None:
        """The same, in as many parts as the process has to sleep for heads."""
        left = high - low

        def begin(start: int, end: int) -> None:
            self.waited(request, STRIPE_HEAD)

            def arrived(_: object = None) -> None:
                nonlocal left
                self.waited(request, MEMBER_READS)
                self.copy_out(row, end - start)
                left -= end - start
                if not left:
                    done()

            self.read_part(row, slot, start, end, request, arrived)

        turns.read(request.issuer, row, low, high, begin)

    def read_part(
        self, row: int, slot: int, low: int, high: int, request: Request, arrived: Callable[..., None]
    ) -> None:
        """Read what has its heads, unless the cache holds it."""
        known = self._cache.holds(row, slot, low, high)
        if known is not None and known.here:
            arrived()
            return
        self._array.member_reads += 1
        offset = row * self._layout.chunk_bytes + low
        done = self._daemon.takes(arrived)
        self._members[slot].submit(Request(READ, offset, high - low, done, request.issuer, request.sync))

    def _read_degraded(
        self, row: int, slot: int, low: int, high: int, request: Request, done: Callable[[], None]
    ) -> None:
        def finished() -> None:
            self.waited(request, MEMBER_READS)
            self._charge(high - low, True)
            self._cache.release(row)
            done()

        def computed() -> None:
            self.waited(request, MEMBER_READS)
            size = high - low
            prices = self._array.prices
            heads = -(-size // self._head_bytes)
            seconds = heads * prices.stripe_s + self._layout.data_members * size * prices.xor_s_per_byte
            self._daemon.compute(seconds, finished)

        def start() -> None:
            self.waited(request, STRIPE_HEAD)
            if slot not in self.unreadable:
                self._fetch(row, slot, low, high, request.issuer, finished)
                return
            sources = self.sources(row, slot)
            counter = Join(len(sources), computed)
            for source in sources:
                self._fetch(row, source, low, high, request.issuer, lambda: counter.done(request))

        self._acquire(row, low, high, start)

    def _fetch(self, row: int, slot: int, low: int, high: int, issuer: int, then: Callable[[], None]) -> None:
        """Bring a block of a member into the stripe cache, unless it is there."""
        array = self._array
        arrival = self._cache.holds(row, slot, low, high)
        if arrival is None:
            arrival = Arrival()
            self._cache.remember(row, slot, low, high, arrival)
            array.member_reads += 1
            offset = row * self._layout.chunk_bytes + low
            if array.host is not None:
                array.host.cpu.interrupt(array.host.prices.bio_s * -(-(high - low) // self._head_bytes))
            self._members[slot].submit(Request(READ, offset, high - low, self._daemon.takes(arrival.arrived), issuer))
        arrival.then(then)

    def _charge(self, size: int, copied: bool) -> None:
        host = self._array.host
        if host is not None:
            prices = host.prices
            heads = -(-size // self._head_bytes)
            seconds = heads * (2 * prices.stripe_s + prices.bio_s)
            if copied:
                seconds += size * prices.copy_s_per_byte
            host.cpu.interrupt(seconds)
