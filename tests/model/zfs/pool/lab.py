"""Pools of members with a known service time, as the recorded ones were, and threads that read and write."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from heapq import heapreplace
from typing import Any

import numpy as np

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, WRITE_THROUGH, Request
from raidsim.model.schedulers.mq_deadline import MqDeadline
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.zfs.map.kinds import vdevs_for
from raidsim.model.zfs.map.pool import NORMAL, PoolMap
from raidsim.model.zfs.pool.pool import Pool
from raidsim.model.zfs.pool.settings import DatasetSettings, PoolSettings

KIB, MIB = 1 << 10, 1 << 20


class Member(FixedServiceDevice):
    """A member that keeps a log, and whose flush takes as long as a request."""

    __slots__ = ("flushes", "log", "service")

    def __init__(self, engine: Engine, name: str, service: float, depth: int) -> None:
        super().__init__(engine, name, 640 * MIB, linear_service(service), depth)
        self.service = service
        self.flushes = 0
        self.log: list[tuple[float, int, int, int]] = []

    def submit(self, request: Request) -> None:
        self.log.append((self._engine.now, request.op, request.offset, request.size))
        super().submit(request)

    def flush(self, done: Any) -> None:
        self.flushes += 1
        finish = max(self._free[0], self._engine.now) + self.service
        heapreplace(self._free, finish)
        self._engine.call_at(finish, lambda _: done())

    def moved(self, op: int) -> int:
        """Bytes read or written."""
        return sum(size for _, each, _, size in self.log if each == op)


class Lab:
    """A pool.

    Parameters
    ----------
    vdevs
        (kind, members, role) of each.
    datasets
        What is on it.
    hard_disks
        If true, members take 4 ms a request of up to 64 KiB, one at a time; if false, 200 us, 32 at a time.
    settings
        Of the pool.
    """

    def __init__(
        self,
        vdevs: Sequence[tuple[str, int, str]],
        datasets: Sequence[DatasetSettings],
        *,
        hard_disks: bool = False,
        settings: PoolSettings | None = None,
        lost: frozenset[int] = frozenset(),
        rebuilding: frozenset[int] = frozenset(),
        rotating: bool = False,
    ) -> None:
        engine = self.engine = Engine()
        made = [(vdev, role) for kind, members, role in vdevs for vdev in vdevs_for(kind, members, 12)]
        pool = PoolMap([vdev for vdev, _ in made], [role for _, role in made])
        service, depth, largest = (0.004, 1, 64 * KIB) if hard_disks else (0.0002, 32, 1280 * KIB)
        self.members = [Member(engine, f"m{number}", service, depth) for number in range(pool.members)]
        host = Host(Cpu(engine))
        queues = [
            BlkMqQueue(
                engine,
                host,
                member,
                depth=depth,
                scheduler=MqDeadline(largest) if hard_disks else None,
                max_request_bytes=largest,
            )
            for member in self.members
        ]
        self.pool = Pool(
            engine,
            None,
            "tank",
            pool,
            queues,
            [rotating] * pool.members,
            settings or PoolSettings(),
            datasets,
            lost | rebuilding,
            rebuilding,
        )
        self.data = self.pool.datasets[datasets[0].name]

    def request(self, op: int, offset: int, size: int, sync: int = 0) -> float:
        """Send one I/O, wait until it is complete, and return how long it took (s)."""
        done: list[float] = []
        began = self.engine.now
        self.data.submit(Request(op, offset, size, lambda _: done.append(self.engine.now), 1, sync))
        self._until(done)
        return done[0] - began

    def sync(self) -> None:
        """Write a transaction group: `zpool sync`."""
        done: list[float] = []
        self.pool.groups.when_synced(lambda: done.append(0.0))
        self._until(done)

    def forget(self) -> None:
        """Empty the members' logs."""
        for member in self.members:
            member.log.clear()
            member.flushes = 0

    def moved(self, op: int) -> list[int]:
        """Bytes of each member."""
        return [member.moved(op) for member in self.members]

    def threads(self, op: int, count: int, size: int, seconds: float, sync: int = 0, stagger_s: float = 0.001) -> float:
        """I/Os per second of threads that each do one random I/O after the other; they begin one after another."""
        engine, data = self.engine, self.data
        began, finished, ios = engine.now, [engine.now], [0]

        def go(random: np.random.Generator) -> None:
            if engine.now >= began + seconds:
                return

            def done(_: Any) -> None:
                ios[0] += 1
                finished[0] = engine.now
                engine.call_at(engine.now + 20e-6, lambda _: go(random))

            place = int(random.integers(0, data.capacity // size)) * size
            data.submit(Request(op, place, size, done, 1, sync))

        def begin(number: int, _: Any) -> None:
            go(np.random.default_rng(number))

        for number in range(count):
            engine.call_at(engine.now + number * stagger_s, partial(begin, number))
        engine.run(until=began + 2 * seconds)
        return ios[0] / (finished[0] - began)

    def _until(self, done: list[float]) -> None:
        while not done:
            self.engine.run(until=self.engine.now + 0.001)


MIRROR = (("mirror", 2, NORMAL),)
RAIDZ1 = (("raidz1", 4, NORMAL),)
__all__ = ["KIB", "MIB", "MIRROR", "RAIDZ1", "READ", "WRITE_THROUGH", "Lab"]
