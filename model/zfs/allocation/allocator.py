"""Where a pool puts blocks: vdevs take turns, each gets a run of blocks, and a full pool splits blocks into gangs.

Source: module/zfs/metaslab.c (metaslab_alloc_dva, metaslab_aliquot), module/zfs/zio.c (zio_write_gang_block).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from mypy_extensions import i64

from ...core.errors import ModelError
from ..map.pool import LOG, NORMAL, SPECIAL, PoolMap
from ..map.raidz import Raidz
from ..map.vdev import Vdev
from .fill import Fill
from .metaslabs import LOG_LEAST_COUNT, Metaslabs

ALIQUOT: Final = 1 << 20
"""Bytes that a vdev gets before the next one's turn, for each of its data members (metaslab_aliquot)."""
COPIES: Final = 3
LOG_WRITER: Final = 3
DEFERRED_GROUPS: Final = 2
"""Transaction groups until freed space is used again (TXG_DEFER_SIZE)."""
GANG_MEMBERS: Final = 3
"""Blocks that a gang header of 512 bytes points to (SPA_GBH_NBLKPTRS)."""
_SMALLEST: Final = 512


class Place(NamedTuple):
    """Where a block, or a part of a gang, is.

    Attributes
    ----------
    vdev, offset
        Number of the vdev, and the DVA offset (bytes).
    psize
        Bytes of it.
    """

    vdev: int
    offset: int
    psize: int


def aliquot(vdev: Vdev) -> int:
    """Bytes that a vdev gets in its turn (vdev_get_ndisks less vdev_get_nparity)."""
    return ALIQUOT * (vdev.members - vdev.parity if isinstance(vdev, Raidz) else 1)


class Allocator:
    """The free space of a pool.

    Parameters
    ----------
    pool
        Its vdevs, and what each is for.
    fills
        What of each vdev is in use at the beginning.
    gathers
        If true, freed space is remembered, to be trimmed.

    Attributes
    ----------
    metaslabs
        Of each vdev.
    """

    __slots__ = ("_deferred", "_left", "_pool", "_roles", "_turn", "metaslabs")

    def __init__(self, pool: PoolMap, fills: Sequence[Fill], gathers: bool = False) -> None:
        self._pool = pool
        self.metaslabs = [Metaslabs(fill, COPIES + 1, gathers) for fill in fills]
        self._roles = {role: pool.of_role(role) for role in (NORMAL, SPECIAL, LOG)}
        self._turn = dict.fromkeys(self._roles, 0)
        self._left = dict.fromkeys(self._roles, 0)
        self._deferred: list[list[Place]] = [[] for _ in range(DEFERRED_GROUPS + 1)]

    def allocate(self, psize: int, role: str = NORMAL, copies: int = 1) -> list[Place]:
        """Space for a block: one place a copy, or more if it is split into a gang.

        A class of vdevs that the pool does not have, or that is full, is replaced by the normal one.

        Raises
        ------
        ModelError
            If the pool is full.
        """
        chosen = role if self._roles[role] else NORMAL
        found: list[Place] = []
        for copy in range(copies):
            place = self._one(psize, chosen, copy)
            if place is None and chosen != NORMAL:
                place = self._one(psize, NORMAL, copy)
            if place is None:
                found += self._gang(psize)
            else:
                found.append(place)
        return found

    def allocate_log(self, psize: int) -> Place:
        """Space for a block of the intent log: on a log device, or in the metaslab that a vdev keeps for it."""
        role = LOG if self._roles[LOG] else NORMAL
        place = self._one(psize, role, LOG_WRITER)
        if place is None:
            raise ModelError(f"no room for a log block of {psize} bytes")
        return place

    def free(self, place: Place) -> None:
        """Free a block's space; it is used again two transaction groups later."""
        self._deferred[-1].append(place)

    def group_done(self) -> None:
        """A transaction group is on disk."""
        for place in self._deferred.pop(0):
            self.metaslabs[place.vdev].free(place.offset, self._pool.vdevs[place.vdev].asize(place.psize))
        self._deferred.append([])

    def _one(self, psize: i64, role: str, writer: i64) -> Place | None:
        """A place on the vdev whose turn it is, or on the next one that has room."""
        numbers = self._roles[role]
        turn = self._turn[role]
        for step in range(len(numbers)):
            number = numbers[(turn + step) % len(numbers)]
            vdev, metaslabs = self._pool.vdevs[number], self.metaslabs[number]
            asize = vdev.asize(psize)
            used = writer
            if writer == LOG_WRITER and (role == LOG or metaslabs.count < LOG_LEAST_COUNT):
                used = 0
            offset = metaslabs.allocate(asize, used)
            if offset >= 0:
                if step:
                    self._turn[role] = (turn + step) % len(numbers)
                    self._left[role] = 0
                self._left[role] += asize
                if self._left[role] >= aliquot(vdev):
                    self._turn[role] = (self._turn[role] + 1) % len(numbers)
                    self._left[role] = 0
                return Place(number, offset, psize)
        return None

    def _gang(self, psize: int) -> list[Place]:
        """A header and the smaller blocks that it points to."""
        if psize <= _SMALLEST:
            raise ModelError("the pool is full")
        header = self._one(_SMALLEST, NORMAL, 0)
        if header is None:
            raise ModelError("the pool is full")
        part = -(-psize // GANG_MEMBERS // _SMALLEST) * _SMALLEST
        found = [header]
        while psize > 0:
            size = min(part, psize)
            place = self._one(size, NORMAL, 0)
            found += self._gang(size) if place is None else [place]
            psize -= size
        return found
