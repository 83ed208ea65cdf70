"""The write buffer of a drive: what it takes at once, and how it drains into flash.

A write is taken when there is room. Units gather until they are what a die programs at once; then the next die gets
them, and their room is free when that program is over. While the buffer is full, a write waits for the program that
frees the room it needs. All this is known when the write comes, because writes are taken in order: it costs no event.

A unit that is written again before its program is booked is replaced where it is. A write of part of a unit has the
rest read from flash before the program, unless that has come meanwhile; so small writes in order cost no reads.

A flush has nothing to do where capacitors keep what is in the buffer through a power failure. Without it the gathered
units are programmed at once, the rest of their pages is wasted, and the flush waits for all programs. What the
controller does besides, to make its map safe, is the drive's (`flush_time`).

Sources: NVM Express base specification 2.0, "Flush command" and "Volatile Write Cache" (nothing to do where there is
none); Linux Documentation/block/writeback_cache_control.rst; Agrawal et al., USENIX ATC 2008 (partial pages).

A program that reads delay frees its room when it ends, so a drive that is read much of the time fills its buffer, and
writes wait.

Limits: how long a write waits for a program is worked out when the write comes, so a read that delays the program after
that does not delay the write; what has gathered waits for the rest of its program until a flush comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from .bit_cache import BitCache
from .die import Work
from .flash import CACHED, HOST, MOVED, Flash
from .spec import SolidStateSpec
from .translation import Translation


class WriteBuffer:
    """The buffer, and the programs it drains into.

    Parameters
    ----------
    spec
        The drive.
    flash, translation
        Where programs are booked, and what they do to the map.

    Attributes
    ----------
    capacity
        Bytes.
    held
        Units (``~chunk`` for chunks written as one) in the buffer, each with those that are programmed with it.
    cache
        The cells with one bit, if the drive has them.
    """

    __slots__ = (
        "_admitted",
        "_booked",
        "_collected",
        "_count",
        "_erased",
        "_flash",
        "_gathering",
        "_partial",
        "_program_units",
        "_shift",
        "_single_units",
        "_translation",
        "_unit",
        "_used",
        "cache",
        "capacity",
        "held",
    )

    def __init__(self, spec: SolidStateSpec, flash: Flash, translation: Translation) -> None:
        self._flash = flash
        self._translation = translation
        self._unit = spec.mapping_unit
        self._shift = spec.mapping_unit.bit_length() - 1
        self.capacity = spec.write_buffer
        line = spec.planes * spec.page // spec.mapping_unit
        self._program_units = (line * spec.bits_per_cell, line)  # to cells with all bits, to cells with one
        self._gathering = _Gathered(), _Gathered()
        self.held: dict[int, _Gathered] = {}
        self._partial: dict[int, int] = {}  # units written in part: sectors that have come, as bits
        self._booked: list[tuple[float, int, _Gathered]] = []  # heap of programs: over at, number, what
        self._count = 0
        self._single_units = 0  # in `held`
        self._used = 0
        self._admitted = 0.0
        self._collected = self._erased = 0
        self.cache = BitCache(spec, flash, translation) if spec.slc_cache else None

    def unwritten(self, now: float) -> int:
        """Bytes in the buffer that are not in flash."""
        self.release(now)
        return self._used

    def admit(self, now: float, arrival: float, size: int) -> float:
        """Take `size` bytes that could come at `arrival` (s); when there is room for them (s)."""
        booked = self._booked
        if booked and booked[0][0] <= now:
            self.release(now)
        at = arrival if arrival > self._admitted else self._admitted
        self._used += size
        while self._used > self.capacity and booked:
            end, number, gathered = heappop(booked)
            later = gathered.ends(now)
            if later > end:  # reads have delayed it
                heappush(booked, (later, number, gathered))
                continue
            self._forget(gathered)
            if end > at:
                at = end
        self._admitted = at
        return at

    def release(self, now: float) -> None:
        """Forget what is in flash by now."""
        booked = self._booked
        while booked and booked[0][0] <= now:
            _, number, gathered = heappop(booked)
            later = gathered.ends(now)
            if later > now:  # reads have delayed it
                heappush(booked, (later, number, gathered))
            else:
                self._forget(gathered)

    def _forget(self, gathered: _Gathered) -> None:
        held = self.held
        for unit in gathered.entries:
            if held.get(unit) is gathered:
                del held[unit]
                self._single_units -= unit >= 0
        self._used -= gathered.units * self._unit

    def store(self, now: float, landed: float, offset: int, size: int) -> None:
        """The data of a write that was taken are in the buffer from `landed` (s) on."""
        unit_bytes, shift = self._unit, self._shift
        unit = offset >> shift
        if size == unit_bytes and unit << shift == offset and self._translation.chunk_units > 1:
            self._store_unit(now, landed, unit, -1)
            return
        end = offset + size
        last = (end - 1) >> shift
        chunk_units = self._translation.chunk_units
        while unit <= last:
            if not unit % chunk_units and (unit + chunk_units) << shift <= end and unit << shift >= offset:
                self._store_chunk(now, landed, unit // chunk_units)
                unit += chunk_units
                continue
            begin = unit << shift
            whole = begin >= offset and begin + unit_bytes <= end
            self._store_unit(now, landed, unit, -1 if whole else _sectors(begin, unit_bytes, offset, end))
            unit += 1

    def _store_unit(self, now: float, landed: float, unit: int, sectors: int) -> None:
        """A unit comes, whole (-1) or some of its `sectors`."""
        cached = self.cache is not None and self.cache.takes(now, 1)
        gathered = self._gathering[cached]
        before = self.held.get(unit)
        if sectors >= 0:
            if before is None and not self._is_empty(unit):
                self._partial[unit] = sectors
            elif unit in self._partial:
                self._partial[unit] |= sectors
                if self._partial[unit] == (1 << self._unit // 512) - 1:
                    del self._partial[unit]
        elif self._partial:
            self._partial.pop(unit, None)
        if before is gathered:
            self._used -= self._unit
            if gathered.units >= self._program_units[cached] and unit not in self._partial:
                self._program(now, landed, cached)
            return
        if gathered.units >= self._program_units[cached]:
            gathered = self._program(now, landed, cached)
        self._single_units += before is None
        self.held[unit] = gathered
        gathered.entries.append(unit)
        gathered.units += 1
        if cached:
            self._translation.cache_write(unit)
        else:
            self._translation.write(unit)
        # The last unit may be incomplete: its rest may come before another unit does.
        if gathered.units >= self._program_units[cached] and unit not in self._partial:
            self._program(now, landed, cached)

    def _store_chunk(self, now: float, landed: float, chunk: int) -> None:
        size = self._translation.chunk_units
        cached = self.cache is not None and self.cache.takes(now, size)
        gathered = self._gathering[cached]
        if self._single_units:
            for unit in range(chunk * size, (chunk + 1) * size):
                if self.held.pop(unit, None) is not None:
                    self._single_units -= 1
                    self._partial.pop(unit, None)
        self.held[~chunk] = gathered
        gathered.entries.append(~chunk)
        gathered.units += size
        if cached:
            self._translation.cache_write_chunk(chunk)
        else:
            self._translation.write_chunk(chunk)
        while gathered.units >= self._program_units[cached]:
            gathered = self._program(now, landed, cached)

    def _is_empty(self, unit: int) -> bool:
        """Whether nothing has to be read of a unit that is written in part."""
        translation = self._translation
        return (
            unit not in translation.units
            and unit // translation.chunk_units not in translation.chunks
            and translation.is_unmapped(unit)
        )

    def _program(self, now: float, ready: float, cached: bool) -> _Gathered:
        """Program what has gathered, and what collection and folding owe for it; the next that gathers."""
        flash, translation = self._flash, self._translation
        gathered = self._gathering[cached]
        rest = gathered.units - self._program_units[cached]
        following = _Gathered()
        self._gathering = (self._gathering[0], following) if cached else (following, self._gathering[1])
        if rest > 0:  # of a chunk: its first units are programmed now, and it stays in the buffer with the last
            gathered.units -= rest
            following.units = rest
            entry = gathered.entries.pop()
            following.entries.append(entry)
            self.held[entry] = following
        elif rest < 0 and not cached:
            translation.waste(-rest)
        if self._partial:
            for unit in gathered.entries:
                if self._partial.pop(unit, None) is not None:
                    over = flash.read_unit(now, unit)
                    if over > ready:
                        ready = over
        if self._erased < translation.opened:
            flash.erase(translation.opened - self._erased)
            self._erased = translation.opened
        end = flash.program(now, ready, CACHED if cached else HOST, gathered)
        self._count += 1
        heappush(self._booked, (end, self._count, gathered))
        translation.collect()
        size = self._program_units[0]
        while translation.moved_units - self._collected >= size:
            self._collected += size
            flash.program(now, flash.gather(now, size, translation.victim_share, flash.read_s), MOVED)
        return following

    def flush(self, now: float, ready: float) -> float:
        """Program everything that is in the buffer, the last of which comes at `ready` (s); when it is in flash (s)."""
        for cached in (False, True):
            if self._gathering[cached].units:
                self._program(now, ready, cached)
        return max(ready, max((gathered.ends(now) for _, _, gathered in self._booked), default=0.0))

    def begin_in_the_middle(self) -> None:
        """Half of the erases that come with the superblock which is open are over."""
        self._erased = self._translation.opened
        self._flash.erase_from_the_middle()

    def stand(self, now: float, size: int, units: Iterator[int]) -> None:
        """Hold `size` bytes, or nearly: of more of the `units`, with their programs and those that collection owes.

        The programs that have begun are spread evenly between their beginning and their end.
        """
        self.release(now)
        flash, translation, held = self._flash, self._translation, self.held
        program_units = self._program_units[0]
        programs = (size - self._used) // (program_units * self._unit)
        begun = max(1, min(flash.programs_at_once, int(programs / (1.0 - translation.victim_share))))
        resumed = 0
        for _ in range(programs):
            gathered = _Gathered()
            while gathered.units < program_units:
                unit = next(units)
                if unit not in held and unit // translation.chunk_units not in translation.chunks:
                    held[unit] = gathered
                    gathered.entries.append(unit)
                    gathered.units += 1
                    translation.write(unit)
            self._single_units += program_units
            self._used += program_units * self._unit
            self._count += 1
            resumed += 1
            heappush(self._booked, (flash.resume(now, HOST, resumed / begun, gathered), self._count, gathered))
            translation.collect()
            while translation.moved_units - self._collected >= program_units:
                self._collected += program_units
                resumed += 1
                flash.resume(now, MOVED, resumed / begun)

    def discard(self, first: int, last: int) -> None:
        """The units [first, last) are deallocated: the buffer knows nothing of them any more."""
        size = self._translation.chunk_units
        for entry in list(self.held):
            if first <= entry < last or (entry < 0 and first < (~entry + 1) * size and ~entry * size < last):
                del self.held[entry]
                self._single_units -= entry >= 0
                self._partial.pop(entry, None)


class _Gathered(Work):
    """What is programmed together: units or ``~chunk``, and how many units they are."""

    __slots__ = ("entries", "units")

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[int] = []
        self.units = 0


def _sectors(begin: int, size: int, offset: int, end: int) -> int:
    """Sectors of the unit at `begin` that are in [offset, end), as bits."""
    low = max(begin, offset) - begin
    high = min(begin + size, end) - begin
    return ((1 << high // 512) - 1) & ~((1 << low // 512) - 1)
