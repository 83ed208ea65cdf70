"""Sequential rebuild: used space is copied in order, without looking at blocks and their checksums.

It works on a mirror, and on a dRAID whose distributed spare takes the place of a member. Source: OpenZFS 2.3
module/zfs/vdev_rebuild.c (vdev_rebuild_thread, vdev_rebuild_ranges, vdev_rebuild_range).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from mypy_extensions import i64

from ...core.engine import Engine
from ...core.signal import Signal
from ..allocation.allocator import Place
from ..allocation.fill import Fill
from ..map.vdev import Vdev
from ..pool.members import Members
from .progress import PoolScan
from .repair import Repair, lacking
from .settings import ScanSettings

LONGEST: Final = 16 << 20
"""Bytes of the largest block (SPA_MAXBLOCKSIZE)."""


class SequentialRebuild(PoolScan):
    """Rebuilds the new members of one vdev.

    Parameters
    ----------
    engine
        The clock.
    members
        Of the pool.
    vdev
        Number of the vdev.
    fill
        Which of its space is in use.
    settings
        Module parameters.
    start
        Used byte to begin with.
    issuer
        Of its I/O.
    """

    __slots__ = ("_at", "_changed", "_fill", "_issuer", "_limit", "_longest", "_under_way", "_vdev")

    def __init__(
        self,
        engine: Engine,
        members: Members,
        vdev: int,
        fill: Fill,
        settings: ScanSettings,
        start: int,
        issuer: i64,
    ) -> None:
        super().__init__(engine, members, [vdev], "rebuild", fill.used, start)
        self._vdev = vdev
        self._fill = fill
        self._at: i64 = start
        self._issuer = issuer
        top: Vdev = members.pool.vdevs[vdev]
        self._limit: i64 = settings.rebuild_vdev_limit * top.members
        self._longest: i64 = min(top.segment(settings.rebuild_segment), LONGEST)
        self._under_way: i64 = 0
        self._changed: Signal | None = None

    def run(self) -> Generator[Any, Any, None]:
        """The thread: a SimPy process."""
        while self._at < self._fill.used or self._under_way:
            if self._at < self._fill.used and self._under_way < self._limit:
                self._next()
            else:
                self._changed = Signal()
                yield self._changed
        self.finish()

    def _next(self) -> None:
        """Copy the next range."""
        vdev = self.members.pool.vdevs[self._vdev]
        offset, left = self._fill.used_range(self._at)
        psize = self._longest
        space = vdev.asize(psize)
        if space > left:
            psize = max(vdev.unit_bytes, psize * left // space // vdev.unit_bytes * vdev.unit_bytes)
            space = min(vdev.asize(psize), left)
        self._at += space
        place = Place(self._vdev, offset, psize)
        written = lacking(self.members, place, self.members.rebuilding)
        if not written:
            self.done_bytes += space
            return
        self._under_way += psize
        done = _Range(self, psize, space).done
        Repair(self.members, place, written, self._issuer, None, done, sequential=True).read()

    def ended(self, size: i64, space: i64) -> None:
        """A range is copied."""
        self._under_way -= size
        self.done_bytes += space
        changed = self._changed
        if changed is not None:
            self._changed = None
            changed.fire()


class _Range:
    """A range that is being copied."""

    __slots__ = ("_rebuild", "_size", "_space")

    def __init__(self, rebuild: SequentialRebuild, size: i64, space: i64) -> None:
        self._rebuild = rebuild
        self._size = size
        self._space = space

    def done(self) -> None:
        """It is copied."""
        self._rebuild.ended(self._size, self._space)
