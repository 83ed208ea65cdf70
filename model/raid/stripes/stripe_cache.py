"""The stripe cache of md's RAID 4/5/6: a limited number of stripe heads, and what they still hold.

Every read and write of these levels occupies one head per block row from start to end. When none is free, new
work waits until a quarter of the heads is free again (raid5.c, get_active_stripe, ``inactive_blocked``). A head is
one block high: the size of the block I/O on Linux 2.4 (1 KiB for a raw device), 4 KiB since 2.6. Since 4.1 md's thread
makes one more head when work finds none free (R5_ALLOC_MORE, grow_one_stripe), but no second one before a head was
given back (R5_DID_ALLOC). Work that waits for the quarter asks for no further one. So a cache that always runs out
grows from N to N + 1 heads while N / 4 are used, and has the square root of 8 n heads after n have been used.

Everybody waits in one queue (wait_for_stripe), readers and writers alike, so the one that has waited longest is served
first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from ...core.errors import ModelError
from .arrival import HERE, Arrival
from .recent_rows import RecentRows, RowContents


class Sleepers(Protocol):
    """Processes that wait for heads; true while there are any
    (:class:`~raidsim.model.raid.parity_until_4_0.waiting_readers.WaitingReaders`).
    """

    def __bool__(self) -> bool: ...

    def take(self) -> None:
        """Take what heads have got free."""


KEPT_WITHOUT_LIMIT = 256
"""Heads that a cache without a limit remembers: md's default size."""


