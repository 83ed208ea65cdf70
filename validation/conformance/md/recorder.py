"""A member that only writes down what it is sent, as a null block device under a tracepoint does."""

from __future__ import annotations

from typing import NamedTuple

from ....model.core.device import Device
from ....model.core.discard_limits import DiscardLimits, refused
from ....model.core.engine import Engine
from ....model.core.request import Call, Request
from ....model.raid.metadata.superblock import SECTOR, MetadataWrite
from ....model.schedulers import QueuedRequest

COMPLETION_S = 100e-6
"""After this long the recorded members (null_blk) completed a request, whatever its size."""


class SentRequest(NamedTuple):
    """What a member was sent.

    Attributes
    ----------
    op
        ``READ``, ``WRITE`` or ``TRIM``.
    offset, size
        Bytes, from the beginning of the data; superblock and bitmap lie before that, at negative offsets.
    """

    op: int
    offset: int
    size: int


class RecordingMember(Device):
    """A member that serves any number of requests at once, each in the same time, and notes them.

    Parameters
    ----------
    engine
        The clock.
    name
        Shown in results.
    capacity
        Bytes.
    completion_s
        Seconds from a request's arrival to its completion.
    discard_bytes
        The largest discard; 0 if it takes none.

    Attributes
    ----------
    log
        What it was sent, in order.
    """

    __slots__ = ("_completion_s", "_discard_bytes", "_engine", "_finished", "log")

    def __init__(
        self,
        engine: Engine,
        name: str,
        capacity: int,
        completion_s: float = COMPLETION_S,
        discard_bytes: int = 0,
    ) -> None:
        self._engine = engine
        self._discard_bytes = discard_bytes
        self._completion_s = completion_s
        self._finished = Call(_complete)
        self.name = name
        self.capacity = capacity
        self.log: list[SentRequest] = []

    @property
    def discard_limits(self) -> DiscardLimits:
        """Discards of whole sectors, if it takes any."""
        if not self._discard_bytes:
            return refused(f"{self.name} takes no discards")
        return DiscardLimits(SECTOR, self._discard_bytes)

    def submit(self, request: Request) -> None:
        """Note the request, and complete it when its time is over."""
        now = self._engine.now
        request.submitted = now
        whole = request.parts[0] if isinstance(request, QueuedRequest) else request
        offset = whole.sector * SECTOR if isinstance(whole, MetadataWrite) else request.offset
        self.log.append(SentRequest(request.op, offset, request.size))
        self._engine.complete(request, self._finished, now + self._completion_s)

    def take(self) -> list[SentRequest]:
        """What it was sent since the last time this was asked."""
        sent, self.log = self.log, []
        return sent


def _complete(request: Request) -> None:
    request.complete()
