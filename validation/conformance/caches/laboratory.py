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
from ....model.loads.closed_load import ClosedLoad
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ..base import NotSupported
from ..md.resync import BUFFER_PAGE_S
from ..md.vm_member import BIO_S, PRICES
from .member import Noted, member_words, queues

ISSUER = 1
IO_S = 5.5e-6
"""CPU time of the program's call (s), with the interrupt that wakes it: reads of 4 KiB that hit dm-writecache follow
each other after 117.6 us."""
_PRICES = replace(PRICES, buffer_page_s=BUFFER_PAGE_S, command_s=1.5e-6)
_SEQUENCE_A, _SEQUENCE_C = 6364136223846793005, 1442695040888963407
_MASK = (1 << 64) - 1
_RANDOM = re.compile(r"rand (?P<bytes>\d+) (?P<count>\d+) (?P<kind>[rwd]) (?P<seed>\d+)(?: (?P<mib>\d+))?")
_SEQUENTIAL = re.compile(r"(?P<kind>read|write) (?P<bytes>\d+) (?P<count>\d+)(?: \w)?")
START_S = 24.4e-3
"""From the beginning of a phase to its first I/O (s): the program starts, which takes the CPU all of this time."""
END_S = 8.5e-3
"""From its last I/O to the beginning of the next phase (s): kcopyd's reads go on meanwhile every 4.1 ms."""
CREATED_S = 1.0355
"""From the creation of the device to the first phase (s). Not recorded: the times at which smq redistributes its
hotspots follow from it, and the first hundred blocks that it promotes are the recorded ones from 1.034 to 1.037 s."""
IDLE_S = 60.0
_FIO_BYTES = 4096
_SUBMIT = 0.6
"""Share of the CPU time of an I/O of fio that is spent to submit it; the rest takes the completion."""


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
        self.engine.run(until=CREATED_S)

    def play(self, op: str) -> list[float]:
        """Run a phase; returns the response times (s) of its I/Os."""
        times: list[float] = []
        if op == "sleep":
            self.engine.run(until=self.engine.now + IDLE_S)
            return times
        start = self.engine.now
        self.engine.run(until=start + START_S)
        self.host.works(START_S, ISSUER, self.engine.now)
        self.engine.run(until=self.engine.spawn(self._program(self._ios(op), times)))
        self.engine.run(until=self.engine.now + END_S)
        return times

    def rest(self, seconds: float) -> None:
        """Nothing is read or written for so long (s)."""
        self.engine.run(until=self.engine.now + seconds)

    def job(self, ios: Iterator[tuple[int, int, int]], depth: int, seconds: float) -> tuple[float, float]:
        """Run a job of fio; returns its reads and writes a second."""
        load = ClosedLoad(
            self.engine,
            self.device,
            size=_FIO_BYTES,
            depth=depth,
            ios=ios,
            issuer=ISSUER,
            submit_s=_SUBMIT * IO_S,
            complete_s=(1.0 - _SUBMIT) * IO_S,
            cpu=self._cpu,
            host=self.host,
        )
        self.rest(seconds)
        load.stop()
        rates = load.reads / seconds, load.writes / seconds
        while load.outstanding:
            self.engine.step()
        return rates

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
            yield self._cpu.run(IO_S)
            # The interrupt is not the program's.
            self.host.works(-_PRICES.switch_s, ISSUER, engine.now)
            while self._cpu.free_from > engine.now:  # the workers of the kernel are before it
                yield engine.pause(self._cpu.free_from - engine.now)
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
                yield self._cpu.run(passing_s)
            if synced:
                flushed = Signal()
                yield self._cpu.run(BIO_S)
                device.flush(flushed.fire)
                yield flushed
            times.append(engine.now - began)
