"""Every scheduler of today serves every request, once, whatever comes and when."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import ASYNC, DIRECT, READ, WAITED, WRITE, WRITE_THROUGH, Request
from raidsim.model.schedulers import Bfq, Kyber, MqDeadline, Scheduler
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

KIB = 1024
LARGEST = 256 * KIB
SCHEDULERS: dict[str, Callable[[], Scheduler]] = {
    "bfq on a disk": lambda: Bfq(LARGEST),
    "bfq on an SSD": lambda: Bfq(LARGEST, rotational=False),
    "kyber": lambda: Kyber(LARGEST),
    "mq-deadline": lambda: MqDeadline(LARGEST),
}


@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize("depth", [1, 32])
@pytest.mark.parametrize("seed", [1, 2])
def test_all_is_served_once(name: str, depth: int, seed: int) -> None:
    """Programs that read on, seek, think, write and flush, with pauses between: nothing is lost and nothing is left."""
    engine = Engine(seed)
    random = np.random.default_rng(seed)
    times = random.exponential(2e-3, 10_000).tolist()
    device = FixedServiceDevice(engine, "d", 1 << 40, lambda size, _: times.pop() + size / 200e6, depth)
    scheduler = SCHEDULERS[name]()
    queue = BlkMqQueue(
        engine,
        Host(Cpu(engine)),
        device,
        depth=depth,
        scheduler=scheduler,
        requests=64,
        write_requests=32,
        only_async=name != "mq-deadline",
    )
    sent, done = [0], [0]

    def submit(at: int, issuer: int, op: int, size: int, sync: int) -> None:
        def once(request: Request) -> None:
            done[0] += 1

        sent[0] += 1
        queue.submit(Request(op, at, size, once, issuer, sync))

    def program(issuer: int) -> Callable[[object], None]:
        place = [issuer << 33]
        left = [150]

        def go(_: object) -> None:
            left[0] -= 1
            op = WRITE if issuer % 3 == 0 else READ
            sync = WAITED if op == READ else (ASYNC, DIRECT, WAITED, WRITE_THROUGH)[left[0] % 4]
            size = 4 * KIB * int(random.integers(1, 33))
            if issuer % 2:
                place[0] = int(random.integers(0, 1 << 26)) * 4 * KIB
            submit(place[0], issuer, op, size, sync)
            place[0] += size
            if left[0]:
                engine.call_at(engine._now + float(random.exponential((1e-4, 5e-3, 3e-2)[issuer % 3])), go)

        return go

    for issuer in range(7):
        engine.call_at(0.0, program(issuer))
    engine.run()
    assert sent[0] == done[0] == 7 * 150
    assert queue.has_room
    assert queue.queued_write_bytes == 0
    assert queue._free_tags == 64
    assert queue._free_write_tags == 32
    if isinstance(scheduler, Kyber):
        assert scheduler._under_way == [0, 0, 0]
    if isinstance(scheduler, Bfq):
        assert scheduler._owners == {}
        assert scheduler._in_driver == 0
