"""kcopyd: its passes, and who gets the only tag of a device that a program reads as well."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.cache.copier import Copier
from raidsim.model.core.device import Device, Wrapper
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, WAITED, Request
from raidsim.model.core.signal import Signal
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE

BLOCK = 64 << 10
SWITCH_S = 4e-6
CALL_S = 5e-6
SLOW_S, FAST_S = 4e-3, 1e-4


class Rig:
    """A slow device with one tag, a fast one, the thread, and a program that reads the slow one without a pause."""

    def __init__(self) -> None:
        self.engine = Engine(0)
        self.cpu = Cpu(self.engine)
        self.host = Host(self.cpu, replace(FREE, switch_s=SWITCH_S))
        devices = (("slow", SLOW_S, 1), ("fast", FAST_S, 32))
        self.queues = [
            BlkMqQueue(
                self.engine,
                self.host,
                FixedServiceDevice(self.engine, name, 1 << 30, linear_service(seconds), tags),
                depth=tags,
            )
            for name, seconds, tags in devices
        ]
        self.copier = Copier(self.engine, self.queues, self.host)
        self.copied: list[float] = []
        self.read: list[float] = []

    def copy(self, number: int) -> None:
        """Have a block copied from the slow device to the fast one."""
        at = number * BLOCK
        self.copier.copy(0, at, 1, at, BLOCK, lambda: self.copied.append(self.engine.now))

    def program(self, reads: int) -> Generator[Any, Any, None]:
        """Read block after block."""
        for number in range(reads):
            yield self.cpu.run(CALL_S)
            over = Signal()
            self.queues[0].submit(Request(READ, number * 4096, 4096, over.fire, 1, WAITED))
            yield over
            self.read.append(self.engine.now)


@pytest.mark.parametrize(("ahead_s", "reads_before"), [(2e-3, 10), (-2e-3, 1)])
def test_who_has_used_less_cpu_time_takes_the_freed_tag(ahead_s: float, reads_before: int) -> None:
    """Protects starvation of copies: a program that runs first takes each tag. Counter-test: the thread takes it."""
    rig = Rig()
    rig.engine.spawn(rig.program(10))
    rig.engine.run(until=1e-3)
    rig.host.works(ahead_s, rig.copier.issuer, rig.engine.now)
    rig.copy(3)
    rig.engine.run(until=1.0)
    assert sum(each < rig.copied[0] for each in rig.read) == reads_before


def test_no_copy_ends_while_the_thread_sleeps_for_a_tag() -> None:
    """Protects hits from coming too early: the reads of a pass come first, so no block is there before the last of them
    has its tag. Counter-test: a block that is alone is there as soon as it is copied.
    """
    alone, together = Rig(), Rig()
    alone.copy(0)
    for number in range(4):
        together.copy(2 * number)
    alone.engine.run(until=1.0)
    together.engine.run(until=1.0)
    assert alone.copied == [pytest.approx(SLOW_S + FAST_S, rel=0.01)]
    assert together.copied[0] > 3 * SLOW_S


class Noted(Wrapper):
    """A device whose submissions are noted."""

    def __init__(self, device: Device, number: int, order: list[tuple[int, int]]) -> None:
        super().__init__(device)
        self.number, self.order = number, order

    def submit(self, request: Request) -> None:
        """Note and pass on."""
        self.order.append((self.number, request.offset // BLOCK))
        self.device.submit(request)


def test_new_copies_wait_for_the_next_pass_and_writes_do_not() -> None:
    """Protects the order of the thread's jobs: a block that has been read is written before the reads of new copies."""
    rig = Rig()
    order: list[tuple[int, int]] = []
    for number, queue in enumerate(rig.queues):
        queue.device = Noted(queue.device, number, order)
    rig.copy(0)
    rig.copy(2)
    rig.engine.run(until=1e-3)
    rig.copy(4)
    rig.engine.run(until=1.0)
    assert order == [(0, 0), (1, 0), (0, 2), (1, 2), (0, 4), (1, 4)]
