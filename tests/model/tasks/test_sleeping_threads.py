"""A thread that slept for a tag, and a program that sends its next I/O at once."""

from __future__ import annotations

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, RESYNC_ISSUER, Request
from raidsim.model.loads.direct_load import ClosedLoad
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE


def waits(issuer: int) -> float:
    """Seconds until a read of `issuer` is done beside a program that always reads from the same member of one tag."""
    engine = Engine()
    host = Host(Cpu(engine), FREE)
    device = FixedServiceDevice(engine, "d0", 1 << 30, linear_service(0.001))
    queue = BlkMqQueue(engine, host, device, depth=1)
    load = ClosedLoad(engine, queue, size=4096, issuer=1, submit_s=6e-6, complete_s=4e-6, cpu=host.cpu)
    done: list[float] = []
    engine.run(until=0.0005)
    queue.submit(Request(READ, 0, 4096, lambda _: done.append(engine.now), issuer, False))
    engine.run(until=0.02)
    load.stop()
    engine.run()
    return done[0]


def test_a_program_that_computes_keeps_a_kernel_thread_from_the_tag() -> None:
    """Protects barging: the program is woken first, and has taken the tag when the thread gets the CPU."""
    assert waits(RESYNC_ISSUER) > 0.02


def test_a_program_that_slept_does_not_wait_for_kernel_threads() -> None:
    """Counter-test: it was the CPU; a program that slept, which the scheduler runs first, has its turn at once."""
    assert waits(2) == pytest.approx(0.002, abs=5e-5)
