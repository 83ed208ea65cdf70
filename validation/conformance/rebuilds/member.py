"""The members of the recordings of rebuilds: one request at a time, of known service time and seek time.

The recorded driver serves one request at a time and may hold more of them. It takes the oldest, or the one that is
nearest to where the last one ended, unless one has waited for a second. A request has a fixed time, a time a byte and,
unless it begins where the last one ended, a seek of a fixed time and one with the square root of the distance.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from ....model.core.device import Device
from ....model.core.engine import Engine
from ....model.core.request import Call, Request

WAITED_LONG_S = 1.0
"""A request that has waited for so long goes before nearer ones."""


@dataclass(frozen=True, slots=True)
class MemberKind:
    """A recorded member.

    Attributes
    ----------
    fixed_s, byte_s
        Time of a request, and of each of its bytes (s).
    seek_s, stroke_s
        Time of a seek, and what the square root of its distance, as a part of the capacity, adds to that (s).
    capacity
        Bytes.
    holds
        Requests that the driver takes.
    nearest
        Whether it takes the nearest of them first.
    scheduler_requests
        nr_requests of mq-deadline; 0 without a scheduler.
    max_request_bytes
        max_sectors_kb of its queue.
    rotational
        Whether its queue says that it turns.
    """

    fixed_s: float
    byte_s: float
    seek_s: float
    stroke_s: float
    capacity: int
    holds: int
    nearest: bool
    scheduler_requests: int
    max_request_bytes: int
    rotational: bool


class SeekingMember(Device):
    """A member in time.

    Parameters
    ----------
    engine
        The clock.
    name
        Shown in messages.
    kind
        What is known of it.
    latency_s
        From the end of a service to its completion (s).

    Attributes
    ----------
    requests
        Requests completed.
    moved_bytes
        What they moved.
    busy_s
        How long (s) a request was in the driver, completed ones only.
    """

    __slots__ = (
        "_at",
        "_engine",
        "_finished",
        "_kind",
        "_latency_s",
        "_serves",
        "_waiting",
        "busy_s",
        "moved_bytes",
        "requests",
    )

    def __init__(self, engine: Engine, name: str, kind: MemberKind, latency_s: float = 0.0) -> None:
        self._engine = engine
        self.name = name
        self.capacity = kind.capacity
        self._kind = kind
        self._latency_s = latency_s
        self._waiting: deque[Request] = deque()
        self._serves = False
        self._at = 0
        self._finished = Call(self._complete)
        self.start_statistics()

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        self.requests = self.moved_bytes = 0
        self.busy_s = 0.0

    def submit(self, request: Request) -> None:
        """Accept a request; it is served when its turn comes."""
        request.submitted = self._engine._now
        self._waiting.append(request)
        if not self._serves:
            self._serve()

    def service_s(self, request: Request) -> float:
        """Time (s) of a request from where the member stands."""
        kind = self._kind
        size: int = request.size
        seconds = kind.fixed_s + size * kind.byte_s
        distance = self._distance(request)
        if distance and (kind.seek_s or kind.stroke_s):
            seconds += kind.seek_s + kind.stroke_s * math.sqrt(distance / kind.capacity)
        return seconds

    def _distance(self, request: Request) -> int:
        """Bytes from where the member stands to where a request begins."""
        begin: int = request.offset
        return abs(begin - self._at)

    def _serve(self) -> None:
        request = self._choose()
        seconds = self.service_s(request)
        self._serves = True
        self._at = request.offset + request.size
        self.busy_s += seconds
        self._engine.complete(request, self._finished, self._engine._now + seconds + self._latency_s)

    def _choose(self) -> Request:
        waiting = self._waiting
        oldest = waiting[0]
        if not self._kind.nearest or self._engine._now - oldest.submitted >= WAITED_LONG_S:
            return waiting.popleft()
        nearest = min(waiting, key=self._distance)
        waiting.remove(nearest)
        return nearest

    def _complete(self, request: Request) -> None:
        self.requests += 1
        self.moved_bytes += request.size
        self._serves = False
        if self._waiting:
            self._serve()
        request.complete()
