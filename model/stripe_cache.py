"""The stripe cache of md's RAID 4/5/6: a limited number of stripe heads, and what they still hold.

Every read and write of these levels occupies one head per block row from start to end. When none is free, new
work waits until a quarter of the heads is free again (raid5.c, get_active_stripe, ``inactive_blocked``). A head is
one block high: the size of the block I/O on Linux 2.4 (1 KiB for a raw device), 4 KiB since 2.6.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence


class Arrival:
    """Contents of a member on their way into the cache; others may wait for them too."""

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: list[Callable[[], None]] | None = []

    def then(self, callback: Callable[[], None]) -> None:
        """Call back when the contents are there (at once if they already are)."""
        if self._waiters is None:
            callback()
        else:
            self._waiters.append(callback)

    def arrived(self, _: object = None) -> None:
        """The contents are there."""
        waiters, self._waiters = self._waiters, None
        for callback in waiters or ():
            callback()


_HERE = Arrival()
_HERE.arrived()


class StripeCache:
    """Heads in use, and recent contents.

    Parameters
    ----------
    heads
        Number of stripe heads; 0 for a cache that grows as needed.
    head_bytes
        Height of a head.
    chunk_bytes
        Chunk of the array (sets how many rows fit).
    """

    __slots__ = (
        "_active",
        "_blocked",
        "_idle_callbacks",
        "_keep_rows",
        "_recent",
        "_waiting",
        "head_bytes",
        "heads",
        "in_use",
        "waits",
    )

    def __init__(self, heads: int, head_bytes: int, chunk_bytes: int) -> None:
        self.heads = heads
        self.head_bytes = head_bytes
        self.in_use = 0
        self.waits = 0
        self._active: dict[int, list[int]] = {}
        self._waiting: deque[tuple[int, int, int, Callable[[], None]]] = deque()
        self._blocked = False
        self._idle_callbacks: list[Callable[[], None]] = []
        self._recent: OrderedDict[int, dict[int, tuple[int, int, Arrival]]] = OrderedDict()
        self._keep_rows = max(1, (heads or 256) * head_bytes // chunk_bytes)

    @property
    def full(self) -> bool:
        """Whether work waits for heads."""
        return bool(self._waiting)

    def when_free(self, callback: Callable[[], None]) -> None:
        """Call back once when no work waits for heads any more."""
        self._idle_callbacks.append(callback)

    def acquire(self, row: int, low: int, high: int) -> bool:
        """Occupy the heads of bytes [low, high) of `row`, unless too few are free or others wait already."""
        return not self._waiting and self._take(row, low, high)

    @property
    def free_heads(self) -> int:
        """Heads that work may take now: none while other work waits for some."""
        if not self.heads:
            return 1 << 30
        return 0 if self._waiting else self.heads - self.in_use

    def knows(self, row: int) -> bool:
        """Whether anything of `row` is remembered."""
        return row in self._recent

    def wait(self, row: int, low: int, high: int, start: Callable[[], None]) -> None:
        """Call `start` once the heads of bytes [low, high) of `row` are occupied for it."""
        self._blocked = True
        self.waits += 1
        self._waiting.append((row, low, high, start))

    def _take(self, row: int, low: int, high: int) -> bool:
        if not self.heads:
            return True
        entry = self._active.get(row)
        if entry is None:
            heads = min(self.heads, -(-high // self.head_bytes) - low // self.head_bytes)
            if self.in_use + heads > self.heads:
                return False
            self._active[row] = [1, low, high, heads]
            self.in_use += heads
            return True
        low, high = min(low, entry[1]), max(high, entry[2])
        heads = min(self.heads, -(-high // self.head_bytes) - low // self.head_bytes)
        if self.in_use + heads - entry[3] > self.heads:
            return False
        self.in_use += heads - entry[3]
        entry[0] += 1
        entry[1:] = [low, high, heads]
        return True

    def release(self, row: int) -> None:
        """Give back what one :meth:`acquire` of `row` took."""
        if not self.heads:
            return
        entry = self._active[row]
        entry[0] -= 1
        if entry[0]:
            return
        del self._active[row]
        self.in_use -= entry[3]
        if self._blocked and 4 * self.in_use <= 3 * self.heads:
            self._blocked = False
            while self._waiting:
                row, low, high, start = self._waiting[0]
                if not self._take(row, low, high):
                    self._blocked = True
                    return
                self._waiting.popleft()
                start()
            callbacks, self._idle_callbacks = self._idle_callbacks, []
            for callback in callbacks:
                callback()

    def holds(self, row: int, member: int, low: int, high: int) -> Arrival | None:
        """Return the arrival of bytes [low, high) of `member` in `row` if they are cached or on their way."""
        slots = self._recent.get(row)
        if slots is not None:
            known = slots.get(member)
            if known is not None and known[0] <= low and high <= known[1]:
                return known[2]
        return None

    def remember(self, row: int, member: int, low: int, high: int, arrival: Arrival) -> None:
        """Note that bytes [low, high) of `member` in `row` arrive; forget the least recently used rows."""
        recent = self._recent
        slots = recent.get(row)
        if slots is None:
            slots = recent[row] = {}
            if len(recent) > self._keep_rows:
                recent.popitem(last=False)
        else:
            recent.move_to_end(row)
        known = slots.get(member)
        if known is not None and known[1] == low:
            low = known[0]
        slots[member] = (low, high, arrival)

    def remember_all(self, row: int, members: Sequence[int], low: int, high: int) -> None:
        """Note that bytes [low, high) of `members` in `row` are there."""
        if row in self._recent:
            for member in members:
                self.remember(row, member, low, high, _HERE)
            return
        recent = self._recent
        recent[row] = dict.fromkeys(members, (low, high, _HERE))
        if len(recent) > self._keep_rows:
            recent.popitem(last=False)
