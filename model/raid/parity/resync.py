"""Resync of RAID 4, 5 and 6: rows are read, computed and written back, or only compared.

A row occupies stripe heads from start to end, as every access of these levels does, and what was read and computed
stays in the stripe cache. Today the resync thread only takes the heads and md's own thread (raid5d) does the rest,
head by head and one member after the other, last slot first; so where a member has no tag left, the thread falls
asleep in the middle of a head. Source: drivers/md/raid5.c, raid5_sync_request, handle_parity_checks5/6, ops_run_io.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.join import Join
from ...core.request import READ, RESYNC_ISSUER, WRITE, Request
from ...layouts.parity import ParityLayout
from ..base.array import Array
from ..parity_6_1.thread import ParityThread
from ..parity_6_1.workers import ParityWorkers
from ..parity_until_4_0.daemon import ParityDaemon
from ..stripes.head_cache import HeadCache
from ..stripes.settings import ParitySettings
from ..stripes.stripe_cache import StripeCache

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
    thread
        md's thread, which handles the heads; None where whoever asks for a range does.
    daemon
        What completions wake there.
    """

    __slots__ = ("_acquire", "_array", "_cache", "_daemon", "_head_bytes", "_layout", "_md_thread")

    def __init__(
        self,
        array: Array,
        layout: ParityLayout,
        settings: ParitySettings,
        cache: StripeCache,
        acquire: Acquire,
        thread: ParityThread | ParityWorkers | None,
        daemon: ParityDaemon,
    ) -> None:
        self._array = array
        self._daemon = daemon
        self._layout = layout
        self._head_bytes = settings.head
        self._cache = cache
        self._acquire = acquire
        self._md_thread = thread

    def rebuild(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Rebuild [offset, offset + size) of the members being rebuilt from the others (within one chunk)."""
        row, low = divmod(offset, self._layout.chunk_bytes)
        targets = sorted(self._array.rebuilding)
        sources = self._sources(row)

        def read() -> float:
            self._transfer(READ, sources, offset, size, lambda: self._handle(size, compute))
            return self._handling_s(size, len(sources), 1)

        def compute() -> float:
            self._after(
                self._handling_s(size, len(sources) + 1, 3, len(sources)),
                lambda: self._transfer(WRITE, targets, offset, size, lambda: self._handle(size, over)),
            )
            return self._handling_s(size, len(targets), 1, len(sources))

        def over() -> float:
            self._keep(row, (*sources, *targets), low, size)
            self._finish(row, low, size, done)
            return self._handling_s(size, 0, 1)

        self._take_heads(row, low, size, read)

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read [offset, offset + size) of all readable members, compare parity, and write it if it differs.

        The range lies within one chunk. md computes parity that differs anew before it writes it.
        """
        row, low = divmod(offset, self._layout.chunk_bytes)
        sources = self._sources(row)
        differs = self._array.mismatches.next()

        def read() -> float:
            self._transfer(READ, sources, offset, size, lambda: self._handle(size, compare))
            return self._handling_s(size, len(sources), 1)

        def compare() -> float:
            self._keep(row, sources, low, size)
            if differs:
                parities = self._parities(row)
                self._after(
                    self._handling_s(size, len(sources) + len(parities), 3, 2 * len(sources)),
                    lambda: self._transfer(WRITE, parities, offset, size, lambda: self._handle(size, over)),
                )
                return self._handling_s(size, len(parities), 2, 2 * len(sources))
            self._after(
                self._handling_s(size, len(sources), 2, len(sources)), lambda: self._finish(row, low, size, done)
            )
            return self._handling_s(size, 0, 2, len(sources))

        def over() -> float:
            self._finish(row, low, size, done)
            return self._handling_s(size, 0, 1)

        self._take_heads(row, low, size, read)

    def _parities(self, row: int) -> list[int]:
        """The members that hold parity of `row` and are there."""
        members = self._layout.row(row)
        return [slot for slot in (members.p, members.q) if slot is not None and slot not in self._array.failed]

    def _sources(self, row: int) -> list[int]:
        """The members that can be read, in the order data, P, Q."""
        members = self._layout.row(row)
        slots = [*members.data, members.p] if members.q is None else [*members.data, members.p, members.q]
        return [slot for slot in slots if slot not in self._array.failed]

    def _take_heads(self, row: int, low: int, size: int, work: Callable[[], float]) -> None:
        """Have the resync thread take heads and pass them to md's thread, which does `work` first.

        A head is looked up in the cache, taken off the list of free ones and initialized (raid5_get_active_stripe,
        init_stripe), which is charged as another pass over it.
        """

        def acquire() -> None:
            self._acquire(row, low, low + size, lambda: self._begin(size, work))

        if self._md_thread is None:
            acquire()
        else:
            self._array.compute_resync(-(-size // self._head_bytes) * self._array.prices.stripe_s, acquire)

    def _begin(self, size: int, work: Callable[[], float]) -> None:
        """The heads are there."""
        self._handle(size, work)
        if self._md_thread is not None:
            self._array.resync_submitted()

    def _keep(self, row: int, slots: Sequence[int], low: int, size: int) -> None:
        """The heads hold the blocks of these members."""
        if isinstance(self._cache, HeadCache):
            self._cache.keep(row, low, low + size, sum([1 << slot for slot in slots]))
        else:
            self._cache.remember_all(row, slots, low, low + size)

    def _finish(self, row: int, low: int, size: int, done: Callable[[], None]) -> None:
        """Give the heads back; md's thread does so when it has handled the batch."""

        def release() -> None:
            self._cache.release(row, low, low + size)
            done()

        if self._md_thread is None:
            release()
        else:
            self._md_thread.then(release)

    def _handle(self, size: int, work: Callable[[], float]) -> None:
        """Have heads handled: at once, or by md's thread in its turn."""
        if self._md_thread is None:
            work()
            return
        thread, heads = self._md_thread, -(-size // self._head_bytes)

        def in_turn() -> float:
            thread.heads += heads
            return work()

        thread.add(in_turn)

    def _transfer(self, op: int, slots: list[int], offset: int, size: int, then: Callable[[], None]) -> None:
        array, thread = self._array, self._md_thread
        over = Join(len(slots), then if thread is not None else self._daemon.takes(then))
        if thread is None:
            for slot in slots:
                array.submit_resync(slot, Request(op, offset, size, over, RESYNC_ISSUER, False))
            array.resync_submitted()
            return
        for slot in sorted(slots, reverse=True):
            array.daemon_resync_bytes[slot] += size
            thread.send(slot, Request(op, offset, size, over, thread.issuer, False))

    def _handling_s(self, size: int, bios: int, passes: int, xored: int = 0) -> float:
        """CPU time (s) of `passes` over the heads, of `bios` block I/Os each, and of the XOR of `xored` blocks."""
        prices = self._array.prices
        heads = -(-size // self._head_bytes)
        return heads * (passes * prices.stripe_s + bios * prices.bio_s) + xored * size * prices.xor_s_per_byte

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        """Go on with `then`: at once if md's thread is charged step by step, else after all `seconds` of handling."""
        if self._md_thread is None:
            self._daemon.compute(seconds, then)
        else:
            then()
