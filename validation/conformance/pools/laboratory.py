"""Pools over members with a known service time, as null_blk gives them, and programs that read and write."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from heapq import heapreplace
from random import Random
from typing import Any, NamedTuple

from ....model.block.multi_queue import BlkMqQueue
from ....model.core.engine import Engine
from ....model.core.fixed_service import FixedServiceDevice, linear_service
from ....model.core.request import Request
from ....model.schedulers.mq_deadline import MqDeadline
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ....model.zfs.map.kinds import vdevs_for
from ....model.zfs.map.pool import LOG, NORMAL, SPECIAL, PoolMap
from ....model.zfs.map.words import vdev_words
from ....model.zfs.pool.dataset import Dataset
from ....model.zfs.pool.pool import Pool
from ....model.zfs.pool.settings import DatasetSettings, PoolSettings
from ..base import NotSupported

_ROLES = {"data": NORMAL, "special": SPECIAL, "log": LOG}
_NAME = re.compile(
    r"(?:thr_|arc_|q_)?(mirror2x2|(?:mirror|raidz[123]|stripe|draid\S*?)(?:_?n?)(\d+))(_slogmirror|_slog|_special1|_special)?(?:_.*)?"
)
_ASHIFT = 12
_MEMBER_BYTES = 640 << 20
_MEMORY = 12 << 30
CALL_S = 20e-6
"""Time (s) of a program between two calls."""
STAGGER_S = 1e-3
"""Time (s) between the starts of a job's threads, which the recordings do not have."""


class Member(NamedTuple):
    """What the members of a recorded pool are.

    Attributes
    ----------
    service_s, flush_s
        Time (s) of a request of any size, and of a flush.
    depth
        Requests that are served at once.
    largest
        Bytes of the largest request.
    sorted
        If true, mq-deadline sorts the requests.
    """

    service_s: float
    flush_s: float
    depth: int
    largest: int
    sorted: bool

    @classmethod
    def recorded(cls, member: Mapping[str, Any]) -> Member:
        """From a recording."""
        return cls(
            float(member["completion_us"]) / 1e6,
            float(member.get("flush_us", 0)) / 1e6,
            int(member["depth"]),
            int(member["max_kib"]) << 10,
            member.get("scheduler") == "mq-deadline",
        )


class _Disk(FixedServiceDevice):
    """A member; a flush takes a place as a request does. It notes when which requests come, and their bytes."""

    __slots__ = ("_flush_s", "log")

    def __init__(self, engine: Engine, name: str, member: Member) -> None:
        super().__init__(engine, name, _MEMBER_BYTES, linear_service(member.service_s), member.depth)
        self._flush_s = member.flush_s
        self.log: list[tuple[float, int, int]] = []

    def submit(self, request: Request) -> None:
        """Serve a request."""
        self.log.append((self._engine.now, request.op, request.size))
        super().submit(request)

    def flush(self, done: Callable[[], None]) -> None:
        """Flush the cache."""
        if not self._flush_s:
            done()
            return
        finish = max(self._free[0], self._engine.now) + self._flush_s
        heapreplace(self._free, finish)
        self._engine.call_at(finish, lambda _: done())


