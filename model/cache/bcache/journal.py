"""bcache's journal and the leaves of its tree: keys are in the journal at once or within 100 ms, in the tree later.

A journal entry takes a block; while one is written, the next gathers. A leaf is written when it has a page of new keys.
Source: Linux 6.1, drivers/md/bcache/journal.c (bch_journal, bch_journal_meta, journal_write_unlocked), btree.c
(bch_btree_leaf_dirty).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...core.device import Device
from ...core.engine import Engine
from ...core.request import ASYNC, DAEMON_ISSUER, WRITE, WRITE_THROUGH, Request

DELAY_S: Final = 0.1
KEY_BYTES: Final = 24
_LEAF_BYTES: Final = 4048
_HEADER: Final = 120
"""Bytes of an entry before its keys: sequence numbers, and the place of the tree's root."""


class BcacheJournal:
    """The journal of a cache.

    Parameters
    ----------
    engine
        The clock.
    device
        The cache's device.
    begin, size
        Where the journal is (bytes); the leaf that is being filled lies behind it.
    block_bytes
        Bytes of a block.

    Attributes
    ----------
    writes
        Entries written so far.
    """

    __slots__ = (
        "_at",
        "_begin",
        "_block",
        "_device",
        "_engine",
        "_keys",
        "_leaf_keys",
        "_size",
        "_timer",
        "_waiting",
        "_writing",
        "writes",
    )

    def __init__(self, engine: Engine, device: Device, begin: int, size: int, block_bytes: int) -> None:
        self._engine = engine
        self._device = device
        self._begin = begin
        self._size = size
        self._block = block_bytes
        self._at = 0
        self._keys = self._leaf_keys = 0
        self._waiting: list[Callable[[], None]] = []
        self._timer: Any = None
        self._writing = False
        self.writes = 0

    def add(self, keys: int) -> None:
        """Keys are to be written within 100 ms."""
        self._keys += keys
        if self._timer is None and not self._writing:
            self._timer = self._engine.call_at(self._engine._now + DELAY_S, self._due)

    def to_tree(self, keys: int) -> None:
        """Keys come into the tree; a leaf with a page of new ones is written."""
        self._leaf_keys += keys
        if self._leaf_keys * KEY_BYTES > _LEAF_BYTES:
            self._leaf_keys = 0
            size = -(-_LEAF_BYTES // self._block) * self._block
            self._device.submit(Request(WRITE, self._begin + self._size, size, _ignore, DAEMON_ISSUER, ASYNC))

    def sync(self, then: Callable[[], None]) -> None:
        """Write what there is, an entry without keys even, and go on with `then`."""
        self._waiting.append(then)
        if not self._writing:
            self._write()

    def _due(self, _: Any) -> None:
        self._timer = None
        if not self._writing:
            self._write()

    def _write(self) -> None:
        if self._timer is not None:
            self._engine.cancel(self._timer)
            self._timer = None
        self._writing = True
        waiting, self._waiting = self._waiting, []
        size = -(-(_HEADER + self._keys * KEY_BYTES) // self._block) * self._block
        self._keys = 0
        if self._at + size > self._size:
            self._at = 0
        offset = self._begin + self._at
        self._at += size

        def written(_: Request) -> None:
            self._writing = False
            self.writes += 1
            for then in waiting:
                then()
            if self._waiting and not self._writing:
                self._write()
            elif self._keys and self._timer is None and not self._writing:
                self.add(0)

        self._device.submit(Request(WRITE, offset, size, written, DAEMON_ISSUER, WRITE_THROUGH))


def _ignore(_: Request) -> None:
    """Nobody waits for a leaf."""
