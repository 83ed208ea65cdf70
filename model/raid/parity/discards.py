"""Discards of RAID 4, 5 and 6: whole stripes alone, one after the other through the stripe cache.

md frees a stripe on all its members or on none, because what is read from freed blocks need not agree with the
parity. It takes a stripe head for every block of the members, waits until no write is under way there, and md's thread
sends the members the discards of all data and parity blocks, which merge in its plug; then the heads are forgotten.
Parts of a stripe are left as they are. All that only if the module has been told that the drives return zeros for what
has been freed (devices_handle_discard_safely). Source: Linux 6.1 drivers/md/raid5.c (make_discard_request, ops_run_io,
handle_stripe_clean_event, raid5_run). Neutral: a write that comes while its stripe is being freed does not wait for
that, and the journal of an array does not note it.
"""

from __future__ import annotations

from functools import partial

from ...core.request import ASYNC, TRIM, Request
from ...layouts.parity import ParityLayout
from ..base.array import Array
from ..parity_6_1.stripe_handler import StripeHandler
from ..parity_6_1.thread import ParityThread
from ..parity_6_1.workers import ParityWorkers
from ..stripes.head_cache import HeadCache
from ..stripes.settings import ParitySettings


class _Freed:
    """The stripes of one discard: how far it has got, and how many pieces of it are under way."""

    __slots__ = ("end", "left", "low", "request", "row")

    def __init__(self, request: Request, row: int, end: int) -> None:
        self.request = request
        self.row = row
        self.end = end
        self.low = 0
        self.left = 1  # while there are more to come


class StripeDiscarder:
    """The discarding part of a parity array.

    Parameters
    ----------
    array, layout, settings, cache, thread
        Whose members are sent discards, and what belongs to it.
    handler
        Has the writes, for which a discard waits.
    """

    __slots__ = ("_array", "_cache", "_handler", "_head_bytes", "_layout", "_md_thread")

    def __init__(
        self,
        array: Array,
        layout: ParityLayout,
        settings: ParitySettings,
        cache: HeadCache,
        thread: ParityThread | ParityWorkers,
        handler: StripeHandler,
    ) -> None:
        self._array = array
        self._layout = layout
        self._head_bytes = settings.head
        self._cache = cache
        self._md_thread = thread
        self._handler = handler

    def discard(self, request: Request) -> None:
        """Free the whole stripes in a range of the array."""
        stripe = self._layout.chunk_bytes * self._layout.data_members
        first, end = -(-request.offset // stripe), (request.offset + request.size) // stripe
        self._go_on(_Freed(request, first, end))

    def _go_on(self, freed: _Freed) -> None:
        """Take stripe heads as far as there are some; the submitter sleeps until there are more."""
        cache, chunk = self._cache, self._layout.chunk_bytes
        while freed.row < freed.end:
            row, low = freed.row, freed.low
            most = max(1, cache.heads // 4) * self._head_bytes if cache.heads else chunk
            high = min(chunk, low + most)
            freed.row, freed.low = (row, high) if high < chunk else (row + 1, 0)
            freed.left += 1
            if cache.acquire(row, low, high):
                self._begin(freed, row, low, high)
            else:
                cache.wait(row, low, high, partial(self._begin_late, freed, row, low, high))
                return
        self._md_thread.add(partial(self._all_taken, freed))

    def _begin_late(self, freed: _Freed, row: int, low: int, high: int) -> None:
        self._begin(freed, row, low, high)
        self._go_on(freed)

    def _all_taken(self, freed: _Freed) -> float:
        self._md_thread.then(partial(self._one_less, freed))
        return 0.0

    def _begin(self, freed: _Freed, row: int, low: int, high: int) -> None:
        """The heads are ours: once no write is under way in their row, the thread takes them."""
        handle = partial(self._handle, freed, row, low, high)
        self._handler.when_idle(row, lambda: self._md_thread.add(handle))

    def _handle(self, freed: _Freed, row: int, low: int, high: int) -> float:
        """Send what is freed of one row; returns CPU time (s): the thread looks at each head twice before that."""
        array, thread, heads = self._array, self._md_thread, (high - low) // self._head_bytes
        absent = self._handler.absent
        # Asked row by row: a member may fail meanwhile, and a spare that takes none stand in its place.
        slots = [
            slot
            for slot, member in enumerate(array.members)
            if slot not in absent and not member.discard_limits.refusal
        ]
        left = len(slots)
        finish = partial(self._finish, freed, row, low, high)

        def one(_: Request) -> None:
            nonlocal left
            left -= 1
            if not left:
                thread.add(finish)

        offset = row * self._layout.chunk_bytes + low
        for slot in slots:
            thread.send(slot, Request(TRIM, offset, high - low, one, thread.issuer, ASYNC))
        if not slots:
            thread.add(finish)
        thread.heads += heads
        return heads * (2 * array.prices.stripe_s + len(slots) * array.prices.bio_s)

    def _finish(self, freed: _Freed, row: int, low: int, high: int) -> float:
        """The members have freed it: the heads are given back, and hold nothing any more."""
        heads = (high - low) // self._head_bytes
        self._cache.forget(row, low, high)
        self._cache.release(row, low, high)
        self._md_thread.heads += heads
        self._md_thread.then(partial(self._one_less, freed))
        return heads * self._array.prices.stripe_s

    def _one_less(self, freed: _Freed) -> None:
        freed.left -= 1
        if not freed.left:
            freed.request.complete()
