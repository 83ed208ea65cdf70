"""A write on its way into dirty data: it reads what it needs, waits for room, is delayed, and copies its data.

A transaction covers one block of a file. Source: OpenZFS 2.3 module/zfs/zfs_vnops.c (zfs_write), dmu_tx.c
(dmu_tx_count_write, dmu_tx_assign).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mypy_extensions import i64

from ...core.request import Request
from ...waits.causes import CPU, DIRTY_DATA, INTENT_LOG, POOL_READ
from ..cpu.costs import Costs
from .dirty_data import DirtyData


class Writer(Protocol):
    """The volume or file that is written to."""

    block_bytes: int
    capacity: int
    costs: Costs
    dirty: DirtyData

    @property
    def now(self) -> float:
        """The time (s)."""

    def has(self, block: i64) -> bool:
        """Whether a block is in memory."""

    def has_pointers(self, block: i64) -> bool:
        """Whether what points to a block is in memory."""

    def fetch_block(self, block: i64, issuer: i64, done: Callable[[], None]) -> None:
        """Read a block."""

    def fetch_pointers(self, block: i64, issuer: i64, done: Callable[[], None]) -> None:
        """Read what points to a block."""

    def at(self, time: float, then: Callable[[], None]) -> None:
        """Go on at a time (s)."""

    def after(self, seconds: float, then: Callable[[], None]) -> None:
        """Go on when the CPU has done its work."""

    def dirtied(self, block: i64) -> None:
        """A block has new data."""

    def written_call(self, request: Request, logged: Callable[[], None]) -> None:
        """The data of a write are in memory; `logged` if it waits for the intent log."""


class WriteIo:
    """One write.

    Parameters
    ----------
    dataset
        Where it goes.
    request
        What is written.
    began
        Now (s).
    """

    __slots__ = ("_began", "_block", "_dataset", "_delayed", "_end", "_fetched", "_request")

    def __init__(self, dataset: Writer, request: Request, began: float) -> None:
        self._dataset = dataset
        self._request = request
        self._block: i64 = request.offset // dataset.block_bytes
        self._end: i64 = (request.offset + request.size - 1) // dataset.block_bytes + 1
        self._began = began
        self._delayed = False
        self._fetched = False

    def advance(self) -> None:
        """Go on until it has to wait, or is done."""
        dataset = self._dataset
        # It has waited for room in the dirty data, or was delayed; what it has read is marked before.
        self._request.mark(DIRTY_DATA, dataset.now)
        while self._block < self._end:
            block = self._block
            if not self._ready(block):
                return
            if not self._delayed:
                if dataset.dirty.full:
                    dataset.dirty.when_room(self.advance)
                    return
                until = dataset.dirty.delayed_until(self._began, dataset.now)
                self._delayed = True
                if until > self._began and until > dataset.now:
                    dataset.at(until, self.advance)
                    return
            dataset.dirtied(block)
            self._delayed = self._fetched = False
            self._began = dataset.now
            self._block = block + 1
        costs, request = dataset.costs, self._request
        dataset.after(costs.copy_s(request.size), self._copied)

    def _ready(self, block: i64) -> bool:
        """Whether what the write needs is in memory; if not, it is read, and the write goes on afterwards."""
        dataset, request = self._dataset, self._request
        start = block * dataset.block_bytes
        end = min(start + dataset.block_bytes, dataset.capacity)
        partial = request.offset > start or request.offset + request.size < end
        if self._fetched:
            return True
        if partial and not dataset.has(block):
            dataset.fetch_block(block, request.issuer, self._read)
            return False
        if not dataset.has_pointers(block):
            dataset.fetch_pointers(block, request.issuer, self._read)
            return False
        return True

    def _read(self) -> None:
        self._fetched = True
        self._request.mark(POOL_READ, self._dataset.now)
        self.advance()

    def _copied(self) -> None:
        self._request.mark(CPU, self._dataset.now)
        self._dataset.written_call(self._request, self._logged)

    def _logged(self) -> None:
        self._request.mark(INTENT_LOG, self._dataset.now)
        self._request.complete()
