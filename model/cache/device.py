"""What every cache has: an origin, a fast device, counts of hits and misses, and I/O that waits for a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..core.device import Device
from ..core.discard_limits import DiscardLimits
from ..core.engine import Engine
from ..core.join import FORWARD, Parts
from ..core.request import ASYNC, READ, TRIM, WRITE_THROUGH, Request
from ..raid.base.array import Array
from ..tasks.host import Host

ORIGIN: Final = 0
CACHE: Final = 1
"""Slots of the members."""


class CacheDevice(Array):
    """Base of the caches.

    Parameters
    ----------
    engine
        The clock.
    name
        Shown in results.
    members
        The origin and the cache.
    capacity
        Usable bytes.
    host
        Pays for the driver's work.
    cache_bytes
        How much of the cache's device is used; 0: all of it.
    block_bytes
        Where the device mapper cuts an I/O; 0: nowhere.

    Attributes
    ----------
    read_hits, read_misses, write_hits, write_misses
        Accesses so far, one for each block of an I/O.
    """

    __slots__ = ("_cut_bytes", "_size", "read_hits", "read_misses", "write_hits", "write_misses")

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        capacity: int,
        host: Host,
        cache_bytes: int = 0,
        block_bytes: int = 0,
    ) -> None:
        super().__init__(engine, name, members, capacity, host)
        self._size = cache_bytes or members[CACHE].capacity
        self._cut_bytes = block_bytes
        self.start_statistics()

    @property
    def dirty_bytes(self) -> int:
        """What the cache holds that is not on the origin."""
        return 0

    @property
    def held_bytes(self) -> int:
        """What the cache holds; of dm-writecache nothing else than dirty data."""
        return self.dirty_bytes

    @property
    def dirty_limit(self) -> int:
        """Dirty bytes at which writes are no faster than the origin takes them; 0: at none."""
        return 0

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        self.read_hits = self.read_misses = self.write_hits = self.write_misses = 0

    @property
    def discard_limits(self) -> DiscardLimits:
        """What the origin takes of discards."""
        return self._members[ORIGIN].discard_limits

    def _read(self, request: Request) -> None:
        self._cut(request)

    def _write(self, request: Request) -> None:
        if request.sync == WRITE_THROUGH:
            self.flush(lambda: self._cut(request))
        else:
            self._cut(request)

    def submit_fua(self, request: Request) -> None:
        """Serve a write that is on the medium when it is complete, without a flush before it (O_DSYNC)."""
        request.submitted = self._engine._now
        self.writes += 1
        self._cut(request)

    def _discard(self, request: Request) -> None:
        """Pass a discard on to the origin; what is in the cache stays there."""
        offset, size = request.offset, request.size
        self._below(ORIGIN, Request(TRIM, offset, size, FORWARD, request.issuer, ASYNC, request, request.trail))

    def _cut(self, request: Request) -> None:
        length = self._cut_bytes
        offset, end = request.offset, request.offset + request.size
        if not length or offset // length == (end - 1) // length:
            self._map(request)
            return
        first = offset // length
        count = (end - 1) // length - first + 1
        join = Parts(count, request)
        for block in range(first, first + count):
            begin = max(offset, block * length)
            size = min(end, (block + 1) * length) - begin
            self._map(Request(request.op, begin, size, join, request.issuer, request.sync, trail=request.trail))

    def _map(self, request: Request) -> None:
        """Serve a piece of an I/O; it is completed when it is served."""
        raise NotImplementedError

    def _count_access(self, op: int, hit: bool) -> None:
        if op == READ:
            if hit:
                self.read_hits += 1
            else:
                self.read_misses += 1
        elif hit:
            self.write_hits += 1
        else:
            self.write_misses += 1

    def _below(self, slot: int, request: Request) -> None:
        """Submit to a member what the mapping has made of an I/O."""
        self._charge(self.prices.bio_s, request.issuer)
        self._members[slot].submit(request)
