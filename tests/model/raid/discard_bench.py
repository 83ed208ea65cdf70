"""Recorders that take discards."""

from __future__ import annotations

from typing import Any

from raidsim.model.core.discard_limits import DiscardLimits
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import ASYNC, TRIM, Request
from raidsim.tests.model.recording import MIB, Recorder


class Taker(Recorder):
    """A recorder that takes discards, up to `most_bytes` at once."""

    __slots__ = ("granularity", "most_bytes")

    def __init__(
        self,
        engine: Engine,
        name: str = "d",
        capacity: int = 64 * MIB,
        most_bytes: int = 1 << 31,
        granularity: int = 512,
    ) -> None:
        super().__init__(engine, name, capacity, servers=32)
        self.most_bytes = most_bytes
        self.granularity = granularity

    @property
    def discard_limits(self) -> DiscardLimits:
        """What it takes."""
        return DiscardLimits(self.granularity, self.most_bytes)


def takers(engine: Engine, count: int, capacity: int = 64 * MIB) -> list[Taker]:
    """Equal members d0, d1 ..."""
    return [Taker(engine, f"d{slot}", capacity) for slot in range(count)]


def discarded(engine: Engine, device: Any, offset: int, size: int) -> float:
    """Discard a range and wait; how long that took (s)."""
    began, ends = engine.now, []
    device.submit(Request(TRIM, offset, size, lambda _: ends.append(engine.now), 1, ASYNC))
    engine.run()
    assert len(ends) == 1
    return ends[0] - began
