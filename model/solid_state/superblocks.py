"""Superblocks: what is still valid in them, and which one is collected next.

A superblock is a block of every plane of every die; data go to the open one until it is full. When fewer than
`RESERVE` are erased, the closed one with the fewest valid units (greedy) is collected: what is valid in it is written
to the open one, at the pace at which the host writes, so that one is erased when the open one is full. Data of the
host and data moved share the open superblock; hot and cold data are therefore not separated, and skewed traffic gains
nothing.

A drive holds a thousand million units, of which a run touches few. Those it touches are known one by one ("tracked").
Of the others only their number in each superblock is known, and which one an overwrite falls into is not decided but
shared out: every superblock loses in proportion to what it holds ("anonymous": one common factor). That is exact in the
mean, and a superblock has enough units that deviations are not seen. What a drive was filled with in order is known
by its address.

Sources: Agrawal et al., "Design tradeoffs for SSD performance", USENIX ATC 2008 (superpages, greedy collection);
Desnoyers, SYSTOR 2012 (see :mod:`.steady_state`); Van Houdt, "On the necessity of hot and cold data identification to
reduce the write amplification in flash-based SSDs", Performance Evaluation 2013 (why skew gains nothing).

Limits: no wear levelling, no refresh, no parity across dies. What collection moves shares the open superblock with what
the host writes, so overwrites in order need several passes to end the collection that random writes left.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from ..core.errors import ModelError
from ..core.extents import ExtentSet
from .steady_state import valid_units

RESERVE: Final = 2
"""Superblocks that collection keeps erased."""
STATES = ("steady", "sequential", "fresh")
"""What a drive may hold at the start: overwritten at random for long; filled once in order; nothing."""


class Superblock:
    """Valid units of a superblock.

    Attributes
    ----------
    tracked
        Units known one by one.
    in_order
        Units that it was filled with in order before the run.
    anonymous
        Share of the anonymous units; times :attr:`Superblocks.scale` it is their number.
    log
        What was written to it, in order: a unit, or ``~chunk``.
    used
        Whether it has been written since it was last erased.
    """

    __slots__ = ("anonymous", "in_order", "log", "tracked", "used")

    def __init__(self) -> None:
        self.tracked = self.in_order = 0
        self.anonymous = 0.0
        self.log: list[int] = []
        self.used = False


class Superblocks:
    """The superblocks of a drive and the map of what is tracked; they know no time.

    Parameters
    ----------
    superblocks, superblock_units
        How many, and mapping units in each.
    units
        Mapping units that the host sees.
    chunk_units
        Units that are known as one when written as one (a large write).
    state
        One of `STATES`.

    Attributes
    ----------
    moved_units
        Units written by collection.
    opened
        Superblocks opened that had been written before: the number of erases of all dies.
    units, chunks
        Superblock of each tracked unit, and of each chunk written as one. A unit in `units` overrides its chunk.
    unmapped
        Units that hold no data (never written or deallocated) unless they are tracked.
    ordered
        Whether it was filled in order before the run.
    """

    __slots__ = (
        "_anonymous",
        "_closed",
        "_filled",
        "_free",
        "_in_order",
        "_open",
        "_owed",
        "_pace",
        "_position",
        "_superblock_units",
        "_victim",
        "_weight",
        "chunk_units",
        "chunks",
        "moved_units",
        "opened",
        "ordered",
        "units",
        "unmapped",
    )

    def __init__(self, superblocks: int, superblock_units: int, units: int, chunk_units: int, state: str) -> None:
        if state not in STATES:
            raise ModelError(f"state {state!r} of a solid-state drive; expected: {', '.join(STATES)}")
        if superblocks * superblock_units < units + (RESERVE + 1) * superblock_units:
            raise ModelError(
                f"{superblocks} superblocks of {superblock_units} units for {units} units; at least {RESERVE + 1} more"
            )
        self._superblock_units = superblock_units
        self.chunk_units = chunk_units
        self.units: dict[int, Superblock] = {}
        self.chunks: dict[int, Superblock] = {}
        self.unmapped = ExtentSet()
        self.moved_units = self.opened = 0
        self.ordered = state == "sequential"
        self._in_order: list[Superblock | None] = []
        self._anonymous = 0.0  # units
        self._weight = 0.0  # sum of Superblock.anonymous
        self._closed: list[Superblock] = []
        if state == "steady":
            for valid in valid_units(superblocks - RESERVE, superblock_units, units):
                block = Superblock()
                block.anonymous = valid
                self._closed.append(block)
            self._anonymous = self._weight = float(units)
        elif state == "sequential":
            for start in range(0, units, superblock_units):
                block = Superblock()
                block.in_order = min(superblock_units, units - start)
                self._closed.append(block)
                self._in_order.append(block)
        else:
            self.unmapped.add(0, units)
        for block in self._closed:
            block.used = True
        self._free = deque(Superblock() for _ in range(superblocks - len(self._closed)))
        if state == "steady":
            for block in self._free:
                block.used = True
        self._victim: Superblock | None = None
        self._position = 0  # in the victim's log
        self._owed = self._pace = 0.0
        self._filled = 0
        self._open = Superblock()
        self._open_next()

    @property
    def scale(self) -> float:
        """Anonymous units for each share of them."""
        return self._anonymous / self._weight if self._weight else 1.0

    @property
    def valid(self) -> int:
        """Units that hold data."""
        blocks = [*self._closed, self._open, *([self._victim] if self._victim else [])]
        scale, found = self.scale, 0.0
        for block in blocks:
            found += block.tracked + block.in_order + block.anonymous * scale
        return round(found)

    @property
    def victim_share(self) -> float:
        """Share of the superblock under collection that was valid when it was chosen."""
        return self._pace / (1 + self._pace)

    def moved_for(self, size: int) -> float:
        """Bytes that collection moves while the host writes `size` bytes."""
        return self._pace * size if self._victim is not None else 0.0

    def collect(self) -> None:
        """Move what collection owes."""
        while self._owed >= 1 and self._victim is not None:
            self._owed -= self._collect(min(int(self._owed), max(1, self._superblock_units - self._filled)))
            if self._filled >= self._superblock_units:
                self._open_next()

    def _open_next(self) -> None:
        """The open superblock is full: take an erased one, and collect another while it fills."""
        self._filled = max(0, self._filled - self._superblock_units)
        if self._open.used:
            self._closed.append(self._open)
        self._open = self._free.popleft()
        self.opened += self._open.used
        self._open.used = True
        while not self._free:  # collection has not kept pace: what it had to do is done now
            if self._victim is None:
                self._choose()
            self._collect(self._superblock_units)
        if self._victim is None and len(self._free) < RESERVE:
            self._choose()

    def _choose(self) -> None:
        """Begin to collect the superblock that holds least."""
        scale = self.scale
        index, least = -1, float(self._superblock_units)
        for i, block in enumerate(self._closed):
            valid = block.tracked + block.in_order + block.anonymous * scale
            if valid < least:
                index, least = i, valid
        if index < 0:
            if not self._free:
                raise ModelError("every superblock of the flash holds only valid data")
            return
        self._victim = self._closed.pop(index)
        self._position = 0
        self._pace = max(0.0, least) / (self._superblock_units - least)
        self._owed = 0.0
        if least < 1:
            self._collect(1)

    def _collect(self, most: int) -> int:
        """Move at most `most` units of the victim (a chunk more), and free it when it is empty; units moved."""
        victim = self._victim
        assert victim is not None
        moved = 0
        if victim.in_order > 0:
            moved = min(most, victim.in_order)
            victim.in_order -= moved
            share = moved / self.scale
            self._anonymous += moved
            self._weight += share
            self._open.anonymous += share
            self._in_order = [None if block is victim else block for block in self._in_order]
        if victim.anonymous:
            scale = self.scale
            here = min(most - moved, int(victim.anonymous * scale)) if scale else 0
            # The rest of less than a unit goes with the last.
            share = here / scale if scale and (victim.anonymous * scale - here) >= 1 else victim.anonymous
            victim.anonymous -= share
            self._open.anonymous += share
            moved += here
        self._filled += moved
        log, position = victim.log, self._position
        while moved < most and position < len(log):
            moved += self._move(log[position], victim)
            position += 1
        self._position = position
        self.moved_units += moved
        if position == len(log) and not victim.anonymous and victim.in_order <= 0:
            victim.log = []
            victim.tracked = victim.in_order = 0
            self._victim = None
            self._free.append(victim)
            if len(self._free) < RESERVE:
                self._choose()
        return moved

    def _move(self, entry: int, source: Superblock) -> int:
        """Write to the open superblock what is still valid of an entry in the log of `source`; how many units."""
        block = self._open
        if entry >= 0:
            if self.units.get(entry) is not source:
                return 0
            self.units[entry] = block
            moved = 1
        else:
            chunk = ~entry
            if self.chunks.get(chunk) is not source:
                return 0
            self.chunks[chunk] = block
            start = chunk * self.chunk_units
            units = self.units
            moved = self.chunk_units
            if units:
                moved -= sum(unit in units for unit in range(start, start + moved))
        source.tracked -= moved
        block.tracked += moved
        block.log.append(entry)
        self._filled += moved
        return moved