def pool_named(name: str) -> PoolMap:
    """The pool that a recording's name says: "raidz1_n4_slog", "thr_raidz1_n4_hdd4ms"."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise NotSupported(name, f"a pool called {name}"[:90], "expected: such as raidz1_n4 or mirror_n2_slog")
    if match[1] == "mirror2x2":
        vdevs = [("mirror", 2, NORMAL), ("mirror", 2, NORMAL)]
    else:
        vdevs = [(match[1].removesuffix(match[2]).rstrip("n").rstrip("_"), int(match[2]), NORMAL)]
    extra = {"_slog": ("stripe", 1, LOG), "_slogmirror": ("mirror", 2, LOG)}
    extra |= {"_special1": ("stripe", 1, SPECIAL), "_special": ("mirror", 2, SPECIAL)}
    if match[3]:
        vdevs.append(extra[match[3]])
    made = [(vdev, role) for kind, members, role in vdevs for vdev in vdevs_for(kind, members, _ASHIFT)]
    return PoolMap([vdev for vdev, _ in made], [role for _, role in made])


def caches_created(command: str) -> int:
    """How many cache devices a command `zpool create` names."""
    words = command.split()
    return sum(len(each.members) for each in vdev_words(words[words.index("tank") + 1 :]) if each.use == "cache")


def pool_created(file: str, command: str) -> PoolMap:
    """The pool of a command `zpool create`."""
    words = command.split()
    if "tank" not in words:
        raise NotSupported(file, f"the command {command!r}"[:90], "expected: zpool create ... tank VDEVS")
    made = [
        (vdev, _ROLES[each.use])
        for each in vdev_words(words[words.index("tank") + 1 :])
        if each.use in _ROLES
        for vdev in vdevs_for(each.kind, len(each.members), _ASHIFT)
    ]
    return PoolMap([vdev for vdev, _ in made], [role for _, role in made])


class Laboratory:
    """A pool that is recorded.

    Parameters
    ----------
    pool, member
        Its vdevs, and what its members are.
    datasets
        Its files.
    settings
        Module parameters.
    rotating
        Whether requests are joined as for hard disks. By default not, though members say that they rotate: the rates
        were recorded with requests of up to 128 KiB.
    rebuilding
        Members that are new.
    caches
        How many cache devices the pool has.

    Attributes
    ----------
    engine, pool, disks
        The clock, the pool, and its members.
    """

    def __init__(
        self,
        pool: PoolMap,
        member: Member,
        datasets: Sequence[DatasetSettings],
        settings: PoolSettings | None = None,
        rotating: bool = False,
        rebuilding: frozenset[int] = frozenset(),
        caches: int = 0,
    ) -> None:
        engine = self.engine = Engine()
        host = Host(Cpu(engine))
        self.disks = [_Disk(engine, f"m{number}", member) for number in range(pool.members + caches)]
        queues = [
            BlkMqQueue(
                engine,
                host,
                disk,
                depth=member.depth,
                scheduler=MqDeadline(member.largest) if member.sorted else None,
                max_request_bytes=member.largest,
            )
            for disk in self.disks
        ]
        self.pool = Pool(
            engine,
            None,
            "tank",
            pool,
            queues[: pool.members],
            [rotating] * pool.members,
            settings or PoolSettings(memory=_MEMORY),
            datasets,
            rebuilding,
            rebuilding,
            queues[pool.members :],
        )

    def io(self, data: Dataset, op: int, offset: int, size: int) -> None:
        """Read or write once, and wait for it."""
        done: list[bool] = []
        data.submit(Request(op, offset, size, lambda _: done.append(True), 1, 0))
        self.wait(lambda: bool(done))
        self.engine.run(until=self.engine.now + CALL_S)

    def sync(self) -> None:
        """Write a transaction group, and wait for it."""
        done: list[bool] = []
        self.pool.groups.when_synced(lambda: done.append(True))
        self.wait(lambda: bool(done))

    def wait(self, over: Callable[[], bool]) -> None:
        """Run until something is over."""
        while not over():
            self.engine.step()

    def rest(self, seconds: float) -> None:
        """Let time pass."""
        self.engine.run(until=self.engine.now + seconds)


class Job:
    """Threads of fio (psync) that each do one I/O after the other.

    Parameters
    ----------
    laboratory, data
        Where they run.
    op, size, sync
        Their I/Os.
    threads
        How many there are.
    seconds
        How long they begin I/Os; None: each reads its part of the file once, in order.
    calls
        I/Os of each thread at most.
    """

    def __init__(
        self,
        laboratory: Laboratory,
        data: Dataset,
        op: int,
        size: int,
        sync: int,
        threads: int,
        seconds: float | None,
        calls: int = 1 << 60,
    ) -> None:
        self._engine, self._data = laboratory.engine, data
        self._op, self._size, self._sync = op, size, sync
        self._sequential = seconds is None
        self._began = self._finished = self._engine.now
        self._end = self._began + (seconds or 1e9)
        self._left = threads
        self._calls = calls
        self.ios = 0
        for number in range(threads):
            thread = Random(number)
            self._engine.call_at(self._began + number * STAGGER_S, lambda _, each=thread: self._next(each, 0))  # type: ignore[misc]
        laboratory.wait(lambda: not self._left)

    @property
    def rate(self) -> float:
        """I/Os per second."""
        return self.ios / (self._finished - self._began)

    def _next(self, thread: Random, number: int) -> None:
        blocks = self._data.capacity // self._size
        if self._engine.now >= self._end or (self._sequential and number >= min(blocks, self._calls)):
            self._left -= 1
            return
        place = number if self._sequential else thread.randrange(blocks)

        def done(_: Request) -> None:
            self.ios += 1
            self._finished = self._engine.now
            self._engine.call_at(self._engine.now + CALL_S, lambda _: self._next(thread, number + 1))

        self._data.submit(Request(self._op, place * self._size, self._size, done, 1, self._sync))
