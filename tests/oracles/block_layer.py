"""Tags and write-back throttling of blk-mq against closed forms, on a device that serves any number of I/Os at once."""

from __future__ import annotations

from collections.abc import Callable

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.throttle import WriteBackThrottle
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import ASYNC, WRITE, Request
from raidsim.model.loads.arrivals import exponential_think
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.loads.thinking_load import ThinkingLoad
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.oracles import theory
from raidsim.tests.oracles.closed import THINK_S
from raidsim.tests.oracles.oracle import Oracle, exact
from raidsim.tests.oracles.queues import GIB, KIB, SERVICE_S, exponential

_SERVERS = 1024
_TARGET_S = 2e-3
_WRITE_S = 4e-3
_QUEUE = 64
_WAITING = 100
_REPAIR = "Kleinrock, Queueing Systems I, 3.8: as many servers as tags"
_BATCHES = f"{_REPAIR}; sleepers are woken by batches (lib/sbitmap.c)"
_LITTLE = "Little 1961, with the writes at once of block/blk-wbt.c (get_limit, rq_depth_calc_max_depth, wbt_rqw_done)"


def tagged(users: int, tags: int | None, seconds: float = 1.0) -> Callable[[int], float]:
    """I/Os a second of users who think, then need a tag for the time of an I/O; None: without a queue in front."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        device = FixedServiceDevice(engine, "d", GIB, exponential(engine, "d"), _SERVERS)
        think = exponential_think(engine.streams.generator("think"), THINK_S)
        asked = device if tags is None else BlkMqQueue(engine, Host(Cpu(engine)), device, depth=tags)
        load = ThinkingLoad(engine, asked, think=think, size=4 * KIB, depth=users)
        engine.run_to(0.1)
        load.start_statistics(engine.now)
        engine.run_to(0.1 + seconds)
        return load.reads / seconds

    return simulate


def written_back(read_s: float | None, throttled: bool = True, seconds: float = 2.0) -> Callable[[int], float]:
    """Writes a second that nobody waits for, of a hundred that are always wanted, next to reads.

    The reads, 100 a second, take `read_s`; None: there are none.
    """

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        writes = exponential(engine, "writes", _WRITE_S)
        device = FixedServiceDevice(
            engine, "d", GIB, lambda size, op: writes(size, op) if op else read_s or 0.0, _SERVERS
        )
        throttle = WriteBackThrottle(engine, _TARGET_S) if throttled else None
        queue = BlkMqQueue(engine, Host(Cpu(engine)), device, depth=_QUEUE, throttle=throttle)
        written = 0

        def again(request: Request) -> None:
            nonlocal written
            written += 1
            queue.submit(Request(WRITE, request.offset, 4 * KIB, again, request.issuer, ASYNC))

        for issuer in range(1, _WAITING + 1):
            queue.submit(Request(WRITE, 0, 4 * KIB, again, issuer, ASYNC))
        if read_s is not None:
            OpenLoad(engine, queue, size=4 * KIB, iops=100.0)
        engine.run_to(1.0)
        before = written
        engine.run_to(1.0 + seconds)
        return (written - before) / seconds

    return simulate


def allowed_rate(read_s: float | None) -> float:
    """Writes a second that block/blk-wbt.c allows in the background, once its step has ended.

    Reads above the target halve 16 writes at once until one is left. Otherwise their number is doubled up to three
    quarters of the queue; a half of that are for writes that nobody waits for, a quarter soon after other I/O. The
    kernel wakes those held back when the half has room for half of the quarter: without reads the writes at once go
    from 24 to 18 and back, and of n exponential ones the next is over after the n-th part of their mean.
    """
    if read_s is not None and read_s > _TARGET_S:
        return 1 / _WRITE_S
    most = 3 * _QUEUE // 4
    half, quarter = (most + 1) // 2, (most + 3) // 4
    if read_s is not None:
        return quarter / _WRITE_S
    batch = quarter // 2
    return batch / _WRITE_S / (theory.harmonic(half) - theory.harmonic(half - batch))


def block_layer() -> list[Oracle]:
    """The oracles."""
    found = [
        exact(
            f"{users} users who think 5 ms, {tags} tags: rate",
            _REPAIR,
            theory.machine_repair(users, THINK_S, SERVICE_S, tags),
            "1/s",
            tagged(users, tags),
            8,
        )
        for users, tags in ((12, 2), (24, 4), (24, 8))
    ]
    found.append(
        Oracle(
            "100 users who think 5 ms, 16 tags, woken 2 at a time: rate within bounds",
            _BATCHES,
            theory.machine_repair(100, THINK_S, SERVICE_S, 15),
            theory.machine_repair(100, THINK_S, SERVICE_S, 16),
            "1/s",
            tagged(100, 16, 0.3),
            8,
        )
    )
    for read_s, what in ((None, "no reads"), (0.5e-3, "fast reads"), (3e-3, "reads above the target")):
        rate = allowed_rate(read_s)
        found.append(exact(f"write-back throttled, {what}: rate", _LITTLE, rate, "1/s", written_back(read_s), 8))
    return found
