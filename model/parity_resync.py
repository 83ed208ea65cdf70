"""Resync of RAID 4, 5 and 6: rows are read, computed and written back, or only compared.

A row occupies stripe heads from start to end, as every access of these levels does, and what was read and computed
stays in the stripe cache. Source: drivers/md/raid5.c, raid5_sync_request, handle_parity_checks5/6, ops_run_io.
"""

from __future__ import annotations

from collections.abc import Callable

from .array import Array, Join
from .layouts.parity import ParityLayout
from .parity_settings import ParitySettings
from .request import READ, RESYNC_STREAM, WRITE, Request
from .stripe_cache import StripeCache

Acquire = Callable[[int, int, int, Callable[[], None]], bool]
"""Occupies the heads of (row, low, high) and then calls back."""


class RowResync:
    """The resyncing part of a parity array.

    Parameters
    ----------
    array
        Whose members are read and written.
    layout, settings, cache
        The array's.
    acquire
        How the array takes stripe heads.
    """

    __slots__ = ("_acquire", "_array", "_cache", "_layout", "_settings")

    def __init__(
        self, array: Array, layout: ParityLayout, settings: ParitySettings, cache: StripeCache, acquire: Acquire
    ) -> None:
        self._array = array
        self._layout = layout
        self._settings = settings
        self._cache = cache
        self._acquire = acquire

    def rebuild(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Rebuild [offset, offset + size) of the members being rebuilt from the others (within one chunk)."""
        array = self._array
        row, low = divmod(offset, self._layout.chunk_bytes)
        targets = sorted(array.rebuilding)
        sources = self._sources(row)

        def compute() -> None:
            self._charge(size, len(sources), 3)
            self._transfer(WRITE, targets, offset, size, over)

        def over() -> None:
            self._cache.remember_all(row, (*sources, *targets), low, low + size)
            self._cache.release(row)
            done()

        self._acquire(row, low, low + size, lambda: self._transfer(READ, sources, offset, size, compute))

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read [offset, offset + size) of all readable members and compare parity (within one chunk)."""
        row, low = divmod(offset, self._layout.chunk_bytes)
        sources = self._sources(row)

        def compare() -> None:
            self._charge(size, len(sources), 2)
            self._cache.remember_all(row, sources, low, low + size)
            self._cache.release(row)
            done()

        self._acquire(row, low, low + size, lambda: self._transfer(READ, sources, offset, size, compare))

    def _sources(self, row: int) -> list[int]:
        """The members that can be read, in the order data, P, Q."""
        members = self._layout.row(row)
        slots = [*members.data, members.p] if members.q is None else [*members.data, members.p, members.q]
        return [slot for slot in slots if slot not in self._array.failed]

    def _transfer(self, op: int, slots: list[int], offset: int, size: int, then: Callable[[], None]) -> None:
        over = Join(len(slots), then).done
        submit = self._array.submit_resync
        for slot in slots:
            submit(slot, Request(op, offset, size, over, RESYNC_STREAM, False))
        self._array.resync_submitted()

    def _charge(self, size: int, sources: int, passes: int) -> None:
        """Charge `passes` passes over the heads, their block I/Os, and the XOR."""
        host = self._array.host
        if host is not None:
            prices = host.prices
            heads = -(-size // self._settings.head_bytes)
            seconds = heads * (passes * prices.stripe_s + (sources + passes - 2) * prices.bio_s)
            host.cpu.interrupt(seconds + sources * size * prices.xor_s_per_byte)