class StripeCache:
    """Heads in use, and recent contents.

    Parameters
    ----------
    heads
        Number of stripe heads; 0 for a cache that grows as needed.
    head_bytes
        Height of a head.
    chunk_bytes
        Chunk of the array, if a row of which anything is remembered counts as a whole one; 0 to count its heads.
    most_heads
        How far the cache may grow.

    Attributes
    ----------
    sleepers
        Processes that wait for heads to read, where they share them
        (:mod:`raidsim.model.raid.parity_until_4_0.waiting_readers`).
    waits
        How often work had to wait for heads.
    most_in_use
        Most heads that were in use at once (counted while their number is limited).
    parked
        Heads in use that md does not count as active: those of a new layout that wait for their data.
    """

    __slots__ = (
        "_active",
        "_blocked",
        "_chunk_bytes",
        "_grown",
        "_idle_callbacks",
        "_kept",
        "_least",
        "_most_kept",
        "_most_rows",
        "_recent",
        "_short",
        "_slept",
        "_waiting",
        "head_bytes",
        "heads",
        "in_use",
        "most_heads",
        "most_in_use",
        "parked",
        "sleepers",
        "waits",
    )

    def __init__(self, heads: int, head_bytes: int, chunk_bytes: int = 0, most_heads: int = 0) -> None:
        self.heads = self._least = heads
        self.most_heads = most_heads
        self._short = self._grown = False
        self.most_in_use = 0
        self.head_bytes = head_bytes
        self.in_use = 0
        self.parked = 0
        self.waits = 0
        self.sleepers: Sleepers | None = None
        # By row: how often it was acquired, which heads as bits, and how many these count as.
        self._active: dict[int, list[int]] = {}
        # What waits, each with its number among all that had to wait, and the number of the first process that sleeps.
        self._waiting: deque[tuple[int, int, int, int, Callable[[], None]]] = deque()
        self._slept = 0
        self._blocked = False
        self._idle_callbacks: list[Callable[[], None]] = []
        self._recent = RecentRows()
        self._kept = 0
        self._most_kept = heads or KEPT_WITHOUT_LIMIT
        self._chunk_bytes = chunk_bytes
        self._most_rows = max(1, self._most_kept // -(-chunk_bytes // head_bytes)) if chunk_bytes else 0

    @property
    def full(self) -> bool:
        """Whether work waits for heads."""
        return bool(self._waiting or self.sleepers)

    def when_free(self, callback: Callable[[], None]) -> None:
        """Call back once when no work waits for heads any more."""
        self._idle_callbacks.append(callback)

    def acquire(self, row: int, low: int, high: int) -> bool:
        """Occupy the heads of bytes [low, high) of `row`, unless too few are free or others wait already."""
        return not self.full and self.take(row, low, high)

    @property
    def free_heads(self) -> int:
        """Heads that work may take now: none while other work waits for some."""
        if not self.heads:
            return 1 << 30
        return 0 if self.full else self.heads - self.in_use

    def knows(self, row: int) -> bool:
        """Whether anything of `row` is remembered."""
        return row in self._recent

    def wait(self, row: int, low: int, high: int, start: Callable[[], None]) -> None:
        """Call `start` once the heads of bytes [low, high) of `row` are occupied for it."""
        self._block()
        self.waits += 1
        self._waiting.append((self.waits, row, low, high, start))

    def sleep(self) -> None:
        """A process sleeps for want of a head."""
        self._block()
        self.waits += 1
        if not self._slept:
            self._slept = self.waits

    def _block(self) -> None:
        """Work has found no free head: until a quarter is free nobody gets one, and one more may be made."""
        if not self._blocked:
            self._blocked = True
            self._short = not self._grown

    def reach(self, row: int, low: int, high: int, heads: int) -> int:
        """How far from `low` on, up to `high`, one gets in `row` with `heads` heads more than those in use."""
        head = self.head_bytes
        entry = self._active.get(row)
        used = entry[1] if entry is not None else 0
        for number in range(low // head, -(-high // head)):
            if not used >> number & 1:
                if not heads:
                    return max(low, number * head)
                heads -= 1
        return high

    def take(self, row: int, low: int, high: int) -> bool:
        """Occupy the heads of bytes [low, high) of `row`, unless too few are free; nobody is passed by who may."""
        if not self.heads:
            return True
        head = self.head_bytes
        wanted = (1 << -(-high // head)) - (1 << low // head)
        entry = self._active.get(row)
        if entry is None:
            heads = wanted.bit_count()
            if self._chunk_bytes or not self.in_use:
                heads = min(self.heads, heads)
            if self.in_use + heads > self.heads:
                return False
            self._active[row] = [1, wanted, heads]
            self.in_use += heads
        else:
            wanted |= entry[1]
            heads = min(self.heads, wanted.bit_count()) if self._chunk_bytes else wanted.bit_count()
            if self.in_use + heads - entry[2] > self.heads:
                return False
            self.in_use += heads - entry[2]
            entry[0] += 1
            entry[1:] = [wanted, heads]
        self.most_in_use = max(self.most_in_use, self.in_use)
        return True

    def release(self, row: int, low: int = 0, high: int = 0) -> None:
        """Give back what one :meth:`acquire` of `row` took; a cache that counts rows does not ask which bytes."""
        if not self.heads:
            return
        entry = self._active[row]
        entry[0] -= 1
        if entry[0]:
            return
        del self._active[row]
        self.in_use -= entry[2]
        self._grown = False
        self._let_in()

    def forget(self, row: int, low: int = 0, high: int = 0) -> None:
        """What was cached of `row` is not there any more; a cache that counts rows does not ask which bytes."""
        gone = self._recent.take(row)
        if gone is not None:
            self._kept -= self._heads(gone.low, gone.high)

    def grow(self) -> None:
        """md's thread has made a pass: one head more, if work has found no free one and the cache may grow."""
        if self._short:
            self._short = False
            if self.heads < self.most_heads:
                self.heads += 1
                self._most_kept += 1
                self._grown = True
                self._let_in()

    def shrink(self) -> None:
        """Give back the heads that the cache has grown by, the oldest first (drivers/md/raid5.c, raid5_cache_scan)."""
        self.heads = max(self._least, self.in_use)
        self._most_kept = self.heads or KEPT_WITHOUT_LIMIT
        self._forget()

    def grow_to(self, heads: int) -> None:
        """Work has waited for heads so often that the cache has this number of them."""
        if not self.heads <= heads <= self.most_heads:
            raise ModelError(f"{heads} stripe heads; from {self.heads} to {max(self.heads, self.most_heads)}")
        self._most_kept += heads - self.heads
        self.heads = heads

    def _let_in(self) -> None:
        if not self._blocked or 4 * (self.in_use - self.parked) > 3 * self.heads:
            return
        self._blocked = False
        while self._waiting or self.sleepers:
            if self.sleepers and (not self._waiting or self._slept < self._waiting[0][0]):
                if self.in_use >= self.heads:
                    self._block()
                    return
                self.sleepers.take()
                self._slept = 0
                if self.sleepers:
                    self._slept = self.waits
                    self._block()
                    return
                continue
            _, row, low, high, start = self._waiting[0]
            if not self.take(row, low, high):
                self._block()
                return
            self._waiting.popleft()
            start()
        callbacks, self._idle_callbacks = self._idle_callbacks, []
        for callback in callbacks:
            callback()

    def holds(self, row: int, member: int, low: int, high: int) -> Arrival | None:
        """Return the arrival of bytes [low, high) of `member` in `row` if they are cached or on their way."""
        contents = self._recent.get(row)
        if contents is not None:
            known = contents.of(member)
            if known is not None and known[0] <= low and high <= known[1]:
                return known[2]
        return None

    def overlap(self, row: int, member: int, low: int, high: int) -> tuple[int, int, Arrival] | None:
        """The span of `member` in `row` that is cached or on its way, if bytes [low, high) touch it."""
        contents = self._recent.get(row)
        known = contents.of(member) if contents is not None else None
        return known if known is not None and known[0] < high and low < known[1] else None

    def remember(self, row: int, member: int, low: int, high: int, arrival: Arrival) -> None:
        """Note that bytes [low, high) of `member` in `row` arrive; forget the least recently used rows."""
        contents = self._recent.get(row)
        if contents is None:
            contents = RowContents(row, low, high)
            self._recent.add(contents)
            self._kept += self._heads(low, high)
            slots = contents.by_member()
        else:
            self._recent.use(contents)
            slots = contents.by_member()
            self._widen(contents, low, high)
        known = slots.get(member)
        if known is not None:
            if known[1] == low:
                low = known[0]
                if not self._most_rows and not known[2].here:
                    arrival = Arrival.of_all((known[2], arrival))
            elif not self._chunk_bytes and known[0] <= high and low <= known[1] and known[2].here and arrival.here:
                low, high = min(low, known[0]), max(high, known[1])
        slots[member] = (low, high, arrival)
        self._forget()

    def remember_all(self, row: int, members: Sequence[int], low: int, high: int) -> None:
        """Note that bytes [low, high) of `members` in `row` are there."""
        if row in self._recent:
            for member in members:
                self.remember(row, member, low, high, HERE)
            return
        self._recent.add(RowContents(row, low, high, members))
        self._kept += self._heads(low, high)
        self._forget()

    def _heads(self, low: int, high: int) -> int:
        """How many heads bytes [low, high) of a row take."""
        head = self.head_bytes
        return -(-high // head) - low // head

    def _widen(self, contents: RowContents, low: int, high: int) -> None:
        """Count the heads of a row of which bytes [low, high) are remembered as well."""
        if low < contents.low or high > contents.high:
            before = self._heads(contents.low, contents.high)
            contents.low, contents.high = min(low, contents.low), max(high, contents.high)
            self._kept += self._heads(contents.low, contents.high) - before

    def _forget(self) -> None:
        """Give the heads of the least recently used rows to others."""
        recent = self._recent
        while self._keeps_too_much(len(recent)):
            gone = recent.take_oldest()
            self._kept -= self._heads(gone.low, gone.high)

    def _keeps_too_much(self, rows: int) -> bool:
        """Whether more is remembered of `rows` rows than there is room for."""
        return rows > self._most_rows if self._most_rows else self._kept > self._most_kept and rows > 1
