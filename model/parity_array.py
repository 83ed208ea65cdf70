"""RAID 4, 5 and 6 in time, as Linux md runs them.

Reads go through the stripe cache (always, before Linux 2.6.21); a read of a lost member reads all others of its
row and computes. Writes are gathered by row (:mod:`raidsim.model.parity_write`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .array import Array, Join, forward
from .engine import Engine
from .errors import ArrayFailed
from .host import Host
from .layouts.parity import ParityLayout
from .parity_settings import ParitySettings
from .parity_write import RowWriter
from .request import READ, RESYNC_STREAM, WRITE, Device, Request
from .stripe_cache import Arrival, StripeCache


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
        "_chunk_bytes",
        "_data_members",
        "_locate",
        "_row",
        "_settings",
        "_simple",
        "_slots",
        "_unreadable",
        "_writer",
        "cache",
        "layout",
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
            raise ArrayFailed(
                f"{name}: members {sorted(self.failed)} have failed, {layout.level} survives {layout.parities}"
            )
        self.layout = layout
        self._settings = settings
        self._locate = layout.locate
        self._row = layout.row
        self._chunk_bytes = layout.chunk_bytes
        self._data_members = layout.data_members
        # By the number of the chunk in a period: where it is.
        self._slots = [slot for row in layout.row_table for slot in row.data]
        self._simple = not settings.heads and host is None and not self.failed
        self.cache = StripeCache(settings.heads, settings.head_bytes, layout.chunk_bytes)
        self._writer = RowWriter(engine, self, layout, settings, self.cache)
        self._unreadable = self.failed

    def rebuild_onto(self, slot: int) -> None:
        """See :meth:`Array.rebuild_onto`."""
        super().rebuild_onto(slot)
        self._writer.absent = self.failed - self.rebuilding

    def rebuilt(self, slot: int) -> None:
        """See :meth:`Array.rebuilt`."""
        super().rebuilt(slot)
        self._unreadable = self._writer.unreadable = self.failed
        self._writer.absent = self.failed - self.rebuilding
        self._simple = not self._settings.heads and self.host is None and not self.failed

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
        self._writer.hold()
        return False

    def unplug(self) -> None:
        """Somebody waits for data: incomplete rows are read up, unless that is under way already, and members go."""
        self._writer.unplug()
        super().unplug()

    def submit(self, request: Request) -> None:
        """See :meth:`Array.submit`; shorter inside one chunk, if nothing is lost, limited or priced."""
        if self._simple:
            chunk_bytes, size = self._chunk_bytes, request.size
            chunk, low = divmod(request.offset, chunk_bytes)
            if low + size <= chunk_bytes:
                place = chunk % len(self._slots)
                row = chunk // self._data_members
                if request.op == READ:
                    request.submitted = self._engine._now
                    self.reads += 1
                    self.member_reads += 1
                    read = Request(READ, row * chunk_bytes + low, size, forward, request.stream, True, request)
                    self._submit[self._slots[place]](read)
                    return
                if request.sync and self._writer.write_small(request, row, place, low):
                    return
                request.submitted = self._engine._now
                self.writes += 1
                self._writer.write(request, [(row, chunk % self._data_members, low, low + size)])
                return
        super().submit(request)

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
        if self._simple:
            self.member_reads += len(pieces)
            over = Join(len(pieces), lambda: request.done(request)).done
            for row, index, low, high in pieces:
                read = Request(READ, row * self._chunk_bytes + low, high - low, over, request.stream)
                self._submit[self._row(row).data[index]](read)
            return
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

    # writes

    def _write(self, request: Request) -> None:
        self._writer.write(request, self._pieces(request.offset, request.size))

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
