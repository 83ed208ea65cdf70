"""A thread that slept for a tag, and a program that sends its next I/O at once."""

from __future__ import annotations

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.throttle import WriteBackThrottle
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import ASYNC, READ, RESYNC_ISSUER, WRITE, Request
from raidsim.model.loads.closed_load import ClosedLoad
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


def throttled(plugged: bool) -> list[int]:
    """Sizes of the commands of 32 contiguous writes of 8 KiB that a task submits one after the other.

    Throttling lets two writes to the device at once, and the largest command is 64 KiB.
    """
    engine = Engine()
    host = Host(Cpu(engine), FREE)
    sizes: list[int] = []

    def service(size: int, op: int) -> float:
        sizes.append(size)
        return 0.001

    device = FixedServiceDevice(engine, "d0", 1 << 30, service)
    throttle = WriteBackThrottle(engine, 0.075, 1)
    queue = BlkMqQueue(engine, host, device, depth=1, max_request_bytes=65536, throttle=throttle)
    done: list[Request] = []
    left = iter(range(0, 32 * 8192, 8192))

    def submit_on() -> None:
        if plugged:
            queue.plug()
        for offset in left:
            queue.submit(Request(WRITE, offset, 8192, done.append, 7, ASYNC))
            if not queue.has_room:
                break
        queue.unplug()
        if not queue.has_room:
            queue.when_room(submit_on)

    submit_on()
    engine.run()
    assert len(done) == 32
    return sizes


def test_a_plug_stays_open_while_its_task_sleeps() -> None:
    """Protects write-back under throttling: what a task submits after it has slept merges with what follows, so all
    commands but the last are as large as they may be. Counter-test: without a plug every write is a command.
    """
    assert throttled(plugged=True) == [65536] * 4
    assert throttled(plugged=False) == [8192] * 32
