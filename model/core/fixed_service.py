"""A device whose service time is known: for teaching, and as the oracle's side of tests against queueing theory.

`servers` requests are served at once, first come first served; a server knows when it is free, so queueing
costs no event and a request one (its completion). With constant service it is D in Kendall's notation, with a random
one G: M/D/1, M/M/1 and their like come out of the arrivals that a test sends.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapreplace

from .device import Device
from .engine import Engine
from .errors import ModelError
from .request import READ, Call, Request


class FixedServiceDevice(Device):
    """A first-come-first-served device with a given service time.

    Parameters
    ----------
    engine
        The clock.
    name
        Shown in results.
    capacity
        Bytes.
    service_s
        Seconds to serve a request of (size in bytes, ``READ`` or ``WRITE``).
    servers
        How many requests it serves at once.

    Attributes
    ----------
    reads, writes, read_bytes, write_bytes
        Requests completed, and what they moved.
    latency_s
        Sum of the time (s) from submission to completion.
    service_sum_s
        Sum of the service times (s) of requests begun; over elapsed time and servers this is the utilization.
    busy_s
        Time (s) with at least one request in the device, up to the last submission or completion.
    """

    __slots__ = (
        "_busy_from",
        "_engine",
        "_finished",
        "_free",
        "_outstanding",
        "_service_s",
        "busy_s",
        "latency_s",
        "read_bytes",
        "reads",
        "service_sum_s",
        "write_bytes",
        "writes",
    )

    def __init__(
        self, engine: Engine, name: str, capacity: int, service_s: Callable[[int, int], float], servers: int = 1
    ) -> None:
        if servers < 1:
            raise ModelError(f"{name}: {servers} servers; at least 1")
        if capacity < 1:
            raise ModelError(f"{name}: capacity {capacity} bytes; at least 1")
        self._engine = engine
        self.name = name
        self.capacity = capacity
        self._service_s = service_s
        self._free = [0.0] * servers
        self._finished = Call(self._complete)
        self._outstanding = 0
        self.start_statistics(0.0)

    @property
    def servers(self) -> int:
        """How many requests are served at once."""
        return len(self._free)

    @property
    def outstanding(self) -> int:
        """Requests in the device."""
        return self._outstanding

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far (the warm-up); `now` is the current time (s)."""
        self.reads = self.writes = self.read_bytes = self.write_bytes = 0
        self.latency_s = self.service_sum_s = self.busy_s = 0.0
        self._busy_from = now

    def submit(self, request: Request) -> None:
        """Accept a request; `ModelError` if it is not within the capacity."""
        if request.offset < 0 or request.size <= 0 or request.offset + request.size > self.capacity:
            raise ModelError(f"{self.name}: {request!r}; expected: within the capacity of {self.capacity} bytes")
        now = self._engine._now
        request.submitted = now
        if not self._outstanding:
            self._busy_from = now
        self._outstanding += 1
        service_s = self._service_s(request.size, request.op)
        self.service_sum_s += service_s
        free = self._free
        finish = (free[0] if free[0] > now else now) + service_s
        heapreplace(free, finish)
        self._engine.complete(request, self._finished, finish)

    def _complete(self, request: Request) -> None:
        now = self._engine._now
        self._outstanding -= 1
        self.busy_s += now - self._busy_from
        self._busy_from = now
        self.latency_s += now - request.submitted
        if request.op == READ:
            self.reads += 1
            self.read_bytes += request.size
        else:
            self.writes += 1
            self.write_bytes += request.size
        request.complete()


def linear_service(per_request_s: float, per_byte_s: float = 0.0) -> Callable[[int, int], float]:
    """Service time (s) of a fixed part per request and a part per byte."""
    if per_request_s < 0 or per_byte_s < 0:
        raise ModelError(f"service of {per_request_s} s and {per_byte_s} s per byte; not negative")

    def service_s(size: int, op: int) -> float:
        return per_request_s + size * per_byte_s

    return service_s
