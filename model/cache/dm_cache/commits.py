"""dm-cache's metadata: transactions of a copy-on-write tree, which end with a write of the superblock.

A transaction writes the leaves of the array of mappings that it has changed, the tree above them and the maps of free
space to new places, and when these are on the medium the superblock (flush + FUA). Nothing is written while no mapping
has changed. Who needs a commit waits for the next one; what comes while one runs waits for the one after.
Source: Linux 6.1, drivers/md/dm-cache-metadata.c (__commit_transaction), drivers/md/dm-cache-target.c (struct batcher,
commit_op), drivers/md/persistent-data (dm-array.c: as many values of 8 bytes as a block of 4 KiB holds).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...core.device import Device
from ...core.engine import Engine
from ...core.join import Join
from ...core.request import ASYNC, DAEMON_ISSUER, WRITE, WRITE_THROUGH, Request

BLOCK: Final = 4096
LEAF_ENTRIES: Final = 508
"""Mappings in a leaf: 8 bytes each, behind a header of 24 bytes."""
_FIRST_BLOCK: Final = 11
"""Where the first transaction after the creation writes to."""


class Commits:
    """The metadata of a cache.

    Parameters
    ----------
    engine
        The clock.
    device
        Where it lies.
    base
        Where it begins there (bytes).
    """

    __slots__ = ("_base", "_changed", "_device", "_engine", "_next", "_runs", "_waiting", "count")

    def __init__(self, engine: Engine, device: Device, base: int = 0) -> None:
        self._engine = engine
        self._device = device
        self._base = base
        self._changed: set[int] = set()
        self._waiting: list[Callable[[], None]] = []
        self._next = _FIRST_BLOCK
        self._runs = False
        self.count = 0

    def change(self, place: int) -> None:
        """Note that the mapping of a block of the cache has changed."""
        self._changed.add(place // LEAF_ENTRIES)

    def after(self, then: Callable[[], None]) -> None:
        """Commit what has changed until now, and go on with `then`."""
        self._waiting.append(then)
        if not self._runs:
            self._run()

    def _run(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not self._changed:
            self._over(waiting)
            return
        self._runs = True
        leaves = len(self._changed)
        self._changed.clear()
        # The maps of free space, the leaves with the tree above them, and the root of the tree.
        sizes = (1, leaves + 1, 1)
        join = Join(len(sizes), lambda: self._write_superblock(waiting))
        for blocks in sizes:
            offset = self._base + self._next * BLOCK
            self._next += blocks
            if (self._next + LEAF_ENTRIES) * BLOCK > self._device.capacity - self._base:
                self._next = _FIRST_BLOCK
            self._device.submit(Request(WRITE, offset, blocks * BLOCK, join, DAEMON_ISSUER, ASYNC))

    def _write_superblock(self, waiting: list[Callable[[], None]]) -> None:
        def written(_: Request) -> None:
            self.count += 1
            self._runs = False
            self._over(waiting)

        self._device.submit(Request(WRITE, self._base, BLOCK, written, DAEMON_ISSUER, WRITE_THROUGH))

    def _over(self, waiting: list[Callable[[], None]]) -> None:
        for then in waiting:
            then()
        if self._waiting and not self._runs:
            self._run()
