"""RAID 10 as md does it, in time: every chunk on several members, near, far or offset.

A request is cut at the chunks, as md cuts it; what lies side by side on a member merges in the member's queue. The
pieces of a write are held back for that: by the submitter's plug or by raid10d, which plugs. Since 6.6 md sends them at
once if the array has no bitmap (raid1-10.c, raid1_add_bio_to_plug; commit 7db922bae3ab). The pieces of a read are held
back only if the reader plugs. Source: Linux 6.1 drivers/md/raid10.c (raid10_read_request, raid10_write_request,
raid10_sync_request).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from mypy_extensions import i64

from ...core.device import Device
from ...core.discard_limits import DiscardLimits
from ...core.engine import Engine
from ...core.errors import ArrayFailed
from ...core.join import Join
from ...core.request import DIRECT, READ, RESYNC_ISSUER, WAITED, WRITE, Completion, Request
from ...layouts import Copies, Layout, Raid10Layout
from ...tasks.host import Host
from ..base.metadata import Metadata
from ..metadata.bitmap import WriteIntentBitmap
from ..metadata.bitmap_waits import BitmapWaits, MirrorWaits, mirror_waits
from ..read_balance import ReadBalance
from .barrier import WAITS, AlternatingBarrier, ResyncBarrier
from .daemon import ServedMirrors
from .discard_ranges import mirrored_ranges
from .mirror import part_done

Place = tuple[int, int]
"""Slot and byte on the member."""

RESYNC_PAGES = 16
"""Pages that a resync request allocates for a copy, also where a short chunk makes it shorter (r10buf_pool_alloc)."""


class Raid10Array(ServedMirrors):
    """RAID 10.

    Parameters
    ----------
    layout
        The address arithmetic.
    balance
        Read-balance policy.
    resync_depth
        Resync requests under way at most.
    barrier
        How the kernel keeps resync and normal I/O apart.
    holds_writes
        If true, the pieces of a write are held back until all are there. If false, only with a write-intent bitmap.
    """

    __slots__ = (
        "_balance",
        "_barrier",
        "_chunk_bytes",
        "_everywhere",
        "_holds_writes",
        "_mergeable",
        "_period",
        "_plugged",
        "layout",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        layout: Raid10Layout,
        balance: ReadBalance,
        host: Host | None = None,
        failed: Iterable[int] = (),
        resync_depth: int = 32,
        barrier: type[ResyncBarrier] = AlternatingBarrier,
        holds_writes: bool = True,
    ) -> None:
        super().__init__(engine, name, members, layout.capacity, host, failed)
        if not layout.tolerates(self.failed):
            raise ArrayFailed(f"{name}: slots {sorted(self.failed)} hold all copies of some chunks, and have failed")
        self.layout = layout
        self._chunk_bytes: i64 = layout.chunk_bytes
        self._period: i64 = layout.period
        self._balance = balance
        balance.use_clock(lambda: engine._now)
        # Where every member holds everything, md sees no chunks (raid10.c, raid10_make_request).
        self._everywhere = layout.on_all_members
        self._barrier = barrier(engine, self._serve, self.unplug, resync_depth)
        self._mergeable = [(member.plug, member.unplug) for member in members if member.plugs]
        self._plugged = False
        self._holds_writes = holds_writes

    def keep_metadata(self, metadata: Metadata) -> None:
        """See :meth:`Array.keep_metadata`."""
        super().keep_metadata(metadata)
        self._holds_writes = self._holds_writes or metadata.has_bitmap

    @property
    def striping(self) -> Layout | None:
        """See :attr:`Array.striping`."""
        return self.layout

    @property
    def balance(self) -> ReadBalance:
        """The read-balance policy."""
        return self._balance

    def plug(self) -> None:
        """See :meth:`Array.plug`."""
        self._plugged = True
        super().plug()

    def unplug(self) -> None:
        """See :meth:`Array.unplug`."""
        self._plugged = False
        super().unplug()

    def bitmap_waits(self, bitmap: WriteIntentBitmap, who: MirrorWaits) -> BitmapWaits:
        """What waits for a new bit of its write-intent bitmap: `who`, which differs between kernels."""
        return mirror_waits(self._engine, self.host, self, bitmap, who)

    def survives(self, failed: frozenset[int]) -> bool:
        return self.layout.tolerates(failed)

    def _serve(self, request: Request) -> None:
        if request.op == READ:
            self._read(request)
        elif request.op == WRITE:
            self._write(request)
        else:
            self._discard(request)

    def _read(self, request: Request) -> None:
        barrier = self._barrier
        ticket = barrier.admit(request)
        if ticket == WAITS:
            return
        number = self._chunk_of(request)
        if number >= 0:
            self._read_chunk(request, number, ticket)
            return
        pieces = self._copies(request.offset, request.size)
        self.member_reads += len(pieces)
        self._charge(self.prices.clone_s * len(pieces) + self.prices.bio_s * (len(pieces) - 1), request.issuer)
        self._send(request, iter(pieces), part_done(request, len(pieces), ticket, barrier, self._balance))

    def _send(self, request: Request, left: Iterator[Copies], done: Completion) -> None:
        """Send piece by piece: a mirror is chosen only when the thread, if it slept for a tag, is awake again."""
        balance, sleepers = self._balance, self.host.sleepers if self.host is not None else None
        for logical, size, places in left:
            readable = self._readable(places)
            candidates = [slot for slot, _ in readable]
            offsets = [at for _, at in readable]
            piece = Request(READ, logical, size, done, request.issuer, request.sync, trail=request.trail)
            slot = balance.choose(piece, candidates, offsets)
            balance.started(slot, piece)
            piece.parent, piece.offset = slot, offsets[candidates.index(slot)]
            self._members[slot].submit(piece)
            if sleepers:
                thread = sleepers.get(request.issuer)
                if thread is not None and thread.sleeps:
                    thread.backlog.append(partial(self._send, request, left, done))
                    return

    def _write(self, request: Request) -> None:
        barrier = self._barrier
        ticket = barrier.admit(request)
        if ticket == WAITS:
            return
        number = self._chunk_of(request)
        if number >= 0:
            self._write_chunk(request, number, ticket)
            return
        pieces = self._copies(request.offset, request.size)
        written = [
            (slot, offset, size)
            for _, size, places in pieces
            for slot, offset in places
            if slot not in self.failed or slot in self.rebuilding
        ]
        balance = self._balance
        self.member_writes += len(written)
        self._charge(self.prices.clone_s * len(written) + self.prices.bio_s * (len(pieces) - 1), request.issuer)
        done = part_done(request, len(written), ticket, barrier, balance)

        sync = WAITED if request.sync == DIRECT else request.sync
        plugs = self._holds_writes and not self._plugged
        if plugs:
            for plug, _ in self._mergeable:
                plug()
        for slot, offset, size in written:
            balance.started(slot, request)
            self._members[slot].submit(Request(WRITE, offset, size, done, request.issuer, sync, slot, request.trail))
        if plugs:
            for _, unplug in self._mergeable:
                unplug()

    # The path of a small I/O where nothing is lost or priced: what _copies() and the rest do, but without lists.

    def _chunk_of(self, request: Request) -> i64:
        """The chunk that a request lies in; -1 for one that lies in several or goes the long way."""
        if self.host is not None or self._everywhere or self.failed:
            return -1
        offset, size, length = request.offset, request.size, self._chunk_bytes
        chunk = offset // length
        inside = offset - chunk * length
        return chunk if offset >= 0 and 0 < size <= self.capacity - offset and inside + size <= length else -1

    def _read_chunk(self, request: Request, chunk: i64, ticket: int) -> None:
        balance, layout = self._balance, self.layout
        self.member_reads += 1
        turn = chunk // self._period
        index = chunk - turn * self._period
        down: int = turn * layout.turn_bytes + request.offset - chunk * self._chunk_bytes
        offsets = [start + down for start in layout.starts[index]]
        slots = layout.slots[index]
        done = part_done(request, 1, ticket, self._barrier, balance)
        piece = Request(READ, request.offset, request.size, done, request.issuer, request.sync, trail=request.trail)
        slot = balance.choose(piece, slots, offsets)
        balance.started(slot, piece)
        number = 0
        while slots[number] != slot:
            number += 1
        piece.parent = slot
        piece.offset = offsets[number]
        self._members[slot].submit(piece)

    def _write_chunk(self, request: Request, chunk: i64, ticket: int) -> None:
        balance, layout = self._balance, self.layout
        turn = chunk // self._period
        index = chunk - turn * self._period
        down = turn * layout.turn_bytes + request.offset - chunk * self._chunk_bytes
        slots, starts = layout.slots[index], layout.starts[index]
        self.member_writes += len(slots)
        done = part_done(request, len(slots), ticket, self._barrier, balance)
        sync = WAITED if request.sync == DIRECT else request.sync
        plugs = self._holds_writes and not self._plugged
        if plugs:
            for plug, _ in self._mergeable:
                plug()
        for number in range(len(slots)):
            slot = slots[number]
            balance.started(slot, request)
            self._members[slot].submit(
                Request(WRITE, starts[number] + down, request.size, done, request.issuer, sync, slot, request.trail)
            )
        if plugs:
            for _, unplug in self._mergeable:
                unplug()

    @property
    def discard_limits(self) -> DiscardLimits:
        """What its members take of discards."""
        return self._members_limits()

    def _discard(self, request: Request) -> None:
        ranges = mirrored_ranges(self.layout, request.offset, request.size)
        self._barrier.guard(request, lambda over: self._discard_on(ranges, request.issuer, over))

    def _copies(self, offset: int, size: int) -> list[Copies]:
        if not self._everywhere:
            return self.layout.copies(offset, size)
        return [(offset, size, tuple([(slot, offset) for slot in range(len(self._members))]))]

    def _readable(self, places: Sequence[Place]) -> Sequence[Place]:
        if not self.failed:
            return places
        return [place for place in places if place[0] not in self.failed]

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Copy what belongs at [offset, offset + size) of the members being rebuilt from other copies, by chunks."""

        def start() -> None:
            copied = [
                (slot, at, length, source)
                for slot in sorted(self.rebuilding)
                for at, length, source in self._sources(slot, offset, size)
            ]
            join = Join(len(copied), lambda: self._barrier.resynced(offset, done))
            for slot, at, length, (source, source_at) in copied:
                read = Request(READ, source_at, length, self._copy_to(slot, at, join), RESYNC_ISSUER, False)
                self.submit_resync(source, read)
            self.resync_submitted()
            if not copied:
                self._barrier.resynced(offset, done)

        self.prepare_resync(RESYNC_PAGES, lambda: self._barrier.resync(offset, start))

    def _copy_to(self, slot: int, offset: int, join: Join) -> Callable[[Request], None]:
        def has_read(child: Request) -> None:
            self.daemon.add(lambda: self._write_copy(slot, offset, child.size, join))

        return has_read

    def _write_copy(self, slot: int, offset: int, size: int, join: Join) -> None:
        """Write a copy that a resync has read from another member; md's thread does that."""
        self.write_resynced(slot, Request(WRITE, offset, size, join, RESYNC_ISSUER, False))

    def _sources(self, slot: int, offset: int, size: int) -> Iterable[tuple[int, int, Place]]:
        """(member offset, size, where to read it) of what `slot` holds in the range; nothing where it holds nothing."""
        length, end = self.layout.chunk_bytes, offset + size
        while offset < end:
            row, inside = divmod(offset, length)
            piece = min(length - inside, end - offset)
            chunk = self.layout.chunk_at(slot, row)
            if chunk < self.layout.chunks:
                readable = self._readable(self.layout.map_copies(chunk))
                source = self._balance.rebuild_source([copy for copy, _ in readable])
                source_row = next(at for copy, at in readable if copy == source)
                yield offset, piece, (source, source_row * length + inside)
            offset += piece

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read all copies of [offset, offset + size) of the array and compare; if they differ, write the others.

        md writes what it has read from the first copy (raid10.c, sync_request_write).
        """
        balance, differs = self._balance, self.mismatches.next()
        read: list[tuple[int, int, int]] = []
        others: list[tuple[int, int, int]] = []
        for _, length, places in self._copies(offset, size):
            pieces = [(slot, at, length) for slot, at in self._readable(places)]
            read += pieces
            others += pieces[1:]
        copies = self.layout.copies_per_chunk
        compare_s = (copies - 1) * size * self.prices.compare_s_per_byte

        def start() -> None:
            def compared() -> None:
                if not differs or not others:
                    self._barrier.resynced(offset, done)
                    return
                written = Join(len(others), lambda: self._barrier.resynced(offset, done))
                for slot, at, length in others:
                    self._write_copy(slot, at, length, written)

            join = Join(len(read), lambda: self.daemon.add(compared, compare_s))

            def has_read(child: Request) -> None:
                balance.ended(child.parent, child.offset + child.size)
                join.done(child)

            for slot, _, _ in read:
                balance.pending[slot] += 1
            for slot, at, length in reversed(read):  # md builds a list of them from its head
                self.submit_resync(slot, Request(READ, at, length, has_read, RESYNC_ISSUER, False, slot))
            self.resync_submitted()

        self.prepare_resync(copies * RESYNC_PAGES, lambda: self._barrier.resync(offset, start))

    @property
    def resync_bytes(self) -> int:
        """How much there is to rebuild (bytes per member)."""
        return self.layout.member_rows * self.layout.chunk_bytes

    @property
    def check_bytes(self) -> int:
        """How much there is to check (bytes of the array)."""
        return self.capacity
