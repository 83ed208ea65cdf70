"""How the rows of a parity array move from the old layout to the new one, unit by unit of their chunks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from ...core.join import Join
from ...core.request import READ, WRITE, Request
from ...layouts.parity import ParityLayout
from ..base.array import Array
from ..parity.array import ParityArray
from ..parity_6_1.thread import ParityThread
from ..stripes.head_cache import HeadCache
from .geometry import Geometry

Place = tuple[int, int]
"""Row and byte in the chunk, of the new layout."""


class _NewUnit:
    """A unit of the new layout: the data blocks that it still lacks, as bits, and whom to tell when it is written.

    The resync thread holds its heads until it has taken all of the piece; then nobody does until its data are there.
    """

    __slots__ = ("held", "missing", "piece")

    def __init__(self, missing: int, piece: Join) -> None:
        self.missing = missing
        self.piece = piece
        self.held = True


class RowMover:
    """Reads old rows and writes new ones.

    Parameters
    ----------
    array
        Which is being reshaped.
    new
        The array in its new layout, whose stripe cache and thread do the work.
    geometry
        The layouts.
    unit
        Bytes of a chunk that are handled as one.
    """

    __slots__ = (
        "_array",
        "_cache",
        "_first_old",
        "_heads",
        "_md_thread",
        "_new",
        "_old",
        "_reading",
        "_unit",
        "_units",
    )

    def __init__(self, array: Array, new: ParityArray, geometry: Geometry, unit: int) -> None:
        assert isinstance(geometry.old, ParityLayout)
        assert isinstance(geometry.new, ParityLayout)
        assert isinstance(new.cache, HeadCache)
        assert new.md_thread is not None
        self._array = array
        self._cache = new.cache
        self._md_thread = new.md_thread
        self._old = geometry.old
        self._new = geometry.new
        self._first_old = geometry.old_start // geometry.old.chunk_bytes
        self._unit = unit
        self._heads = unit // new.cache.head_bytes
        self._units: dict[Place, _NewUnit] = {}
        # Units of old rows that are being read, and how often their heads were taken for that.
        self._reading: dict[Place, int] = {}

    def move(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Bring bytes [offset, offset + size) of every member into the new layout; they are whole chunks."""
        old, new, unit = self._old, self._new, self._unit
        first, end = offset // new.chunk_bytes, (offset + size) // new.chunk_bytes
        places = [(row, low) for row in range(first, end) for low in range(0, new.chunk_bytes, unit)]
        piece = Join(len(places), done)
        wanted: deque[tuple[int, int, Callable[[], None]]] = deque()
        for row, low in places:
            wanted.append((row, low, partial(self._mark, row, low, piece)))
        begin, last = first * new.stripe_bytes, min(end * new.stripe_bytes, old.capacity) - 1
        for row in range(begin // old.stripe_bytes, last // old.stripe_bytes + 1 if last >= begin else 0):
            for low in range(0, old.chunk_bytes, unit):
                wanted.append((self._first_old + row, low, partial(self._add, partial(self._read, row, low))))
        seconds = len(wanted) * self._heads * self._array.prices.stripe_s
        self._array.compute_resync(seconds, partial(self._take, wanted, places))

    # in the resync thread

    def _take(self, wanted: deque[tuple[int, int, Callable[[], None]]], places: list[Place]) -> None:
        """Take heads as long as there are any; the thread sleeps for the next ones."""
        unit, cache = self._unit, self._cache
        while wanted:
            row, low, then = wanted.popleft()
            if not cache.acquire(row, low, low + unit):
                cache.wait(row, low, low + unit, partial(self._taken, then, wanted, places))
                return
            then()
        for place in places:
            self._let_go(place)
        self._array.resync_submitted()

    def _taken(
        self, then: Callable[[], None], wanted: deque[tuple[int, int, Callable[[], None]]], places: list[Place]
    ) -> None:
        """There is a head again; on a single core the resync thread runs when md's thread sleeps."""

        def go_on() -> None:
            then()
            self._take(wanted, places)

        thread, host = self._md_thread, self._array.host
        if isinstance(thread, ParityThread) and host is not None and host.cpu.cores == 1:
            thread.when_asleep(go_on)
        else:
            go_on()

    def _mark(self, row: int, low: int, piece: Join) -> None:
        """A unit of the new layout is to be filled; what lies beyond the old data is zeros."""
        new = self._new
        start = row * new.stripe_bytes + low
        missing = 0
        for index in range(new.data_members):
            if start + index * new.chunk_bytes < self._old.capacity:
                missing |= 1 << index
        self._units[row, low] = _NewUnit(missing, piece)

    def _let_go(self, place: Place) -> None:
        unit = self._units[place]
        unit.held = False
        if unit.missing:
            self._cache.parked += self._heads
        else:
            self._add(partial(self._compute, place))

    def _add(self, work: Callable[[], float]) -> None:
        """Have md's thread do `work` on the heads of a unit."""

        def in_turn() -> float:
            self._md_thread.heads += self._heads
            return work()

        self._md_thread.add(in_turn, self._heads)

    # in md's thread

    def _read(self, row: int, low: int) -> float:
        key, unit, reading = self._first_old + row, self._unit, self._reading
        taken = reading.get((row, low), 0)
        reading[row, low] = taken + 1
        if taken:
            return self._handling_s(0)
        known = -1
        for _, _, held in self._cache.parts(key, low, low + unit):
            known &= held
        slots = [slot for slot in range(self._old.members) if not known >> slot & 1]
        if not slots:
            return self._copy(row, low)
        self._transfer(READ, slots, key * self._old.chunk_bytes + low, partial(self._copy, row, low))
        return self._handling_s(len(slots))

    def _copy(self, row: int, low: int) -> float:
        """Copy what is wanted of an old row's unit, and give its heads back."""
        old, new, unit, key = self._old, self._new, self._unit, self._first_old + row
        self._cache.keep(key, low, low + unit, (1 << old.members) - 1)
        copied = 0
        for index in range(old.data_members):
            chunk, inside = divmod((row * old.data_members + index) * old.chunk_bytes + low, new.chunk_bytes)
            new_row, new_index = divmod(chunk, new.data_members)
            place = new_row, inside
            wants = self._units.get(place)
            if wants is None or not wants.missing >> new_index & 1:
                continue
            copied += 1
            wants.missing ^= 1 << new_index
            if not wants.missing and not wants.held:
                self._cache.parked -= self._heads
                self._add(partial(self._compute, place))
        for _ in range(self._reading.pop((row, low))):
            self._md_thread.then(partial(self._cache.release, key, low, low + unit))
        return self._handling_s(0) + copied * unit * self._array.prices.copy_s_per_byte

    def _compute(self, place: Place) -> float:
        """All data are there: compute parity, and write in the next pass."""
        new = self._new
        self._add(partial(self._write, place))
        xored = new.data_members * new.parities * self._unit
        return self._handling_s(0) + xored * self._array.prices.xor_s_per_byte

    def _write(self, place: Place) -> float:
        row, low = place
        slots = list(range(self._new.members))
        self._transfer(WRITE, slots, row * self._new.chunk_bytes + low, partial(self._written, place))
        return self._handling_s(len(slots))

    def _written(self, place: Place) -> float:
        row, low = place
        self._cache.keep(row, low, low + self._unit, (1 << self._new.members) - 1)
        self._md_thread.then(partial(self._over, row, low, self._units.pop(place).piece))
        return self._handling_s(0)

    def _over(self, row: int, low: int, piece: Join) -> None:
        self._cache.release(row, low, low + self._unit)
        piece.part()

    def _transfer(self, op: int, slots: list[int], offset: int, then: Callable[[], float]) -> None:
        """Send a unit of these members, last slot first; the thread goes on with `then`."""
        thread = self._md_thread
        over = Join(len(slots), partial(self._add, then))
        for slot in reversed(slots):
            self._array.daemon_resync_bytes[slot] += self._unit
            thread.send(slot, Request(op, offset, self._unit, over, thread.issuer, False))

    def _handling_s(self, bios: int) -> float:
        """CPU time (s) of a pass over the heads of a unit, of `bios` block I/Os each."""
        prices = self._array.prices
        return self._heads * (prices.stripe_s + bios * prices.bio_s)
