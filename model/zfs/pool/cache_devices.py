"""The cache devices of a pool at work: a thread feeds them, and misses of the ARC read from them.

Source: OpenZFS 2.3 module/zfs/arc.c (l2arc_feed_thread, l2arc_write_interval, arc_read).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mypy_extensions import i64

from ...core.engine import Engine
from ...core.join import Join
from ...core.request import READ, WRITE
from ...core.signal import Signal
from ..arc.second_level import UNIT, SecondLevel
from ..arc.settings import FeedSettings
from ..map.labels import FRONT_BYTES
from .leaf_queue import LeafQueue
from .member_io import ASYNC_WRITE, SYNC_READ, MemberIo


class CacheDevices:
    """Reads and writes of the L2ARC.

    Parameters
    ----------
    engine
        The clock.
    level
        Which blocks are where.
    queues
        The queues of the devices.
    settings
        Module parameters.
    issuer
        Of the writes.
    """

    __slots__ = ("_engine", "_issuer", "_queues", "_settings", "level")

    def __init__(
        self, engine: Engine, level: SecondLevel, queues: Sequence[LeafQueue], settings: FeedSettings, issuer: i64
    ) -> None:
        self._engine = engine
        self.level = level
        self._queues = list(queues)
        self._settings = settings
        self._issuer = issuer
        engine.spawn(self._feed())

    def read(self, key: i64, size: int, issuer: i64, done: Callable[[], None]) -> bool:
        """Read a block and call back, if a device holds it; returns whether one does."""
        found = self.level.find(key)
        if found is None:
            return False
        self.level.hits += 1
        device, offset = found
        length = -(-size // UNIT) * UNIT
        self._queues[device].submit(
            MemberIo(READ, offset + FRONT_BYTES, length, Join(1, done), SYNC_READ, issuer, device)
        )
        return True

    def _feed(self) -> Any:
        """Feed the devices in turn, every second."""
        engine, settings = self._engine, self._settings
        pause_s = settings.feed_s
        while True:
            due = Signal()
            engine.call_at(engine.now + pause_s, due.fire)
            yield due
            began = engine.now
            device, written, much = self.level.feed()
            if written:
                done = Signal()
                join = Join(len(written), done.fire)
                for offset, size in written:
                    io = MemberIo(WRITE, offset + FRONT_BYTES, size, join, ASYNC_WRITE, self._issuer, device)
                    self._queues[device].submit(io)
                if not done.fired:
                    yield done
            interval = settings.feed_min_s if much else settings.feed_s
            pause_s = max(0.0, began + interval - engine.now)
