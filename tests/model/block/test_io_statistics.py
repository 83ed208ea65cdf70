"""What iostat shows: await from when a request is made, and clock ticks that %util counts as busy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.block.io_statistics import TICKS_PER_S, BusyTicks, IoStatistics
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.request_queue import RequestQueue
from raidsim.model.block.single_queue import BlockQueue, PlugSettings
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, TRIM, Request
from raidsim.model.kernels import kernel, kernel_names
from raidsim.model.schedulers import QueuedRequest, mq_deadline
from raidsim.model.schedulers.noop import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE

KIB = 1024
TICK = 1 / TICKS_PER_S
SERVICE = 1e-3


class Rig:
    """A queue over a device that serves one command at a time, 1 ms each."""

    def __init__(self, kind: str) -> None:
        self.engine = engine = Engine(1)
        host = Host(Cpu(engine, 1), replace(FREE))
        device = FixedServiceDevice(engine, "d", 1 << 40, linear_service(SERVICE), 1)
        self.queue: RequestQueue | BlockQueue
        if kind == "hardware":
            self.queue = HardwareQueues(engine, host, device, depth=8)
        elif kind == "scheduler":
            self.queue = BlkMqQueue(engine, host, device, depth=1, scheduler=mq_deadline.MqDeadline(1 << 20))
        else:
            self.queue = BlockQueue(engine, host, device, Noop(1 << 20), 1, 1 << 30, 64, PlugSettings(0, 0.0))

    def read(self, *offsets_kib: int) -> None:
        """Reads of 4 KiB at once."""
        for offset in offsets_kib:
            self.queue.submit(Request(READ, offset * KIB, 4 * KIB, lambda _: None))


@pytest.mark.parametrize("kind", ["hardware", "scheduler", "single"])
@pytest.mark.parametrize("held_s", [0.0, 5e-3])
def test_a_request_counts_from_when_it_is_made(kind: str, held_s: float) -> None:
    """Protects await: it includes the plug and the queue, and reads that merge are one request. Counter-test: without a
    plug two requests of 1 ms each wait 1 ms and 2 ms.
    """
    rig = Rig(kind)
    if held_s:
        rig.queue.plug()
        rig.read(0, 4, 1000)
        rig.engine.run_to(held_s)
    else:
        rig.read(0, 1000)
        if kind == "single":  # it has plugged itself
            rig.queue.unplug()
    rig.queue.unplug()
    rig.engine.run()
    found = rig.queue.statistics
    assert found.completed == 2
    assert found.waited_s == pytest.approx(2 * held_s + 3 * SERVICE)


def queued(made: float, op: int = READ) -> QueuedRequest:
    """A request as the queue makes it."""
    return QueuedRequest(Request(op, 0, 4 * KIB, lambda _: None), made, lambda _: None)


def ticks(rule: BusyTicks, *requests: tuple[float, float]) -> int:
    """Ticks that count as busy, of requests from when they are made until they are complete (ticks)."""
    found = IoStatistics(rule)
    events = sorted([(begin, end, True) for begin, end in requests] + [(end, begin, False) for begin, end in requests])
    for at, other, begins in events:
        if begins:
            found.made(at * TICK)
        else:
            found.done(at * TICK, queued(other * TICK))
    return round(found.busy_s / TICK)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        # A short request in each of ten ticks: of no full tick, but of all that have an event.
        ([(i + 0.4, i + 0.5) for i in range(1, 11)], {"requests": 0, "events": 10, "ends": 10}),
        # One of twelve ticks.
        ([(1.5, 13.5)], {"requests": 12, "events": 2, "ends": 13}),
        # While it lasts another one begins, and is complete at once: the start loses the time before it.
        ([(1.5, 13.5), (11.2, 11.3)], {"requests": 12, "events": 3, "ends": 4}),
    ],
)
def test_ticks_that_count_as_busy(requests: list[tuple[float, float]], expected: dict[BusyTicks, int]) -> None:
    """Protects %util of each kernel, which is no share of the time."""
    assert {rule: ticks(rule, *requests) for rule in expected} == expected


def test_warm_up_and_discards_are_left_out() -> None:
    """Protects the difference of two reports of iostat, whose await is that of reads and writes."""
    found = IoStatistics("ends")
    found.made(0.0)
    found.done(1.0, queued(0.0))
    found.begin()
    assert (found.completed, found.waited_s, found.busy_s) == (0, 0.0, 0.0)
    found.made(1.0)
    found.done(2.0, queued(1.0, TRIM))
    assert (found.completed, found.waited_s) == (0, 0.0)
    assert found.busy_s == pytest.approx(1.0)


def test_the_catalogue_says_what_counts() -> None:
    """Protects the rule of each kernel: events in 5.4, ends from 5.10 to 6.8, else requests."""
    rules = {name: kernel(name).queue.busy_ticks for name in kernel_names()}
    assert {name for name, rule in rules.items() if rule == "events"} == {"linux-5.4"}
    ends = {"linux-5.10", "linux-5.14", "linux-5.15", "linux-6.1", "linux-6.6", "linux-6.8"}
    assert {name for name, rule in rules.items() if rule == "ends"} == ends
