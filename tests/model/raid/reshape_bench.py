"""A small array of recorders that is being reshaped: chunks of 64 KiB, members that take 1 ms a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raidsim.model.block.kernel_thread import KernelThread
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.layouts import ParityLayout, Raid10Layout, layout_for
from raidsim.model.raid.mirrors.barrier import AlternatingBarrier
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import READ_BALANCE, Mirrors, balance
from raidsim.model.raid.reshape.array import ReshapingArray
from raidsim.model.raid.reshape.geometry import Geometry
from raidsim.model.raid.reshape.parity import ReshapingParityArray
from raidsim.model.raid.reshape.raid10 import ReshapingRaid10Array
from raidsim.model.raid.resync.settings import ResyncSettings
from raidsim.model.raid.resync.thread import Resync
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders

CHUNK = 64 * KIB
MEMBER = 6 * MIB
SETTINGS = ParitySettings(hold=None, direct_reads=True)


def geometry(
    old: tuple[str, int, Any],
    new: tuple[str, int, Any],
    chunks: tuple[int, int] = (CHUNK, CHUNK),
    moved: int | None = None,
) -> Geometry:
    """From one (level, members, algorithm) to another."""
    layouts = []
    for (level, members, algorithm), chunk in zip((old, new), chunks, strict=True):
        layout = layout_for(level, members, chunk, [MEMBER] * members, algorithm)
        assert isinstance(layout, ParityLayout | Raid10Layout)
        layouts.append(layout)
    return Geometry(layouts[0], layouts[1], moved)


def raid10(engine: Engine, members: Any, layout: Raid10Layout) -> Raid10Array:
    """A RAID 10 as Linux 6.1 reads it."""
    mirrors = Mirrors(("",) * len(members), (True,) * len(members), near=layout.algorithm == "near")
    name = "md-6.1"
    return Raid10Array(engine, "md0", members, layout, READ_BALANCE[name].for_members(mirrors, balance(name)))


class Watched(Recorder):
    """A recorder that shows what is written before it is."""

    def __init__(self, engine: Engine, name: str, capacity: int) -> None:
        super().__init__(engine, name, capacity)
        self.watch: Callable[[int, int], None] = lambda offset, size: None

    def submit(self, request: Request) -> None:
        if request.op == WRITE:
            self.watch(request.offset, request.size)
        super().submit(request)


class Bench:
    """An array and the thread that reshapes it."""

    def __init__(self, plan: Geometry, position: int = 0, speed: float = 1e12, unit: int | None = None) -> None:
        self.engine = engine = Engine()
        self.disks = [Watched(engine, f"d{slot}", MEMBER + plan.moved) for slot in range(plan.new.members)]
        self.array: ReshapingArray
        step = max(plan.old.chunk_bytes, plan.new.chunk_bytes)
        if isinstance(plan.new, ParityLayout):
            self.array = ReshapingParityArray(engine, "md0", self.disks, plan, SETTINGS, None, position, unit)
            start = self.array.progress // plan.new.data_members
        else:
            step = CHUNK
            self.array = ReshapingRaid10Array(
                engine,
                "md0",
                self.disks,
                plan,
                lambda members, layout: raid10(engine, members, layout),
                AlternatingBarrier,
                31,
                position=position,
            )
            start = self.array.progress
        pace = ResyncSettings(1000 * KIB, speed, step, 2 * CHUNK, 256, sees_load=False, when_busy="drain")
        self.array.resync_thread = thread = KernelThread(engine, self.array.members)
        self.resync = Resync(engine, self.array, pace, start, warm=False, action="reshape", thread=thread)
        self.issuer = Issuer(engine, self.array)

    def begin(self) -> None:
        """Start the thread."""
        self.engine.spawn(self.resync.run())

    def run(self) -> None:
        """Reshape everything."""
        self.begin()
        self.engine.run(until=600.0)

    def moved(self, op: int) -> list[int]:
        """Bytes that each member has read or written, but for superblocks."""
        return [sum(size for _, size in disk.sent(op) if size > 512) for disk in self.disks]


def fresh(plan: Geometry) -> tuple[list[Recorder], Issuer]:
    """An array that was made in the new layout."""
    engine = Engine()
    disks = recorders(engine, plan.new.members, MEMBER + plan.moved)
    if isinstance(plan.new, ParityLayout):
        return disks, Issuer(engine, ParityArray(engine, "md0", disks, plan.new, SETTINGS))
    assert isinstance(plan.new, Raid10Layout)
    return disks, Issuer(engine, raid10(engine, disks, plan.new))


def ios(capacity: int) -> list[tuple[int, int, int]]:
    """Some reads and writes: (direction, offset, size)."""
    places = [0, 3 * CHUNK + 4 * KIB, capacity // 2 // CHUNK * CHUNK, capacity - 2 * CHUNK]
    return [(op, at, size) for at in places for size in (4 * KIB, CHUNK, 2 * CHUNK) for op in (READ, WRITE)]
