"""Writers slowed to what their device writes: the ratio on paper, steady writers, and devices that share memory."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any
from unittest.mock import patch

import pytest
from simpy.events import Timeout

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import Request
from raidsim.model.memory.dirty_balance import DirtyBalance, position_ratio
from raidsim.model.memory.dirty_memory import DirtyLimits, DirtyMemory, Recent
from raidsim.model.memory.page_cache import PageCache
from raidsim.model.memory.page_memory import PageMemory
from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.readahead import ReadAhead26
from raidsim.model.tasks.cpu import Account, Cpu
from raidsim.model.tasks.host import Host

KIB, MIB = 1 << 10, 1 << 20
SLICE = 512 * KIB


class Pipe(Device):
    """A device that moves bytes at a rate, one request after the other, and queues a few MiB of them."""

    def __init__(self, engine: Engine, name: str, rate: float) -> None:
        self._engine = engine
        self.name = name
        self.capacity = 1 << 50
        self.rate = rate
        self._free = 0.0
        self._queued = 0
        self._waiting: list[Callable[[], Any]] = []

    @property
    def has_room(self) -> bool:
        return self._queued < 4 * MIB

    def when_room(self, callback: Callable[[], Any]) -> None:
        self._waiting.append(callback)

    def submit(self, request: Request) -> None:
        self._queued += request.size
        size: int = request.size
        self._free = max(self._free, self._engine.now) + size / self.rate
        self._engine.call_at(self._free, lambda _: self._over(request))

    def _over(self, request: Request) -> None:
        self._queued -= request.size
        request.complete()
        if self.has_room:
            waiting, self._waiting = self._waiting, []
            for callback in waiting:
                callback()


class Writer(Account):
    """Writes a file as fast as it may."""

    def __init__(self, cache: PageCache, issuer: int) -> None:
        super().__init__(issuer)
        self.cache = cache
        self.file = PagedFile(f"f{issuer}", 1 << 46)
        self.file.extents.append(issuer << 46, 1 << 46)
        self.at = 0

    def run(self) -> Generator[Any, Any, None]:
        cache = self.cache
        while True:
            yield cache._engine.timeout(SLICE / 4e9)
            dirtied = cache.mark_dirty(self.file, self.at, self.at + SLICE)
            self.at += SLICE
            if cache.memory.over_limit:
                yield from cache.throttle(self, dirtied)


class Machine:
    """1 GiB of memory that may be dirty up to a fifth, and a cache over each device."""

    def __init__(self, rates: list[float], writers: list[int], balance: bool = True, pace: float = 1.0) -> None:
        self.engine = Engine()
        total = 1 << 30
        above, limit = total // 10, total // 5
        self.memory = DirtyMemory(DirtyLimits(above, above, limit, 0, balance=balance, pace=pace))
        pages = PageMemory(1 << 33)
        host = Host(Cpu(self.engine, 8))
        settings = PageCacheSettings(flush_run=MIB)
        self.devices = [Pipe(self.engine, f"d{i}", rate) for i, rate in enumerate(rates)]
        self.caches = [
            PageCache(self.engine, host, device, settings, pages, self.memory, lambda end: ReadAhead26(0, end))
            for device in self.devices
        ]
        self.writers = [Writer(self.caches[on], issuer + 1) for issuer, on in enumerate(writers)]
        for writer in self.writers:
            self.engine.spawn(writer.run())

    def rates(self, begin: float, end: float) -> list[float]:
        """Bytes per second of each writer between two times."""
        if begin > self.engine.now:
            self.engine.run(until=begin)
        before = [writer.at for writer in self.writers]
        self.engine.run(until=end)
        return [(writer.at - at) / (end - begin) for writer, at in zip(self.writers, before, strict=True)]


def test_the_ratio_on_paper() -> None:
    """Protects the polynomial: 1 at the setpoint, 0 at the limit, 2 where writers begin to be slowed; and that a device
    which holds more than its share is slowed by a line of its own.
    """
    freerun, limit, rate = 150 * MIB, 200 * MIB, 100e6
    setpoint = 175 * MIB

    def ratio(dirty: float, own: float = setpoint, share: float = 1.0) -> float:
        return position_ratio(dirty, freerun, limit, own, share, rate)

    assert ratio(setpoint) == pytest.approx(1.0)
    assert ratio(limit) == 0.0
    assert ratio(freerun) == pytest.approx(2.0)
    assert ratio(setpoint + 12.5 * MIB) == pytest.approx(1 - 0.5**3)
    assert ratio(setpoint, own=160 * MIB) > 1.0
    assert ratio(setpoint, own=160 * MIB, share=0.1) == pytest.approx(0.25), "far more than a tenth of the memory"
    assert ratio(setpoint, own=1 * MIB, share=0.1) > 4.0, "nearly nothing of it"


def test_what_was_written_long_ago_counts_less() -> None:
    """Protects the shares: a count halves with each period."""
    recent = Recent()
    recent.add(100, 0)
    assert [recent.at(period) for period in (0, 1, 3)] == [100, 50, 12.5]
    recent.add(10, 1)
    assert recent.at(1) == 60


@pytest.mark.parametrize("rate", [20e6, 100e6, 400e6])
def test_a_writer_settles_at_what_its_device_writes(rate: float) -> None:
    """Protects the steady writer: second by second it is within a tenth of the device's rate, and dirty memory stays
    below the limit, near the setpoint; it pauses at most 200 times a second however fast it is.
    """
    machine = Machine([rate], [0])
    seconds = [machine.rates(at, at + 1.0)[0] for at in range(25, 30)]
    assert all(second == pytest.approx(rate, rel=0.1) for second in seconds), seconds
    limits = machine.memory.limits
    assert 0.95 * limits.freerun < machine.memory.counted < limits.limit
    balance = machine.caches[0].balance
    assert balance is not None
    assert balance.pauses < 200 * 30


def test_writers_of_one_device_share_it() -> None:
    """Protects the rate limit: four writers get a quarter each."""
    rates = Machine([100e6], [0, 0, 0, 0]).rates(15.0, 25.0)
    assert sum(rates) == pytest.approx(100e6, rel=0.1)
    assert max(rates) < 1.25 * min(rates)


def test_a_slow_device_does_not_take_all_dirty_memory() -> None:
    """Protects the shares: beside a writer to a device of 4 MB/s one to 100 MB/s goes at its speed. Counter-test: where
    writers are only stopped at the limit, memory fills with what the slow device has still to write, and the fast one
    is held up by it.
    """
    slow, fast = Machine([4e6, 100e6], [0, 1]).rates(20.0, 40.0)
    assert fast == pytest.approx(100e6, rel=0.1)
    assert slow < 1.5 * 4e6
    stopped = Machine([4e6, 100e6], [0, 1], balance=False).rates(20.0, 40.0)
    assert stopped[1] < 0.2 * fast


def test_memory_that_nobody_writes_is_not_slowed() -> None:
    """Counter-test: below the middle of the thresholds a writer never pauses."""
    engine = Engine()
    memory = DirtyMemory(DirtyLimits(100 * MIB, 100 * MIB, 200 * MIB, 0, balance=True))
    balance = DirtyBalance(engine, memory)
    memory.dirtied(150 * MIB)
    balance.dirtied(150 * MIB)
    assert list(balance.throttle(1, 150 * MIB)) == []
    assert balance.pauses == 0
    assert not memory.over_limit
    memory.dirtied(1)
    assert memory.over_limit


def test_pauses_are_no_longer_than_200_ms() -> None:
    """Protects latency: with 16 writers on a device of 2 MB/s none sleeps for longer at once."""
    machine = Machine([2e6], [0] * 16)
    slept: list[float] = []
    timeout = machine.engine.timeout

    def watched(delay: float, value: Any = None) -> Timeout:
        slept.append(delay)
        return timeout(delay, value)

    with patch.object(machine.engine, "timeout", watched):
        machine.rates(10.0, 20.0)
    pauses = [each for each in slept if each not in (5.0, SLICE / 4e9)]
    assert 0.1 < max(pauses) <= 0.2 + 1e-9


@pytest.mark.parametrize("rate", [20e6, 100e6, 400e6])
def test_a_pause_is_worth_the_trouble(rate: float) -> None:
    """Protects the price of pauses: none is shorter than a tick of 4 ms and half of the usual pause of two ticks
    (bdi_min_pause of Linux), and those of one writer to a fast device are not much longer.
    """
    machine, paused = Machine([rate], [0]), list[float]()
    machine.rates(0.0, 3.0)
    look = DirtyBalance._look

    def watched(self: DirtyBalance, task: Any) -> float:
        paused.append(look(self, task))
        return paused[-1]

    with patch.object(DirtyBalance, "_look", watched):
        machine.rates(3.0, 5.0)
    pauses = [each for each in paused if each > 0]
    assert len(pauses) > 20
    assert 0.008 <= min(pauses) < max(pauses) < 0.07
