"""RAID 3 in time, as FreeBSD's graid3 runs it: every member takes part in every I/O.

A sector of the array is 512 bytes of each data member, so a request becomes one request of the same size and place on
each member, and is complete when the slowest is: n disks in lockstep seek like one, and one sequential stream runs at
the rate of all data members together. A write computes the parity of what it has in hand and reads nothing.

GEOM refuses I/O that is not made of whole sectors of the array. Here a read is widened to them, and a write reads the
sectors that it covers in part first, as a file system above would.

graid3 copies: each member's share of a request has a buffer of its own, and of these there is a fixed number. Requests
that find none left wait in order of arrival, and what comes behind them waits with them. On five members 50 buffers of
64 KiB are 12 reads of 128 KiB, and that is all the disks have to sort when several programs read.

Source: FreeBSD 6 sys/geom/raid3/g_raid3.c: g_raid3_register_request, _scatter, _gather, _sync_request, _uma_ctor;
g_raid3.h, g_raid3_zone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ...core.device import Device
from ...core.engine import Engine
from ...core.errors import ArrayFailed, ModelError
from ...core.join import Join
from ...core.request import ASYNC, READ, RESYNC_ISSUER, WRITE, Request
from ...layouts.byte_striped import MEMBER_SECTOR, ByteStripedLayout
from ...layouts.layout import Layout
from ...tasks.host import Host
from ...waits.causes import FREE_BUFFER, PREREAD
from ...waits.trail import Mark, waited
from ..base.array import Array

BUFFERS = ((4 << 10, 1200), (16 << 10, 200), (64 << 10, 50))
"""Size of a buffer (bytes), and how many there are: kern.geom.raid3.n4k, n16k, n64k."""


class BufferZone:
    """A fixed number of buffers of one size.

    Parameters
    ----------
    size
        Of one buffer (bytes); a longer share takes several.
    count
        How many there are.
    """

    __slots__ = ("count", "free", "size")

    def __init__(self, size: int, count: int) -> None:
        self.size = size
        self.count = count
        self.free = count

    def need(self, members: int, size: int) -> int:
        """Buffers for `size` bytes of a number of members; no request needs more than there are."""
        return min(self.count, members * -(-size // self.size))


class BufferPool:
    """Buffers of several sizes, given out in order of arrival.

    One worker thread takes request after request. It puts one that finds no buffers back in front of all others, and
    looks only at finished requests until it finds some: so a request for small buffers waits behind it too, however
    many of those there are.

    Parameters
    ----------
    buffers
        The sizes of buffers (bytes), and how many there are of each.
    unplug
        Lets requests go that were started late, when whoever sent them has unplugged already.

    Notes
    -----
    Source: sys/geom/raid3/g_raid3.c, g_raid3_worker (bioq_insert_head), as since the parallel synchronization of
    FreeBSD 6.1. Before, the request went to the end of the queue.
    """

    __slots__ = ("_unplug", "_waiting", "_zones")

    def __init__(self, buffers: Sequence[tuple[int, int]], unplug: Callable[[], None]) -> None:
        self._zones = [BufferZone(size, count) for size, count in sorted(buffers)]
        self._unplug = unplug
        self._waiting: deque[tuple[BufferZone, int, Callable[[], None]]] = deque()

    def zone(self, size: int) -> BufferZone:
        """The smallest buffers that hold `size` bytes, or the largest there are."""
        for zone in self._zones:
            if size <= zone.size:
                return zone
        return self._zones[-1]

    def take(self, zone: BufferZone, buffers: int, start: Callable[[], None]) -> None:
        """Call `start` as soon as `zone` has enough buffers and all earlier requests have theirs."""
        if self._waiting or zone.free < buffers:
            self._waiting.append((zone, buffers, start))
            return
        zone.free -= buffers
        start()

    def give_back(self, zone: BufferZone, buffers: int) -> None:
        """A request is complete."""
        zone.free += buffers
        waiting = self._waiting
        if not waiting:
            return
        while waiting and waiting[0][0].free >= waiting[0][1]:
            its_zone, needed, start = waiting.popleft()
            its_zone.free -= needed
            start()
        self._unplug()


class ByteStripedArray(Array):
    """RAID 3.

    Parameters
    ----------
    layout
        The address arithmetic.
    round_robin
        graid3's ``-r``: reads leave out data member 0, 1, ... in turn and compute it from the parity, and every n-th
        read leaves out the parity, so that no member is read by all of them. Not while degraded.
    verify
        graid3's ``-w``: reads read the parity too and check it. Not while degraded.
    buffers
        The sizes of buffers (bytes), and how many there are of each; a share takes the smallest that holds it.

    Attributes
    ----------
    sector_bytes
        The smallest I/O that GEOM allows on it: 512 bytes of each data member.
    """

    __slots__ = ("_data", "_parity", "_pool", "_skip", "layout", "round_robin", "sector_bytes", "verify")

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        layout: ByteStripedLayout,
        host: Host | None = None,
        failed: Iterable[int] = (),
        round_robin: bool = False,
        verify: bool = False,
        buffers: Sequence[tuple[int, int]] = BUFFERS,
    ) -> None:
        super().__init__(engine, name, members, layout.capacity, host, failed)
        if len(self.failed) > 1:
            raise ArrayFailed(f"{name}: members {sorted(self.failed)} have failed, RAID 3 survives 1")
        if round_robin and verify:
            raise ModelError(f"{name}: round robin and verify; at most one of them")
        self.layout = layout
        self.sector_bytes = layout.sector_bytes
        self.round_robin = round_robin
        self.verify = verify
        self._parity = len(self._members) - 1
        self._data = tuple(range(self._parity))
        self._skip = 0
        self._pool = BufferPool(buffers, self.unplug)

    # reads

    @property
    def striping(self) -> Layout | None:
        """See :attr:`Array.striping`."""
        return self.layout

    @property
    def _checks(self) -> bool:
        """Whether reads read the parity in addition to the data."""
        return self.verify and not self.failed

    def _sources(self) -> tuple[Sequence[int], bool]:
        """The members that the next read goes to, and whether parity has to be computed from them."""
        data, parity = self._data, self._parity
        if self.failed:
            (lost,) = self.failed
            if lost == parity:
                return data, False
            return [slot for slot in (*data, parity) if slot != lost], True
        if self._checks:
            return (*data, parity), True
        if self.round_robin:
            skip = self._skip
            if skip < parity:
                self._skip = skip + 1
                return [slot for slot in (*data, parity) if slot != skip], True
            self._skip = 0
        return data, False

    def _read(self, request: Request) -> None:
        offset, size = self.layout.member_extent(request.offset, request.size)

        def then() -> None:
            request.complete()

        self._fetch(offset, size, request.issuer, request.sync, then, whole=request)

    def _fetch(
        self,
        offset: int,
        size: int,
        issuer: int,
        sync: int,
        then: Callable[[], None],
        further_s: float = 0.0,
        whole: Request | None = None,
    ) -> None:
        """Read [offset, offset + size) of as many members as the data need; compute what is not read.

        A resync goes on when that has been computed, and `further_s` (s) of its own; for others the program that gets
        the data waits for the CPU.
        """
        pool = self._pool
        zone = pool.zone(size)
        buffers = zone.need(len(self._data) + self._checks, size)
        over = partial(self._fetched, zone, buffers, then)

        def start() -> None:
            trail = self._had_buffers(whole)
            slots, computes = self._sources()
            count = len(slots)
            self.member_reads += count
            self._charge(count * self.prices.bio_s)

            def arrived() -> None:
                if whole is not None and join.trail is not None:
                    whole.trail = join.trail
                prices = self.prices
                seconds = len(self._data) * size * prices.copy_s_per_byte
                if computes:
                    seconds += (count - 1) * size * prices.xor_s_per_byte
                if issuer == RESYNC_ISSUER:
                    self._charge_before(seconds + further_s, over)
                else:
                    self._charge(seconds)
                    over()

            join = Join(count, arrived)
            for slot in slots:
                self._members[slot].submit(Request(READ, offset, size, join, issuer, sync, trail=trail))

        pool.take(zone, buffers, start)

    def _fetched(self, zone: BufferZone, buffers: int, then: Callable[[], None]) -> None:
        self._pool.give_back(zone, buffers)
        then()

    # writes

    def _write(self, request: Request) -> None:
        offset, size = self.layout.member_extent(request.offset, request.size)

        edges = self._partial_sectors(request, offset, size)
        if not edges:
            self._scatter(request, offset, size)
            return

        def complete() -> None:
            request.mark(PREREAD, self._engine._now)
            self._scatter(request, offset, size)
            self.unplug()

        join = Join(len(edges), complete)
        for edge in edges:
            self._fetch(edge, MEMBER_SECTOR, request.issuer, request.sync, lambda: join.done(request))
        self.unplug()

    def _partial_sectors(self, request: Request, offset: int, size: int) -> list[int]:
        """Where on the members the sectors are that a write covers in part."""
        first, last = offset, offset + size - MEMBER_SECTOR
        edges = [first] if request.offset % self.sector_bytes else []
        if (request.offset + request.size) % self.sector_bytes and last not in edges:
            edges.append(last)
        return edges

    def _scatter(self, request: Request, offset: int, size: int) -> None:
        """Write [offset, offset + size) of every member there is."""
        pool = self._pool
        zone = pool.zone(size)
        data = len(self._data)
        buffers = zone.need(data + 1, size)

        def start() -> None:
            trail = self._had_buffers(request)
            slots = [slot for slot in (*self._data, self._parity) if slot not in self.failed or slot in self.rebuilding]
            count = len(slots)
            self.member_writes += count
            prices = self.prices
            seconds = data * size * prices.copy_s_per_byte + count * prices.bio_s
            if self._parity in slots:
                seconds += data * size * prices.xor_s_per_byte
            self._charge(seconds)

            def written() -> None:
                if join.trail is not None:
                    request.trail = join.trail
                self._written(request, zone, buffers)

            join = Join(count, written)
            for slot in slots:
                below = Request(WRITE, offset, size, join, request.issuer, request.sync, trail=trail)
                self._members[slot].submit(below)

        pool.take(zone, buffers, start)

    def _had_buffers(self, request: Request | None) -> Mark | None:
        """The trail of an I/O that has its buffers."""
        if request is None or request.trail is None:
            return None
        request.trail = waited(request.trail, FREE_BUFFER, self._engine._now)
        return request.trail

    def _written(self, request: Request, zone: BufferZone, buffers: int) -> None:
        self._pool.give_back(zone, buffers)
        request.complete()

    # resync

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Rebuild [offset, offset + size) of the member being rebuilt: a read of the array there, then one write."""
        (target,) = self.rebuilding

        def written(_: Request) -> None:
            done()

        def read() -> None:
            self.submit_resync(target, Request(WRITE, offset, size, written, RESYNC_ISSUER, ASYNC))
            self.resync_submitted()

        parity_s = (len(self._data) - 1) * size * self.prices.xor_s_per_byte if target == self._parity else 0.0
        self._fetch(offset, size, RESYNC_ISSUER, ASYNC, read, parity_s)
        self.resync_submitted()

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read [offset, offset + size) of all members and compare the parity, as the reads of `verify` do."""
        slots = [slot for slot in (*self._data, self._parity) if slot not in self.failed]
        count = len(slots)

        def compare() -> None:
            self._charge_before(count * self.prices.bio_s + (count - 1) * size * self.prices.xor_s_per_byte, done)

        join = Join(count, compare)
        for slot in slots:
            self.submit_resync(slot, Request(READ, offset, size, join, RESYNC_ISSUER, ASYNC))
        self.resync_submitted()

    @property
    def resync_bytes(self) -> int:
        """How much there is to rebuild (bytes per member)."""
        return self.layout.rows * self.layout.chunk_bytes
