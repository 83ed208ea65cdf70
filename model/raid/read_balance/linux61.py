"""Read balance of md since 3.6: RAID 1 and RAID 10 (raid1.c and raid10.c, read_balance).

Both count what is under way on each member, because a disk that does not turn gains nothing from a near head.
RAID 1 first looks for a mirror that the read continues.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.request import Request
from .base import ReadBalance
from .options import BalanceOptions, Mirrors


class Md61(ReadBalance):
    """md RAID 1 of Linux 6.1.

    In slot order, the first mirror that the read continues: it begins where the last read chosen for the mirror
    ends, or where the mirror's head is (which a write moves, too). Else the first of those with the least under way
    if there is an idle one or one that does not turn; else the nearest head. A non-rotational mirror that has
    read `optimal_io_bytes` in one go lets a later mirror that the read continues as well take over. (It is meant to
    let any idle one take over; from 4.10 until 6.9 it did not.) Write-mostly mirrors are read if there is no other.
    Above :attr:`in_sync_below` the first mirror is read.

    Parameters
    ----------
    rotational
        Whether each slot's member turns; empty for all.
    write_mostly
        Slots that are read only if no other holds the data (a 2.6.14 feature).
    optimal_io_bytes
        The members' queue/optimal_io_size; 0, as most devices say, is never reached.
    """

    __slots__ = ("_next", "_sequence_start", "_write_mostly", "optimal_io_bytes", "rotational")
    name = "md-6.1"
    knows_write_mostly = True

    def __init__(
        self,
        mirrors: int,
        rotational: Sequence[bool] = (),
        write_mostly: frozenset[int] = frozenset(),
        optimal_io_bytes: int = 0,
    ) -> None:
        super().__init__(mirrors)
        self.rotational = tuple(rotational) or (True,) * mirrors
        self.optimal_io_bytes = optimal_io_bytes
        self._write_mostly = write_mostly
        self._next = [0] * mirrors
        self._sequence_start = [-1] * mirrors

    @classmethod
    def for_members(cls, mirrors: Mirrors, options: BalanceOptions) -> Md61:
        """See :meth:`ReadBalance.for_members`."""
        return cls(len(mirrors.names), mirrors.rotational, mirrors.write_mostly)

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        offset: int = request.offset
        end: int = offset + request.size
        mirrors = self._preferred(candidates)
        slot = mirrors[0] if end > self.in_sync_below else self._balanced(offset, mirrors)
        if self._next[slot] != offset:
            self._sequence_start[slot] = offset
        self._next[slot] = end
        return slot

    def rebuild_source(self, candidates: Sequence[int]) -> int:
        """The first mirror that is not write-mostly (raid1.c, raid1_sync_request)."""
        return self._preferred(candidates)[0]

    def _preferred(self, candidates: Sequence[int]) -> Sequence[int]:
        if not self._write_mostly:
            return candidates
        return [slot for slot in candidates if slot not in self._write_mostly] or candidates[:1]

    def _balanced(self, offset: int, mirrors: Sequence[int]) -> int:
        head, following, pending = self.head, self._next, self.pending
        sequential = -1
        for slot in mirrors:
            if following[slot] == offset or head[slot] == offset:
                sequential = slot
                if not self._has_read_enough(slot):
                    break
        if sequential >= 0:
            return sequential
        calmest = min(mirrors, key=pending.__getitem__)
        if not pending[calmest] or not all(self.rotational[slot] for slot in mirrors):
            return calmest
        return self._nearest(offset, mirrors)

    def _has_read_enough(self, slot: int) -> bool:
        optimal, start = self.optimal_io_bytes, self._sequence_start[slot]
        if self.rotational[slot] or not optimal or start < 0:
            return False
        return self._next[slot] > optimal and self._next[slot] - optimal >= start


class Md36(Md61):
    """md RAID 1 of Linux 3.6 to 4.9 (checked in 3.10).

    It looks at the mirrors in slot order and takes the first one that is idle or that the read continues, so an idle
    mirror comes before a later one that the read continues. If there is none, it chooses as Linux 6.1 does: the one
    with the least under way if a mirror does not turn, else the nearest head.
    """

    __slots__ = ()
    name = "md-3.6"

    def _balanced(self, offset: int, mirrors: Sequence[int]) -> int:
        head, following, pending = self.head, self._next, self.pending
        sequential = -1
        for slot in mirrors:
            if following[slot] == offset or head[slot] == offset:
                sequential = slot
                if not self._has_read_enough(slot):
                    return slot
            elif not pending[slot]:
                return slot
        if sequential >= 0:
            return sequential
        if all(self.rotational[slot] for slot in mirrors):
            return self._nearest(offset, mirrors)
        return min(mirrors, key=pending.__getitem__)


class Md61Raid10(ReadBalance):
    """md RAID 10 of Linux 6.1.

    If a copy is on a member that does not turn: the copy, among those, whose member has the least under way, the
    first of equals. Else with near copies the first idle member, or the nearest head; with far or offset copies the
    one with the lowest member address, which makes a stripe of the fast outer halves. RAID 10 does not know
    write-mostly members. Above :attr:`in_sync_below` the first copy is read.

    Parameters
    ----------
    rotational
        Whether each slot's member turns; empty for all.
    near
        Whether the copies lie side by side (layout near), or in different parts of the members (far, offset).
    """

    __slots__ = ("near", "rotational")
    name = "md-6.1-raid10"

    def __init__(self, mirrors: int, rotational: Sequence[bool] = (), near: bool = True) -> None:
        super().__init__(mirrors)
        self.rotational = tuple(rotational) or (True,) * mirrors
        self.near = near

    @classmethod
    def for_members(cls, mirrors: Mirrors, options: BalanceOptions) -> Md61Raid10:
        """Write-mostly members are ignored, as RAID 10 does."""
        return cls(len(mirrors.names), mirrors.rotational, mirrors.near)

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        offset: int = request.offset
        end: int = offset + request.size
        if len(candidates) == 1 or end > self.in_sync_below:
            return candidates[0]
        slots = candidates if isinstance(candidates, list) else list(candidates)
        places = offsets if isinstance(offsets, list) else [offset] * len(slots) if offsets is None else list(offsets)
        pending, rotational, head, near = self.pending, self.rotational, self.head, self.near
        chosen, least = -1, 0
        for slot in slots:
            if not rotational[slot] and (chosen < 0 or pending[slot] < least):
                chosen, least = slot, pending[slot]
        if chosen >= 0:
            return chosen
        for number, slot in enumerate(slots):
            cost = places[number]
            if near:
                cost = cost - head[slot] if pending[slot] else 0
                if cost < 0:
                    cost = -cost
            if chosen < 0 or cost < least:
                chosen, least = slot, cost
        return chosen

    def rebuild_source(self, candidates: Sequence[int]) -> int:
        """The first copy there is (raid10.c, raid10_sync_request)."""
        return candidates[0]


class Md30Raid10(Md61Raid10):
    """md RAID 10 of Linux 3.0 to 5.2: as of Linux 6.1, but a member that does not turn is chosen as if it did.

    That a member without seeks is chosen by what it has under way came with "md/raid10: read balance chooses idlest
    disk for SSD" (June 2019).
    """

    __slots__ = ()
    name = "md-3.0-raid10"

    def __init__(self, mirrors: int, rotational: Sequence[bool] = (), near: bool = True) -> None:
        super().__init__(mirrors, (), near)
