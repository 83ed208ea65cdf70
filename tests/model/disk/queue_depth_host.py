"""A host that keeps a number of commands at one hard disk, for the tests of its caches."""

from __future__ import annotations

from collections.abc import Iterable

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec


class QueueDepthHost:
    """Submits the next command when one is complete."""

    depth = 4
    """Queue depth unless a test says otherwise."""

    def __init__(self, spec: DriveSpec) -> None:
        self.engine = Engine(seed=1)
        self.disk = HardDisk(self.engine, spec, "sda")

    def run(self, operations: Iterable[tuple[int, int, int]], depth: int | None = None) -> float:
        """Seconds that (operation, offset, size) take at a queue depth."""
        began, source = self.engine.now, iter(operations)

        def following(_: object = None) -> None:
            operation = next(source, None)
            if operation is not None:
                self.disk.submit(Request(*operation, following))

        for _ in range(self.depth if depth is None else depth):
            following()
        self.engine.run()
        return self.engine.now - began
