"""A part of a device, at its place and, in a run at a scale, spread out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ
from raidsim.model.memory.partition import STRETCH_BYTES, Partition
from raidsim.tests.model.memory.page_cache_bench import Disk
from raidsim.tests.model.recording import MIB, Issuer, Recorder

GIB = 1 << 30


def sent(start: int, size: int, stretch: int, *offsets: int) -> list[int]:
    """Where reads at `offsets` of a partition arrive on a device of 64 GiB."""
    engine = Engine()
    disk = Disk(engine, capacity=64 * GIB)
    issuer = Issuer(engine, Partition(disk, start, size, stretch))
    for offset in offsets:
        issuer.read(offset, 4096)
    engine.run()
    return [offset for offset, _ in disk.sent(READ)]


def test_a_partition_begins_where_it_begins() -> None:
    """Protects inner zones: byte n of the partition is byte start + n of the device."""
    assert sent(10 * GIB, GIB, 1, 0, 4096, 5 * MIB) == [10 * GIB, 10 * GIB + 4096, 10 * GIB + 5 * MIB]


def test_a_stretched_partition_keeps_pieces_together_and_spreads_them() -> None:
    """Protects seeks at a scale: within 128 MiB neighbors stay neighbors, pieces are as far apart as in a whole run,
    and the whole of the device is in reach.
    """
    piece = STRETCH_BYTES
    offsets = (0, piece - 4096, piece, 3 * piece + 8192)
    assert sent(GIB, 32 * GIB, 8, *offsets) == [GIB, GIB + piece - 4096, GIB + 8 * piece, GIB + 24 * piece + 8192]
    assert sent(GIB, 32 * GIB, 1, *offsets) == [GIB + offset for offset in offsets]


@pytest.mark.parametrize("stretch", [1, 2, 8, 64])
def test_a_stretched_partition_ends_within_the_device(stretch: int) -> None:
    """Protects from I/O past the end: the last byte of a partition of any scale is on the device."""
    size = 32 * GIB + 77 * MIB
    disk = Disk(Engine(), capacity=64 * GIB)
    capacity = Partition(disk, GIB, size, stretch).capacity
    assert 0 < capacity <= size // stretch
    (offset,) = sent(GIB, size, stretch, capacity - 4096)
    assert GIB <= offset <= GIB + size - 4096


class FullQueue(Recorder):
    """A device whose queue is full until it is unplugged."""

    __slots__ = ("has_room", "waiting")

    has_room: bool

    def __init__(self) -> None:
        super().__init__(Engine())
        self.has_room = False
        self.waiting: list[Callable[[], Any]] = []

    def when_room(self, callback: Callable[[], Any]) -> None:
        self.waiting.append(callback)

    def unplug(self) -> None:
        self.has_room = True
        for callback in self.waiting:
            callback()


def test_room_and_plugs_are_the_devices() -> None:
    """Protects write-back: a partition has room when the device's queue has, and has the name messages know."""
    partition = Partition(FullQueue(), 0, 32 * MIB)
    called: list[bool] = []
    partition.when_room(lambda: called.append(True))
    assert (partition.name, partition.has_room, called) == ("d", False, [])
    partition.unplug()
    assert (partition.has_room, called) == (True, [True])
