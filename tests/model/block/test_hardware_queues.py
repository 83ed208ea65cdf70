"""Hardware queues: the same as one queue where there is one, tags of each queue where there are more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.request_queue import RequestQueue
from raidsim.model.block.throttle import WriteBackThrottle
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import ASYNC, DIRECT, READ, WRITE, Request
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE

KIB = 1024


class Rig:
    """Hardware queues over a device that serves many at once, 1 ms each."""

    def __init__(
        self, queues: int = 2, depth: int = 4, cores: int = 4, plain: bool = False, target_s: float = 0
    ) -> None:
        self.engine = Engine(1)
        self.host = Host(Cpu(self.engine, cores), replace(FREE, command_s=1e-6, switch_s=2e-6))
        device = FixedServiceDevice(self.engine, "d", 1 << 40, linear_service(1e-3), 64)
        throttle = WriteBackThrottle(self.engine, target_s) if target_s else None
        self.queue: RequestQueue
        if plain:
            self.queue = BlkMqQueue(self.engine, self.host, device, depth=depth, throttle=throttle)
        else:
            self.queue = HardwareQueues(
                self.engine, self.host, device, depth=depth, hardware_queues=queues, throttle=throttle
            )
        self.done: list[tuple[float, int, int]] = []

    def submit(self, issuer: int, offset: int, size: int = 4 * KIB, op: int = READ, sync: int = DIRECT) -> None:
        """One I/O."""

        def done(request: Request) -> None:
            self.done.append((self.engine.now, request.issuer, request.offset))

        self.queue.submit(Request(op, offset, size, done, issuer, sync))

    def mixed(self) -> list[tuple[float, int, int]]:
        """Reads and writes of three threads, one of them with a plug and large I/Os, for some milliseconds."""
        load = ClosedLoad(self.engine, self.queue, size=4 * KIB, depth=6, read_share=0.5, issuer=1)
        for i in range(12):
            self.engine.run_to(i * 3e-4)
            self.queue.plug()
            for k in range(3):
                self.submit(2, (i * 10 + k) * 64 * KIB, 64 * KIB, i % 2)
            self.submit(2, i << 30, 3 << 20)
            self.queue.unplug()
            self.submit(3, i << 32, 4 * KIB, WRITE, ASYNC)
        self.engine.run_to(0.02)
        load.stop()
        self.engine.run()
        self.done.append((load.read_latency.mean, load.reads, load.writes))
        return self.done


@pytest.mark.parametrize("target_s", [0.0, 2e-4])
@pytest.mark.parametrize("depth", [4, 64])
def test_one_hardware_queue_is_what_one_queue_is(depth: int, target_s: float) -> None:
    """Protects the short way through a free queue: nothing is done otherwise, only sooner."""
    assert Rig(1, depth, target_s=target_s).mixed() == Rig(1, depth, plain=True, target_s=target_s).mixed()


def test_a_thread_takes_the_tags_of_its_own_queue() -> None:
    """Streams 0 and 2 share a queue of four tags, 1 has the other to itself: the fifth of stream 0 and 2 waits."""
    rig = Rig()
    for i in range(4):
        rig.submit(0, i << 20)
    rig.submit(2, 9 << 20)
    rig.submit(1, 1 << 30)
    assert [rig.queue.sleeps(issuer) for issuer in (0, 1, 2)] == [False, False, True]
    assert not rig.queue.has_room
    rig.engine.run()
    late = {issuer: at for at, issuer, _ in rig.done}
    assert late[1] == pytest.approx(1e-3)
    assert late[2] == pytest.approx(2e-3 + 2e-6)
    assert rig.queue.has_room


def test_a_plug_merges_still() -> None:
    """Merging is the task's, whatever the queue."""
    rig = Rig()
    rig.queue.plug()
    for i in range(4):
        rig.submit(1, i * 4 * KIB)
    rig.queue.unplug()
    rig.engine.run()
    assert rig.queue.merges == 3
    assert rig.host.commands == 1


def test_no_more_queues_than_cores() -> None:
    """nr_hw_queues is at most the number of CPUs."""
    with pytest.raises(ModelError, match="4 hardware queues on 2 cores"):
        Rig(4, cores=2)
