"""A RAID controller over recorders: RAID 5 of 4 members, chunks of 64 KiB, 1 ms a member request if not said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from raidsim.model.controller.controller import RaidController
from raidsim.model.controller.firmware import Firmware
from raidsim.model.controller.settings import ControllerSettings
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import Request
from raidsim.model.layouts import ParityLayout, StripedLayout, layout_for
from raidsim.model.links.link import Link, Path
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import READ_BALANCE
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders

CHUNK = 64 * KIB
ROW = 3 * CHUNK
PAGE = 4 * KIB
COMMAND_S = 50e-6
LINK_RATE = 320e6


class ControllerBench:
    """A controller with 50 us a command behind a link of 320 MB/s, with 12 MiB of cache of which 3 MiB are for reads.

    Parameters
    ----------
    level
        "raid5" of 4 members or "raid0" of 3: the row is the same.
    capacity
        Bytes of each member.
    service_s, per_byte_s
        What a member needs for a request and for a byte (s).
    rate
        Of the link to the host.
    xor_rate
        Bytes/s of the firmware's parity.
    settings
        Other settings.
    """

    def __init__(
        self,
        level: str = "raid5",
        capacity: int = 64 * MIB,
        service_s: float = 1e-3,
        per_byte_s: float = 0.0,
        rate: float = LINK_RATE,
        xor_rate: float = 1e12,
        **settings: Any,
    ) -> None:
        self.engine = engine = Engine()
        count = 4 if level == "raid5" else 3
        self.disks = [Recorder(engine, f"d{slot}", capacity, service_s, per_byte_s=per_byte_s) for slot in range(count)]
        self.firmware = Firmware(engine, "controller cpu", replace(FREE, xor_s_per_byte=1.0 / xor_rate))
        layout = layout_for(level, count, CHUNK, [capacity] * count)
        self.array: Any
        if isinstance(layout, ParityLayout):
            parity = ParitySettings(heads=0, hold=0.0)
            self.array = ParityArray(engine, "r5", self.disks, layout, parity, self.firmware)
        else:
            assert isinstance(layout, StripedLayout)
            self.array = StripeArray(engine, "r0", self.disks, layout, self.firmware)
        self.link = Link("host link", rate)
        defaults = {"command": COMMAND_S, "cache": 12 * MIB, "partial_age": 0.5, "read_ahead_rows": 0}
        self.settings = ControllerSettings(**{**defaults, **settings})
        self.controller = RaidController(engine, "c0", self.array, self.settings, self.firmware, Path((self.link,)))
        self.issuer = Issuer(engine, self.controller)

    def run(self, until: float | None = None) -> float:
        """Run until nothing more happens, or for some seconds; returns the time (s)."""
        self.engine.run(until)
        return self.engine.now

    def drained(self) -> float:
        """Write all that is dirty; returns the time (s) at which the members have it."""
        over: list[float] = []
        self.controller.drain(lambda: over.append(self.engine.now))
        self.engine.run()
        return over[0]

    def member_bytes(self, op: int) -> int:
        """What all members were sent."""
        return sum(size for disk in self.disks for _, size in disk.sent(op))

    @property
    def latencies(self) -> list[float]:
        """When each command was complete; the latencies of those sent at time 0."""
        return [at for at, _, _ in self.issuer.done]


class ClosedLoop:
    """Keeps requests outstanding, and counts what completes between two times.

    Parameters
    ----------
    depth
        Requests outstanding.
    offsets
        Where they go, in order.
    """

    def __init__(self, bench: Any, device: Any, op: int, size: int, depth: int, offsets: Any) -> None:
        self.engine = bench.engine
        self.device = device
        self.op, self.size = op, size
        self.offsets = iter(offsets)
        self.completed: list[float] = []
        for _ in range(depth):
            self._send()

    def _send(self) -> None:
        offset = next(self.offsets, None)
        if offset is not None:
            self.device.submit(Request(self.op, offset, self.size, self._done))

    def _done(self, _: Request) -> None:
        self.completed.append(self.engine.now)
        self._send()

    def rate(self, begin: float, end: float) -> float:
        """Completions per second between two times (s)."""
        return sum(begin < at <= end for at in self.completed) / (end - begin)


def sequential(size: int, total: int, start: int = 0) -> range:
    """Offsets of a sequential stream."""
    return range(start, start + total, size)


def small_raid5(engine: Engine) -> ParityArray:
    """Three recorders of 16 MiB, without a limit of stripe heads."""
    layout: Any = layout_for("raid5", 3, CHUNK, 16 * MIB)
    return ParityArray(engine, "r5", recorders(engine, 3, 16 * MIB), layout, ParitySettings(heads=0))


def small_mirror(engine: Engine) -> MirrorArray:
    """Two recorders of 16 MiB."""
    return MirrorArray(engine, "m", recorders(engine, 2, 16 * MIB), READ_BALANCE["md-2.6"](2))


def striped(engine: Engine, members: list[Any], chunk: int) -> StripeArray:
    """A stripe over whatever the members are."""
    return StripeArray(engine, "s", members, StripedLayout([member.capacity for member in members], chunk))
