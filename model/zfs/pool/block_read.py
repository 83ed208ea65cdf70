"""A block that is being read, and the readers that wait for it: the pointers to it first, then the block itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mypy_extensions import i64

from ..allocation.allocator import Place
from ..arc.prefetch import Stream
from ..cpu.costs import Costs
from ..cpu.task_queue import TaskQueue
from .cache_devices import CacheDevices
from .member_io import ASYNC_READ, SYNC_READ, MemberIo
from .members import Members


class Reader(Protocol):
    """The volume or file that a block is of."""

    costs: Costs
    members: Members
    threads: TaskQueue
    caches: CacheDevices | None

    def places_of(self, key: i64) -> list[Place]:
        """Where a block is, by its key."""

    def size_of(self, key: i64) -> int:
        """Physical size of a block, by its key."""

    def read_done(self, read: BlockRead) -> None:
        """A block has been read and verified."""


class BlockRead:
    """A read of one block, data or indirect.

    Parameters
    ----------
    dataset
        Whose block it is.
    key
        Of the ARC.
    priority
        Class of its I/O.
    issuer
        Whose read it is.
    stream
        The prefetch stream that asked for it, or None.

    Attributes
    ----------
    cached
        Whether a cache device holds it.
    waiters
        Called when the block is in memory.
    """

    __slots__ = ("_dataset", "_ios", "_issuer", "_left", "_lost", "_priority", "cached", "key", "stream", "waiters")

    def __init__(self, dataset: Reader, key: i64, priority: i64, issuer: i64, stream: Stream | None) -> None:
        self._dataset = dataset
        self.key = key
        self._priority = priority
        self._issuer = issuer
        self._left: i64 = 0
        self._lost = 0
        self.cached = False
        self._ios: list[MemberIo] = []
        self.stream = stream
        self.waiters: list[Callable[[], None]] = []

    def issue(self) -> None:
        """Read it: what points to it is in memory."""
        dataset = self._dataset
        caches = dataset.caches
        if caches is not None and self._priority == SYNC_READ:
            self._left = 1
            self.cached = caches.read(self.key, dataset.size_of(self.key), self._issuer, self._part)
            if self.cached:
                return
        places = dataset.places_of(self.key)
        self._left = len(places)
        for place in places:
            self._lost = max(self._lost, dataset.members.lost_data(place))
            self._ios += dataset.members.read(place, self._priority, self._issuer, self._part)

    def demand(self) -> None:
        """A reader waits for a block that prefetch reads."""
        if self._priority == ASYNC_READ:
            self._priority = SYNC_READ
            for io in self._ios:
                self._dataset.members.hurry(io)

    def _part(self) -> None:
        self._left -= 1
        if not self._left:
            self._ios = []
            dataset = self._dataset
            dataset.threads.run(dataset.costs.read_s(dataset.size_of(self.key), self._lost), self._done)

    def _done(self) -> None:
        self._dataset.read_done(self)
