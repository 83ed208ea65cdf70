"""Processes that read from a parity array and sleep because no stripe head is free, and how they share what gets free.

A process submits its read-ahead block by block, and sleeps in get_active_stripe when it needs a head and has none
(raid5.c). What it would submit or copy next waits with it, blocks of rows that others have heads of too. When a quarter
of the heads is free all who sleep are woken (wake_up), and as many as there are processors run at once and take heads,
one each in turn, until none is left; the others sleep on. So a window of several rows, for which there were heads
enough with one reader, is submitted in parts with many: of a chunk, the first of a row, only as much as heads were
left, and a head that was taken for it alone is gone until that block has been read.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable

from ..stripes.stripe_cache import StripeCache

Begin = Callable[[int, int], None]
"""Reads bytes [low, high) of a row whose heads are taken."""


class _Piece:
    """What is left to submit of a read inside one chunk."""

    __slots__ = ("begin", "high", "low", "row")

    def __init__(self, row: int, low: int, high: int, begin: Begin) -> None:
        self.row = row
        self.low = low
        self.high = high
        self.begin = begin


class WaitingReaders:
    """Readers of a stripe cache that is too small for all of them.

    Parameters
    ----------
    cache
        Whose heads they need.
    processors
        How many processes run at once.
    woken
        Called when readers have submitted something, after they slept or before: they run the plugs.
    """

    __slots__ = ("_cache", "_callbacks", "_processors", "_queues", "_woken")

    def __init__(self, cache: StripeCache, processors: int, woken: Callable[[], None]) -> None:
        self._cache = cache
        self._processors = processors
        self._woken = woken
        self._queues: OrderedDict[int, deque[_Piece]] = OrderedDict()
        self._callbacks: dict[int, list[Callable[[], None]]] = {}
        cache.sleepers = self

    def __bool__(self) -> bool:
        """Whether anybody sleeps."""
        return bool(self._queues)

    def sleeps(self, issuer: int) -> bool:
        """Whether that process sleeps in a submission."""
        return issuer in self._queues

    def when_awake(self, issuer: int, callback: Callable[[], None]) -> None:
        """Call back once when it has submitted all it had to."""
        self._callbacks.setdefault(issuer, []).append(callback)

    def read(self, issuer: int, row: int, low: int, high: int, begin: Begin) -> None:
        """Begin to read a piece as its heads are had, in order of what the process submits."""
        piece = _Piece(row, low, high, begin)
        queue = self._queues.get(issuer)
        if queue is not None:
            queue.append(piece)
            return
        self._submit(piece, self._cache.free_heads)
        if piece.low < piece.high:
            self._queues[issuer] = deque((piece,))
            self._cache.sleep()
            self._woken()

    def take(self) -> None:
        """Heads have got free: who runs takes them."""
        cache, queues = self._cache, self._queues
        free = cache.heads - cache.in_use
        while queues and free > 0:
            running = list(queues)[: self._processors]
            share = max(1, free // len(running))
            for issuer in running:
                self._go_on(issuer, min(share, cache.heads - cache.in_use))
            free = cache.heads - cache.in_use
        self._woken()

    def _go_on(self, issuer: int, heads: int) -> None:
        """A process submits what it can with its new heads, and sleeps again if that is not all."""
        queue = self._queues[issuer]
        while queue:
            piece = queue[0]
            heads -= self._submit(piece, heads)
            if piece.low < piece.high:
                self._queues.move_to_end(issuer)
                return
            queue.popleft()
        del self._queues[issuer]
        for callback in self._callbacks.pop(issuer, ()):
            callback()

    def _submit(self, piece: _Piece, heads: int) -> int:
        """Begin to read as much of a piece as the heads allow; returns how many it took."""
        end = self._cache.reach(piece.row, piece.low, piece.high, heads)
        if end <= piece.low:
            return 0
        before = self._cache.in_use
        self._cache.take(piece.row, piece.low, end)
        low, piece.low = piece.low, end
        piece.begin(low, end)
        return self._cache.in_use - before
