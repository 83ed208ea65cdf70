"""What a request costs behind a long backlog: as many steps as behind a short one. Steps are counted, not timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.controller.drive_queue import DriveOrder
from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import DIRECT, READ, WAITED, WRITE, Call, Request
from raidsim.model.schedulers import SCHEDULERS, QueueFacts, Scheduler, SchedulerSettings
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

BLOCK = 4096
SHORT, LONG, MEASURED = 500, 8000, 150


def facts(**tunables: Any) -> QueueFacts:
    """A disk's queue with a kernel's tunables."""
    section = SchedulerSettings(**tunables)
    return QueueFacts(128 * 1024, section, usual=True, rotational=True, depth=1, draw=lambda: 0.5)


def made(name: str, **tunables: Any) -> Callable[[], Scheduler]:
    """What makes a scheduler with a kernel's tunables."""
    return lambda: SCHEDULERS[name].made(facts(**tunables))


ORDERS: dict[str, Callable[[], Scheduler]] = {
    **{name: made(name) for name in SCHEDULERS},
    "mq-deadline since 6.5": made("mq-deadline", batch_follows="position"),
    **{
        f"linus {kind}": made("linus", elevator=kind, read_passes=1 << 13, write_passes=1 << 14)
        for kind in ("both-ways", "one-way", "one-way-buffers")
    },
    "a controller's": lambda: DriveOrder(128 * 1024, 0.5),
}


def steps(work: Callable[[], None]) -> int:
    """How many lines run, each as often as it does."""
    count = 0

    def line(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def requests(seed: int = 1) -> Callable[[], Request]:
    """What makes one random I/O after the other, each of another process."""
    random = np.random.default_rng(seed)
    made = 0

    def make() -> Request:
        nonlocal made
        made += 1
        write = bool(random.random() < 0.3)
        place = int(random.integers(0, 1 << 28)) * BLOCK
        return Request(WRITE if write else READ, place, BLOCK, _nothing, made, DIRECT if write else WAITED)

    return make


def _nothing(_: Request) -> None:
    """Nobody waits."""


def steps_of_an_order(name: str, backlog: int) -> float:
    """Steps of a request while so many others wait: one comes, one is chosen, one is complete."""
    scheduler, make, now = ORDERS[name](), requests(), 0.0
    scheduler.done = Call(_nothing)
    for _ in range(backlog):
        scheduler.add(make(), now)
    sent = 0

    def serve() -> None:
        nonlocal now, sent
        for _ in range(MEASURED):
            now += 0.008
            scheduler.add(make(), now)
            queued = scheduler.next(now)
            while queued is None and scheduler.wake_at() is not None:
                now += 0.001
                queued = scheduler.next(now)
            if queued is not None:
                sent += 1
                queued.submitted = now
                scheduler.completed(queued, now + 0.005)

    serve()  # so that it is in the middle of its batches
    sent = 0
    counted = steps(serve)
    assert sent > MEASURED / 2
    return counted / sent


@pytest.mark.parametrize("name", ORDERS)
def test_choosing_costs_the_same_behind_a_long_backlog(name: str) -> None:
    """Protects overloaded replays: sixteen times as many queued requests, each of a process of its own."""
    assert steps_of_an_order(name, LONG) < 2 * steps_of_an_order(name, SHORT)


QUEUES: dict[str, Callable[[Engine, Host, Device], Device]] = {
    "single queue": lambda engine, host, device: BlockQueue(
        engine, host, device, ORDERS["deadline"](), 1, 1 << 20, 128, None
    ),
    "tags": lambda engine, host, device: BlkMqQueue(
        engine, host, device, depth=32, scheduler=ORDERS["mq-deadline"](), requests=64, write_requests=48
    ),
    "tags without a scheduler": lambda engine, host, device: BlkMqQueue(engine, host, device, depth=32),
    "hardware queues": lambda engine, host, device: HardwareQueues(engine, host, device, depth=32, hardware_queues=2),
}


def steps_of_a_queue(name: str, backlog: int) -> float:
    """Steps of an I/O while so many others wait, each with a thread of its own."""
    engine, make = Engine(1), requests()
    device = FixedServiceDevice(engine, "d", 1 << 41, linear_service(1e-3), 32)
    queue = QUEUES[name](engine, Host(Cpu(engine, 2)), device)
    done = 0

    def one(_: Request) -> None:
        nonlocal done
        done += 1

    def come() -> None:
        request = make()
        queue.submit(Request(request.op, request.offset, request.size, one, request.issuer, request.sync))

    for _ in range(backlog):
        come()

    def serve() -> None:
        while done < MEASURED:
            before = done
            engine.step()
            for _ in range(done - before):
                come()

    serve()
    done = 0
    return steps(serve) / MEASURED


@pytest.mark.parametrize("name", QUEUES)
def test_waking_costs_the_same_behind_a_long_backlog(name: str) -> None:
    """Protects overloaded replays: sixteen times as many threads that sleep for a tag or wait in the scheduler."""
    assert steps_of_a_queue(name, LONG) < 2 * steps_of_a_queue(name, SHORT)
