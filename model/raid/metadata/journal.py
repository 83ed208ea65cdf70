"""The journal device of a parity array (raid5-cache, write-through): it closes the write hole.

Everything that is to be written to the members, data and parity, is first written to a log on another device; only when
that is on the medium are the members written, and only then is the writer answered. So a write costs the log's time on
top, and the log's bandwidth limits all. The log is a ring. Heads handled in one batch share an I/O unit: a block of
metadata and their blocks, with a checksum of each (which costs CPU time). While a unit is being written and flushed,
more gather behind it, and go out together. The space of a unit is free again when its heads, and all before them, are
on the members; who finds the log full waits. Source: Linux 6.1 drivers/md/raid5-cache.c (r5l_write_stripe,
r5l_submit_current_io, r5l_flush_stripe_to_raid, r5l_do_reclaim), Documentation/driver-api/md/raid5-cache.rst.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from ...core.device import Device
from ...core.errors import ModelError
from ...core.join import Join
from ...core.request import FLUSHER_ISSUER, WRITE, WRITE_THROUGH, Request

BLOCK = 4096
UNIT_HEADS = 8
"""Stripe heads of one I/O unit at most: what md's thread handles between two log_write_stripe_run()."""


class _Entry:
    """What one run of heads has in the log."""

    __slots__ = ("logged", "size", "waited", "written")

    def __init__(self, size: int, logged: Callable[[int], None]) -> None:
        self.size = size
        self.logged = logged
        self.waited = self.written = False


class Journal:
    """The log of one array.

    Parameters
    ----------
    device
        Where it is kept.
    capacity
        Bytes of it that are used; None for all.
    mode
        "write-through"; md's write-back mode is not modeled and refused.

    Attributes
    ----------
    waits
        How many heads found the log full when it was their turn.
    used
        Bytes whose heads are not yet on the members.
    """

    __slots__ = (
        "_at",
        "_device",
        "_entries",
        "_flushing",
        "_next_ticket",
        "_waiting",
        "capacity",
        "used",
        "waits",
    )

    def __init__(self, device: Device, capacity: int | None = None, mode: str = "write-through") -> None:
        if mode != "write-through":
            raise ModelError(f"{device.name}: journal mode {mode!r}; expected: 'write-through'")
        self.capacity = (device.capacity if capacity is None else capacity) // BLOCK * BLOCK
        if not 0 < self.capacity <= device.capacity:
            raise ModelError(f"{device.name}: a journal of {capacity} bytes; 4096 to {device.capacity}")
        self._device = device
        self._at = 0
        self._next_ticket = 1
        self._entries: dict[int, _Entry] = {}
        self._waiting: deque[_Entry] = deque()
        self._flushing = False
        self.waits = 0
        self.used = 0

    def append(self, heads: int, blocks: int, logged: Callable[[int], None]) -> None:
        """Log `blocks` blocks of `heads` stripe heads with the next :meth:`submit`.

        ``logged(ticket)`` is called when they are on the medium.
        """
        size = (blocks + -(-heads // UNIT_HEADS)) * BLOCK
        if size > self.capacity:
            raise ModelError(f"{self._device.name}: {size} bytes to log, the journal has {self.capacity}")
        self._waiting.append(_Entry(size, logged))

    def submit(self) -> None:
        """Write what waits, as far as there is room, unless the last write is still being flushed."""
        if self._flushing or not self._waiting:
            return
        unit: list[int] = []
        size = 0
        while self._waiting and self.used + self._waiting[0].size <= self.capacity:
            entry = self._waiting.popleft()
            self._entries[self._next_ticket] = entry
            unit.append(self._next_ticket)
            self._next_ticket += 1
            self.used += entry.size
            size += entry.size
        if self._waiting and not self._waiting[0].waited:
            self._waiting[0].waited = True
            self.waits += 1
        if not unit:
            return
        self._flushing = True
        first = min(size, self.capacity - self._at)
        parts = [(self._at, first), (0, size - first)] if size > first else [(self._at, size)]
        self._at = (self._at + size) % self.capacity
        join = Join(len(parts), partial(self._flushed, unit))
        for offset, length in parts:
            self._device.submit(Request(WRITE, offset, length, join, FLUSHER_ISSUER, WRITE_THROUGH))

    def _flushed(self, unit: list[int]) -> None:
        self._flushing = False
        for ticket in unit:
            self._entries[ticket].logged(ticket)
        self.submit()

    def written(self, ticket: int) -> None:
        """What was logged under `ticket` is on the members: space is free again up to the oldest that is not."""
        entries = self._entries
        entries[ticket].written = True
        while entries:
            oldest = next(iter(entries))
            if not entries[oldest].written:
                break
            self.used -= entries.pop(oldest).size
        self.submit()
