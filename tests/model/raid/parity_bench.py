"""A parity array of recorders: chunks of 64 KiB, left-symmetric rows, members that take 1 ms a request.

On four disks row 0 is data 0, 1, 2 and P on 3; row 1 has P on 2 and begins on 3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from raidsim.model.block.single_queue import BlockQueue, PlugSettings
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE
from raidsim.model.layouts import ParityLayout, layout_for
from raidsim.model.raid.metadata.journal import Journal
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders

CHUNK = 64 * KIB
PAGE = 4 * KIB


class Bench:
    """A parity array of recorders."""

    def __init__(
        self,
        members: int = 4,
        level: str = "raid5",
        failed: tuple[int, ...] = (),
        rebuilding: tuple[int, ...] = (),
        capacity: int = 64 * MIB,
        queued: bool = False,
        prices: dict[str, float] | None = None,
        cores: int = 1,
        **settings: Any,
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine, cores)
        host = None if prices is None else Host(self.cpu, replace(FREE, **prices))
        self.disks: list[Recorder] = recorders(self.engine, members, capacity)
        devices: list[Any] = list(self.disks)
        if queued:  # queues that let go only when somebody waits
            plug = PlugSettings(0, 0.0)
            devices = [
                BlockQueue(self.engine, Host(self.cpu), disk, Noop(128 * KIB), 1, MIB, 1 << 30, plug)
                for disk in self.disks
            ]
        layout = layout_for(level, members, CHUNK, [capacity] * members)
        assert isinstance(layout, ParityLayout)
        self._layout = layout
        self._settings = ParitySettings(**settings)
        self._host = host
        self._failed = failed
        self.use_members(devices)
        for slot in rebuilding:
            self.array.rebuild_onto(slot)

    def use_members(self, members: list[Any], journal: Journal | None = None) -> None:
        """Make the array anew, of other members or with a journal."""
        self.array = ParityArray(
            self.engine, "md0", members, self._layout, self._settings, self._host, self._failed, journal
        )
        self.issuer = Issuer(self.engine, self.array)

    def reads(self) -> list[list[tuple[int, int]]]:
        """Bytes read of every member."""
        return [disk.covered(READ) for disk in self.disks]

    def writes(self) -> list[list[tuple[int, int]]]:
        """Bytes written of every member."""
        return [disk.covered(WRITE) for disk in self.disks]

    def forget(self) -> None:
        """Forget what was written down."""
        for disk in self.disks:
            disk.log.clear()

    def times(self) -> list[float]:
        """When requests were complete."""
        return [now for now, _, _ in self.issuer.done]
