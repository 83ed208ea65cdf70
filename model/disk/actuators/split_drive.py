"""A hard disk with several actuators: independent arms on one spindle, each over its own part of the addresses.

Seagate's MACH.2 drives with SATA (frequently asked questions SC702.2): the first half of the addresses belongs to one
actuator, the second half to the other; the host must send commands to both at once to see twice the rate. Each actuator
is simulated as a drive of its own with its share of platters, buffer and media cache; the interface is one for all.
With SAS each actuator is a logical unit, which the catalogue lists as a drive.

Simplified: the buffer is divided once and for all, and each actuator orders its commands without regard to the others.
The angles of the platters under the arms are independent.
"""

from __future__ import annotations

from collections.abc import Callable

from ...core.device import Device
from ...core.discard_limits import DiscardLimits
from ...core.engine import Engine
from ...core.errors import ModelError
from ...core.exact_sums import sum_in_order
from ...core.join import FORWARD, Join, Parts
from ...core.request import Completion, Request
from ...links.link import AtaChannel, Link, Path
from ..hard_disk import HardDisk
from ..spec import DriveSpec


class SplitDrive(Device):
    """A drive with several actuators.

    Parameters
    ----------
    engine
        The clock.
    spec
        The drive's data, of all actuators together.
    name
        Shown in results.
    path
        Links beyond the drive's own interface.
    channel
        The ATA channel that its actuators take turns on with each other, if any.
    own_cable
        Whether the first link of `path` moves data of no other drive.

    Attributes
    ----------
    parts
        What each actuator serves, as a drive: the lowest addresses first.
    """

    __slots__ = ("_each", "parts", "spec")

    def __init__(
        self,
        engine: Engine,
        spec: DriveSpec,
        name: str,
        path: Path = Path(()),  # noqa: B008 - immutable
        channel: AtaChannel | None = None,
        own_cable: bool = False,
    ) -> None:
        self.spec = spec
        self.name = name
        self.capacity = spec.capacity
        part = spec.of_one_actuator()
        self._each = part.capacity
        if not (own_cable and path.links and path.links[0].rate == spec.interface_rate):
            path = Path((Link(f"{name} interface", spec.interface_rate), *path.links))
        self.parts = [
            HardDisk(engine, part, f"{name}.{number}", path, channel, own_cable=True)
            for number in range(spec.actuators)
        ]

    def submit(self, request: Request) -> None:
        """Accept a read or a write; one that lies in the parts of two actuators is served by both.

        Raises
        ------
        ModelError
            If it is not made of whole sectors, or not within the capacity.
        """
        offset, end = request.offset, request.offset + request.size
        if request.size <= 0 or offset < 0 or end > self.capacity:
            raise ModelError(f"{self.name}: {request!r}; expected: within the capacity of {self.capacity} bytes")
        number = offset // self._each
        if end <= self._each:
            self.parts[0].submit(request)
            return
        if end <= (number + 1) * self._each:
            self._send(request, number, offset, end, FORWARD)
            return
        last = (end - 1) // self._each
        join = Parts(last - number + 1, request)
        while number <= last:
            beyond = min(end, (number + 1) * self._each)
            self._send(request, number, offset, beyond, join)
            offset = beyond
            number += 1

    def _send(self, request: Request, number: int, offset: int, end: int, done: Completion) -> None:
        """Send the part of a request from `offset` to `end` to an actuator."""
        start = offset - number * self._each
        part = Request(request.op, start, end - offset, done, request.issuer, request.sync, request, request.trail)
        self.parts[number].submit(part)

    def flush(self, done: Callable[[], None]) -> None:
        """Write all cached data to the platters, then call `done`."""
        join = Join(len(self.parts), done)
        for part in self.parts:
            part.flush(join.part)

    @property
    def discard_limits(self) -> DiscardLimits:
        """It takes no discards."""
        return self.parts[0].discard_limits

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far (the warm-up); `now` is the current time (s)."""
        for part in self.parts:
            part.start_statistics(now)

    # Sums over the actuators; a request that two of them serve counts twice.

    @property
    def path(self) -> Path:
        """The links its data cross, its own interface among them."""
        return self.parts[0].path

    @property
    def reads(self) -> int:
        """Reads completed."""
        return sum(part.reads for part in self.parts)

    @property
    def writes(self) -> int:
        """Writes completed."""
        return sum(part.writes for part in self.parts)

    @property
    def flushes(self) -> int:
        """Flushes completed."""
        return sum(part.flushes for part in self.parts)

    @property
    def read_bytes(self) -> int:
        """Bytes read."""
        return sum(part.read_bytes for part in self.parts)

    @property
    def write_bytes(self) -> int:
        """Bytes written."""
        return sum(part.write_bytes for part in self.parts)

    @property
    def cache_hits(self) -> int:
        """Reads that the buffer served."""
        return sum(part.cache_hits for part in self.parts)

    @property
    def dirty_bytes(self) -> int:
        """Bytes in the write cache that are not on the platters now."""
        return sum(part.dirty_bytes for part in self.parts)

    @property
    def outstanding(self) -> int:
        """Requests in the drive."""
        return sum(part.outstanding for part in self.parts)

    @property
    def latency_s(self) -> float:
        """Sum of the time (s) from submission to completion."""
        return sum_in_order(part.latency_s for part in self.parts)

    @property
    def busy_s(self) -> float:
        """Time (s) with at least one request, of the actuator that is busiest: it limits the drive."""
        return max(part.busy_s for part in self.parts)

    @property
    def inside_s(self) -> float:
        """Time (s) until now with at least one request, of the actuator that has the most."""
        return max(part.inside_s for part in self.parts)

    @property
    def processor_s(self) -> float:
        """Time (s) until now that a processor served commands that need no head, of the actuator that has the most."""
        return max(part.processor_s for part in self.parts)

    @property
    def working_s(self) -> float:
        """Time (s) until now that the busiest actuator could not have given to other commands."""
        return max(part.working_s for part in self.parts)

    @property
    def seek_s(self) -> float:
        """Time (s) the arms have moved."""
        return sum_in_order(part.seek_s for part in self.parts)

    @property
    def rotation_s(self) -> float:
        """Time (s) the heads have waited for the platters to turn."""
        return sum_in_order(part.rotation_s for part in self.parts)

    @property
    def transfer_s(self) -> float:
        """Time (s) requested data has passed under the heads."""
        return sum_in_order(part.transfer_s for part in self.parts)
