"""The virtual machine of the recordings of caches, and the program that reads and writes the cached device.

The program is one thread that does one I/O at a time (O_DIRECT), O_DSYNC ones as the kernel does them: the write, then
a flush. Its offsets are those of the recording, since the generator of its random numbers is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ....model.cache.device import CacheDevice
from ....model.cache.dm_cache.target import DmCache
from ....model.core.engine import Engine
from ....model.core.request import DIRECT, READ, WAITED, WRITE, WRITE_THROUGH, Request
from ....model.core.signal import Signal
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ..base import NotSupported
from ..md.vm_member import BIO_S, PRICES
from .member import Noted, member_words, queues

ISSUER = 1
IO_S = 5.5e-6
"""CPU time of the program's call (s): reads of 4 KiB that hit dm-writecache follow each other after 117.6 us."""
_PRICES = replace(PRICES, command_s=1.5e-6)
_SEQUENCE_A, _SEQUENCE_C = 6364136223846793005, 1442695040888963407
_MASK = (1 << 64) - 1
_RANDOM = re.compile(r"rand (?P<bytes>\d+) (?P<count>\d+) (?P<kind>[rwd]) (?P<seed>\d+)(?: (?P<mib>\d+))?")
_SEQUENTIAL = re.compile(r"(?P<kind>read|write) (?P<bytes>\d+) (?P<count>\d+)(?: \w)?")
START_S = 24.4e-3
"""From the beginning of a phase to its first I/O (s): the program starts."""
END_S = 8e-3
STATUS_S = 41e-3
"""From its last I/O to the beginning of the next phase (s), the second with dm-cache, whose status costs a commit. Not
recorded: the times at which smq redistributed its hotspots and dm-writecache ended its pause are met so."""
IDLE_S = 60.0


class Laboratory:
    """The machine.

    Parameters
    ----------
    content
        A recording.
    build
        Makes the cached device from the engine, the queues and the host.

    Attributes
    ----------
    noted
        The requests of all devices.
    """

    def __init__(
        self, content: Mapping[str, Any], build: Callable[[Engine, list[Any], Host], CacheDevice], place: str
    ) -> None:
        self._place = place
        self.engine = Engine(0)
        cpu = self._cpu = Cpu(self.engine)
        host = self.host = Host(cpu, _PRICES)
        host.passing_s[ISSUER] = 0.0
        self.noted: list[Noted] = []
        self.members = queues(self.engine, host, cpu, member_words(content["devices"], place), self.noted)
        self.device = build(self.engine, self.members, host)

    def play(self, op: str) -> list[float]:
        """Run a phase; returns the response times (s) of its I/Os."""
        times: list[float] = []
        if op == "sleep":
            self.engine.run(until=self.engine.now + IDLE_S)
            return times
        start = self.engine.now
        self.engine.run(until=start + START_S)
        self.engine.run(until=self.engine.spawn(self._program(self._ios(op), times)))
        end_s = STATUS_S if isinstance(self.device, DmCache) else END_S
        self.engine.run(until=self.engine.now + end_s)
        return times

    def knows(self, op: str) -> bool:
        """Whether an operation is one of the program's."""
        return bool(_RANDOM.fullmatch(op) or _SEQUENTIAL.fullmatch(op))

    def commit(self, device: DmCache) -> None:
        """Commit the metadata, as ``dmsetup status`` does."""
        over = Signal()
        device.commits.after(over.fire)
        if not over.fired:
            self.engine.run(until=self.engine.spawn(self._waits(over)))

    @staticmethod
    def _waits(signal: Signal) -> Generator[Any, Any, None]:
        yield signal

    def _ios(self, op: str) -> Iterator[tuple[int, int, int, bool]]:
        """Operation, offset, size and whether it is O_DSYNC, of each I/O of a phase."""
        match = _RANDOM.fullmatch(op)
        if match is not None:
            size, state = int(match["bytes"]), int(match["seed"])
            span = int(match["mib"]) << 20 if match["mib"] else self.device.capacity
            for _ in range(int(match["count"])):
                state = (state * _SEQUENCE_A + _SEQUENCE_C) & _MASK
                kind = READ if match["kind"] == "r" else WRITE
                yield kind, (state >> 33) % (span // size) * size, size, match["kind"] == "d"
            return
        match = _SEQUENTIAL.fullmatch(op)
        if match is None:
            raise NotSupported(self._place, f"operation {op!r}", "expected: rand, read, write or sleep")
        size = int(match["bytes"])
        for number in range(int(match["count"])):
            yield READ if match["kind"] == "read" else WRITE, number * size, size, False

    def _program(self, ios: Iterator[tuple[int, int, int, bool]], times: list[float]) -> Generator[Any, Any, None]:
        engine, device = self.engine, self.device
        for op, offset, size, synced in ios:
            began = engine.now
            yield engine.pause(IO_S)
            over = Signal()
            sync = WAITED if op == READ else WRITE_THROUGH if synced else DIRECT
            request = Request(op, offset, size, over.fire, ISSUER, sync)
            if op == READ:
                device.submit(request)
            else:
                # blkdev_write_iter has a plug, blkdev_read_iter has none.
                device.plug()
                (device.submit_fua if synced else device.submit)(request)
                device.unplug()
            yield over
            passing_s = self.host.take_passing_s(ISSUER)
            if passing_s:
                yield engine.pause(passing_s)
            if synced:
                flushed = Signal()
                yield engine.pause(BIO_S)
                device.flush(flushed.fire)
                yield flushed
            times.append(engine.now - began)
