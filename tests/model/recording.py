"""A device of known service time that writes down what it is sent."""

from __future__ import annotations

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, WRITE, Request

KIB = 1024
MIB = 1 << 20


class Recorder(FixedServiceDevice):
    """1 ms a request, one at a time, unless said otherwise."""

    __slots__ = ("log",)

    def __init__(
        self,
        engine: Engine,
        name: str = "d",
        capacity: int = 64 * MIB,
        service_s: float = 0.001,
        servers: int = 1,
        per_byte_s: float = 0.0,
    ) -> None:
        super().__init__(engine, name, capacity, linear_service(service_s, per_byte_s), servers)
        self.log: list[tuple[int, int, int]] = []

    def submit(self, request: Request) -> None:
        self.log.append((request.op, request.offset, request.size))
        super().submit(request)

    def sent(self, op: int) -> list[tuple[int, int]]:
        """(offset, size) of the requests of one direction, in order."""
        return [(offset, size) for kind, offset, size in self.log if kind == op]

    def covered(self, op: int) -> list[tuple[int, int]]:
        """The same bytes as sorted (offset, size) runs."""
        runs: list[list[int]] = []
        for offset, size in sorted(self.sent(op)):
            if runs and runs[-1][0] + runs[-1][1] >= offset:
                runs[-1][1] = max(runs[-1][1], offset + size - runs[-1][0])
            else:
                runs.append([offset, size])
        return [(offset, size) for offset, size in runs]


class Issuer:
    """Sends requests to one device and writes down when they are complete."""

    def __init__(self, engine: Engine, device: object) -> None:
        self.engine = engine
        self.device = device
        self.done: list[tuple[float, int, int]] = []

    def send(self, op: int, offset: int, size: int, issuer: int = 1, sync: bool = True) -> Request:
        """Send one now."""
        request = Request(op, offset, size, self._done, issuer, sync)
        self.device.submit(request)  # type: ignore[attr-defined]
        return request

    def read(self, offset: int, size: int, issuer: int = 1) -> Request:
        """Send a read now."""
        return self.send(READ, offset, size, issuer)

    def write(self, offset: int, size: int, issuer: int = 1, sync: bool = False) -> Request:
        """Send a write now; nobody waits for it unless `sync`."""
        return self.send(WRITE, offset, size, issuer, sync)

    def _done(self, request: Request) -> None:
        self.done.append((self.engine.now, request.op, request.offset))

    @property
    def order(self) -> list[int]:
        """Offsets in order of completion."""
        return [offset for _, _, offset in self.done]


def recorders(engine: Engine, count: int, capacity: int = 64 * MIB, servers: int = 1) -> list[Recorder]:
    """Equal members d0, d1 ..."""
    return [Recorder(engine, f"d{slot}", capacity, servers=servers) for slot in range(count)]
