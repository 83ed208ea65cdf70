"""RAID 4, 5 and 6 in time, as Linux md runs them.

Reads of a whole array go to the members since Linux 2.6.20, all others through the stripe cache
(:mod:`raidsim.model.raid.parity.reads`). Writes are gathered by row and held for their neighbors by the kernels of
2004 (:mod:`raidsim.model.raid.parity_until_4_0.row_writer`); today md's thread takes them as it finds them
(:mod:`raidsim.model.raid.parity_6_1.stripe_handler`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ...core.device import BlockedReaders, Device, RowQueue
from ...core.discard_limits import DiscardLimits, refused
from ...core.engine import Engine
from ...core.errors import ArrayFailed, ModelError
from ...core.join import FORWARD, Parts
from ...core.request import READ, Request
from ...layouts.layout import Layout
from ...layouts.parity import ParityLayout
from ...tasks.host import Host
from ...waits.causes import STRIPE
from ..base.array import Array
from ..base.metadata import Metadata
from ..metadata.bitmap import WriteIntentBitmap
from ..metadata.bitmap_waits import BitmapWaits, MirrorWaits, RowWaits, StripeWaits, ThreadWaits
from ..metadata.journal import Journal
from ..parity_6_1.stripe_handler import StripeHandler
from ..parity_6_1.thread import ParityThread
from ..parity_6_1.workers import ParityWorkers
from ..parity_until_4_0.daemon import ParityDaemon
from ..parity_until_4_0.row_locks import Piece, RowLocks
from ..parity_until_4_0.row_writer import RowWriter
from ..parity_until_4_0.waiting_readers import WaitingReaders
from ..stripes.head_cache import HeadCache
from ..stripes.settings import ParitySettings
from ..stripes.stripe_cache import StripeCache
from .discards import StripeDiscarder
from .piece_order import from_lowest
from .reads import RowReader
from .resync import RowResync


class ParityArray(Array):
    """RAID 4, 5 or 6.

    Parameters
    ----------
    layout
        The address arithmetic.
    settings
        How the driver works.
    journal
        Takes every write before the members do (``mdadm --write-journal``); None for an array without one.
    partner
        An array on the same members in another layout, whose stripe cache and threads it uses.

    Attributes
    ----------
    cache
        The stripe cache.
    md_thread
        What takes the work on its stripes; None where whoever submits does it.
    threads
        What handles its stripes: md's thread, or its workers; none where whoever submits does.
    """

    __slots__ = (
        "_chunk_bytes",
        "_data_members",
        "_direct_reads",
        "_discarder",
        "_discards",
        "_heads",
        "_locate",
        "_lowest_first",
        "_reader",
        "_row",
        "_row_locks",
        "_simple_reads",
        "_slots",
        "_small_writer",
        "_waiting_readers",
        "_writer",
        "cache",
        "daemon_submits",
        "layout",
        "md_thread",
        "resyncer",
        "threads",
    )

    daemon_submits: bool
    md_thread: ParityThread | ParityWorkers | None

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        layout: ParityLayout,
        settings: ParitySettings,
        host: Host | None = None,
        failed: Iterable[int] = (),
        journal: Journal | None = None,
        partner: ParityArray | None = None,
    ) -> None:
        super().__init__(engine, name, members, layout.capacity, host, failed)
        if not layout.tolerates(self.failed):
            raise ArrayFailed(
                f"{name}: members {sorted(self.failed)} have failed, {layout.level} survives {layout.parities}"
            )
        self.layout = layout
        self._direct_reads = settings.direct_reads or not settings.heads
        self._heads = settings.heads
        self._discards = settings.discards
        self._lowest_first = settings.lowest_first
        self._locate, self._row = layout.locate, layout.row
        self._chunk_bytes = layout.chunk_bytes
        self._data_members = layout.data_members
        # By the number of the chunk in a period: where it is.
        self._slots = [slot for row in layout.row_table for slot in row.data]
        in_passes = settings.hold is None
        if journal is not None and not in_passes:
            raise ModelError(f"{name}: a journal needs md's thread as it is since Linux 4.4 (hold None)")
        heads = HeadCache(settings.heads, settings.head, settings.most_heads)
        if partner is not None and isinstance(partner.cache, HeadCache):
            heads = partner.cache
        self.cache: StripeCache = heads
        if not in_passes:
            self.cache = StripeCache(settings.heads, settings.head, layout.chunk_bytes, settings.most_heads)
        if host is not None and partner is None:
            host.shrinkers.append(self.cache.shrink)
        daemon = ParityDaemon(engine, self)
        self._writer: RowWriter | StripeHandler
        self._discarder: StripeDiscarder | None = None
        thread: ParityThread | ParityWorkers | None = None
        self.threads: list[ParityThread] = []
        if in_passes:
            if partner is not None:
                thread, self.threads = partner.md_thread, partner.threads
            elif settings.workers:
                thread = ParityWorkers(engine, host, members, self.cache, settings.workers)
                self.threads = thread.threads
            else:
                thread = ParityThread(engine, host, members, self.cache)
                self.threads = [thread]
            assert thread is not None
            handler = StripeHandler(self, layout, settings, heads, thread, journal)
            self._writer = handler
            self._discarder = StripeDiscarder(self, layout, settings, heads, thread, handler)
        else:
            self._writer = RowWriter(engine, self, layout, settings, self.cache, daemon)
        self.md_thread = thread
        self._waiting_readers: WaitingReaders | None = None
        if settings.waiting_readers:
            if in_passes or not settings.heads or settings.locks_rows:
                raise ModelError(f"{name}: readers share the heads of drivers that gather rows in a limited cache")
            cores = host.cpu.cores if host is not None else 1
            self._waiting_readers = WaitingReaders(self.cache, cores, self._let_members_go)
        self._reader = RowReader(
            self, layout, settings, self.cache, self._acquire, thread, daemon, self._waiting_readers
        )
        self.resyncer = RowResync(self, layout, settings, self.cache, self._acquire, thread, daemon)
        self._row_locks: RowLocks | None = None
        if settings.locks_rows:
            if in_passes or not settings.heads:
                raise ModelError(f"{name}: rows are locked by drivers that gather rows and have a limited cache")
            self._row_locks = RowLocks(self._start_piece, self._let_members_go)
        self.daemon_submits = in_passes
        self._choose_paths()

    def flush(self, done: Callable[[], None]) -> None:
        """See :meth:`Array.flush`: a work item sends the flushes, so md's thread runs first if it was woken before."""
        if self.threads:
            self.threads[0].when_asleep(partial(super().flush, done))
        else:
            super().flush(done)

    @property
    def row_locks(self) -> RowQueue | None:
        """I/O that waits for locked rows; None where the driver locks none."""
        return self._row_locks

    @property
    def waiting_readers(self) -> BlockedReaders | None:
        """Processes that sleep for want of stripe heads when they read; None where they share none."""
        return self._waiting_readers

    @property
    def striping(self) -> Layout | None:
        """See :attr:`Array.striping`."""
        return self.layout

    def _choose_paths(self) -> None:
        """Take the short ways where nothing is lost, limited, priced or written in addition to the data."""
        writer = self._writer
        free = self.host is None and not self.failed and self.load is None
        self._simple_reads = free and self._direct_reads
        small = free and not self._heads and self.metadata is None
        self._small_writer = writer if small and isinstance(writer, RowWriter) else None

    def keep_metadata(self, metadata: Metadata) -> None:
        """See :meth:`Array.keep_metadata`."""
        super().keep_metadata(metadata)
        self._choose_paths()

    def bitmap_waits(self, bitmap: WriteIntentBitmap, _: MirrorWaits) -> BitmapWaits:
        """What waits for a new bit of its write-intent bitmap: md's thread, which handles no stripe head meanwhile."""
        if self._row_locks is not None:
            return ThreadWaits(bitmap)
        waits = StripeWaits(bitmap) if isinstance(self._writer, StripeHandler) else RowWaits(bitmap)
        self._writer.keep_bitmap(waits)
        return waits

    def rebuild_onto(self, slot: int) -> None:
        """See :meth:`Array.rebuild_onto`."""
        super().rebuild_onto(slot)
        self._writer.absent = self.failed - self.rebuilding

    def rebuilt(self, slot: int) -> None:
        """See :meth:`Array.rebuilt`."""
        super().rebuilt(slot)
        self._members_changed()

    def survives(self, failed: frozenset[int]) -> bool:
        return self.layout.tolerates(failed)

    def _members_changed(self) -> None:
        self._reader.unreadable = self._writer.unreadable = self.failed
        self._writer.absent = self.failed - self.rebuilding
        self._choose_paths()

    def resync_range(self, offset: int, size: int) -> tuple[int, int]:
        """See :meth:`Array.resync_range`: rows are counted, in bytes per member."""
        chunk = self._chunk_bytes
        first, _, low = self._locate(offset)
        last, _, high = self._locate(offset + size - 1)
        if first == last and high >= low and size <= chunk:
            return first * chunk + low, first * chunk + high + 1
        return first * chunk, (last + 1) * chunk

    @property
    def parity_reads(self) -> int:
        """Member reads of old contents for writes."""
        return self._writer.parity_reads

    @property
    def row_writes(self) -> dict[str, int]:
        """How many ranges of rows were written "full", by "rmw" and by "rcw"."""
        return self._writer.row_writes

    @property
    def has_room(self) -> bool:
        """Whether more writes may be queued: no work waits for stripe heads, and the members have room."""
        return not self.cache.full and not (self._row_locks is not None and self._row_locks.waits) and super().has_room

    def when_room(self, callback: Callable[[], None]) -> None:
        """See :meth:`Array.when_room`."""
        if self.cache.full:
            self.cache.when_free(callback)
            super().unplug()
        elif self._row_locks is not None and self._row_locks.waits:
            self._row_locks.when_free(callback)
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
            self._let_members_go()

        self.cache.wait(row, low, high, late)
        super().unplug()
        self._writer.hold()
        return False

    def _let_members_go(self) -> None:
        super().unplug()

    def plug(self) -> None:
        """See :meth:`Array.plug`."""
        self._writer.plug()
        super().plug()

    def unplug(self) -> None:
        """Somebody waits for data: incomplete rows are read up, unless that is under way already, and members go."""
        self._writer.unplug()
        super().unplug()

    def submit(self, request: Request) -> None:
        """See :meth:`Array.submit`; shorter inside one chunk, if nothing is lost, limited or priced."""
        if self._simple_reads:
            chunk_bytes, size = self._chunk_bytes, request.size
            chunk = request.offset // chunk_bytes
            low = request.offset - chunk * chunk_bytes
            if low + size <= chunk_bytes:
                place = chunk % len(self._slots)
                row = chunk // self._data_members
                if request.op == READ:
                    request.submitted = self._engine._now
                    self.reads += 1
                    self.member_reads += 1
                    offset, issuer, trail = row * chunk_bytes + low, request.issuer, request.trail
                    read = Request(READ, offset, size, FORWARD, issuer, True, request, trail)
                    self._members[self._slots[place]].submit(read)
                    return
                if self._small_writer is not None:
                    if request.sync and self._small_writer.write_small(request, row, place, low):
                        return
                    request.submitted = self._engine._now
                    self.writes += 1
                    self._writer.write(request, [(row, chunk % self._data_members, low, low + size)])
                    return
        super().submit(request)

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
        if self._simple_reads:
            self.member_reads += len(pieces)
            over = Parts(len(pieces), request)
            for row, index, low, high in pieces:
                offset, issuer = row * self._chunk_bytes + low, request.issuer
                read = Request(READ, offset, high - low, over, issuer, trail=request.trail)
                self._members[self._row(row).data[index]].submit(read)
            return
        if self._row_locks is not None:
            self._one_by_one(request, pieces)
            return
        if self._lowest_first and (self.failed or not self._direct_reads):
            pieces = from_lowest(self.layout, pieces)
        self._reader.read(request, pieces)

    def _write(self, request: Request) -> None:
        pieces = self._pieces(request.offset, request.size)
        if self._row_locks is not None:
            self._one_by_one(request, pieces)
            return
        if self._lowest_first:
            pieces = from_lowest(self.layout, pieces)
        self._writer.write(request, pieces)

    def _one_by_one(self, request: Request, pieces: list[Piece]) -> None:
        """Do the pieces of a request as their rows get free."""
        locks = self._row_locks
        assert locks is not None
        over = Parts(len(pieces), request)
        at = request.offset
        for piece in pieces:
            size = piece[3] - piece[2]
            done = partial(self._piece_over, over, piece)
            locks.add(Request(request.op, at, size, done, request.issuer, request.sync, trail=request.trail), piece)
            at += size

    def _piece_over(self, over: Parts, piece: Piece, part: Request) -> None:
        over.done(part)
        if self._row_locks is not None:
            self._row_locks.unlock(piece)

    def _start_piece(self, request: Request, piece: Piece) -> None:
        request.mark(STRIPE, self._engine._now)
        if request.op == READ:
            self._reader.read(request, [piece])
            return
        writer = self._writer
        assert isinstance(writer, RowWriter)
        writer.write(request, [piece])
        gathered = writer.gathering.get(piece[0])
        if gathered is not None:
            writer.complete_row(gathered)

    @property
    def discard_limits(self) -> DiscardLimits:
        """Whole stripes, if the module is allowed to discard: its granularity is a power of two (raid5_run)."""
        if not self._discards or self._discarder is None:
            return refused(f"{self.name} passes discards on only with devices_handle_discard_safely, which is off")
        stripe = 1 << (self._chunk_bytes * self._data_members - 1).bit_length()
        limits = self._members_limits(stripe)
        if not limits.refusal and limits.most_bytes < stripe:
            return refused(f"{self.name} frees whole stripes, which are larger than what its members take at once")
        return limits

    def _discard(self, request: Request) -> None:
        if self._discarder is None:
            super()._discard(request)
        else:
            self._discarder.discard(request)

    # resync

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Rebuild [offset, offset + size) of the members being rebuilt from the others (within one chunk)."""
        self.resyncer.rebuild(offset, size, done)

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read [offset, offset + size) of all members and compare parity (within one chunk)."""
        self.resyncer.check(offset, size, done)

    @property
    def resync_bytes(self) -> int:
        """How much there is to rebuild (bytes per member)."""
        return self.layout.rows * self.layout.chunk_bytes
