"""A slow device behind a fast one, of known service time, and one I/O after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import DIRECT, READ, WAITED, WRITE, Request
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

KIB, MIB = 1 << 10, 1 << 20
SLOW_S, FAST_S = 5e-3, 1e-4


class NotedDevice(FixedServiceDevice):
    """A device that notes what it is asked, flushes as well."""

    def __init__(self, engine: Engine, name: str, capacity: int, service_s: float, log: list[tuple[str, ...]]) -> None:
        super().__init__(engine, name, capacity, lambda size, op: service_s)
        self.log = log

    def submit(self, request: Request) -> None:
        """Note and serve a request."""
        self.log.append((self.name, "read" if request.op == READ else "write"))
        super().submit(request)

    def flush(self, done: Callable[[], None]) -> None:
        """Note a flush."""
        self.log.append((self.name, "flush"))
        done()


class Laboratory:
    """The devices and a clock."""

    def __init__(self, origin: int = 256 * MIB, cache: int = 16 * MIB) -> None:
        self.engine = Engine(0)
        self.host = Host(Cpu(self.engine))
        self.log: list[tuple[str, ...]] = []
        self.origin = NotedDevice(self.engine, "origin", origin, SLOW_S, self.log)
        self.fast = NotedDevice(self.engine, "fast", cache, FAST_S, self.log)
        self.metadata = NotedDevice(self.engine, "metadata", 16 * MIB, FAST_S, self.log)

    def run(
        self, device: Device, op: int, offsets: Iterable[int], size: int = 4 * KIB, sync: int = DIRECT
    ) -> list[float]:
        """One I/O after another; their response times (s)."""
        times = []
        for offset in offsets:
            over: list[Request] = []
            began = self.engine.now
            device.submit(Request(op, offset, size, over.append, 1, WAITED if op == READ else sync))
            while not over:
                self.engine.step()
            times.append(self.engine.now - began)
        return times

    def flush(self, device: Device) -> None:
        """Flush a device and wait."""
        over: list[bool] = []
        device.flush(lambda: over.append(True))
        while not over:
            self.engine.step()

    def rest(self, seconds: float) -> None:
        """Let time pass without I/O."""
        self.engine.run(until=self.engine.now + seconds)

    def count(self, device: str, kind: str) -> int:
        """Requests of a kind that a device has had since this was last asked for anything."""
        return sum(entry == (device, kind) for entry in self.log)


__all__ = ["FAST_S", "KIB", "MIB", "READ", "SLOW_S", "WRITE", "Laboratory"]
