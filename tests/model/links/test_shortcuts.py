"""What the path of every I/O has written out short comes to the same as the long way, and is not taken elsewhere."""

from __future__ import annotations

import random
from collections.abc import Generator
from functools import partial
from typing import Any

import pytest
import simpy

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.layouts import StripedLayout
from raidsim.model.links.link import Bus, Link, Path
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.schedulers import Deadline, MqDeadline, QueuedRequest
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

SECTOR = 512
NCQ = hard_disk("Exos-10E2400-2400GB")


def _completions(cable_rate: float, own_cable: bool, write_cache: bool) -> list[float]:
    """When the I/Os of two drives of one bus are complete (s)."""
    engine, draw, ends = Engine(3), random.Random(3), []
    bus = Bus("bus", 1.5 * NCQ.interface_rate)
    spec = NCQ.with_values(write_cache=write_cache)
    disks = [
        HardDisk(engine, spec, f"d{i}", Path((Link(f"cable{i}", cable_rate), bus)), own_cable=own_cable)
        for i in range(2)
    ]

    def send(disk: HardDisk, _: object) -> None:
        offset = draw.randrange(disk.capacity // SECTOR - 4096) * SECTOR
        disk.submit(Request(draw.choice((READ, WRITE)), offset, draw.randrange(1, 2048) * SECTOR, done))

    def done(request: Request) -> None:
        ends.append(engine.now)

    for number in range(400):
        engine.call_at(number * 0.003, partial(send, disks[number % 2]))
    engine.run()
    return ends


@pytest.mark.parametrize("write_cache", [False, True])
def test_an_own_cable_as_fast_as_the_interface_is_the_interface(write_cache: bool) -> None:
    """Protects results from the link that is left out: to the last bit the same."""
    rate = NCQ.interface_rate
    assert _completions(rate, True, write_cache) == _completions(rate, False, write_cache)


def test_a_slower_own_cable_is_a_link_besides_the_interface() -> None:
    """The counter-test: only a cable with the very times of the interface stands for both."""
    engine = Engine()
    slow, fast = (
        HardDisk(engine, NCQ, name, Path((Link(name, rate), Bus("bus", 1e9))), own_cable=True)
        for name, rate in (("slow", NCQ.interface_rate / 2), ("fast", NCQ.interface_rate))
    )
    assert len(slow.path.links) == 3
    assert len(fast.path.links) == 2


def test_a_path_reserves_as_its_links_do_one_by_one() -> None:
    """Protects what Path has written out of Link: transfers and counts."""
    draw = random.Random(5)

    def links() -> tuple[Link, Link, Link]:
        return Link("cable", 6e8, 1e-6, 5e8), Bus("bus", 4e8), Bus("hba", 9e8)

    whole, parts, now = links(), links(), 0.0
    path = Path(whole)
    for _ in range(500):
        now += draw.choice((0.0, 1e-5, 1e-3))
        earliest, size, write = now + draw.random() * 1e-3, draw.randrange(1, 300_000), draw.random() < 0.4
        end = begin = earliest
        for link in parts:
            begin, over = link.reserve(now, begin, size, write)
            end = max(end, over)
        assert path.reserve(now, earliest, size, write) == end
    assert [(link.busy_s, link.transfers) for link in whole] == [(link.busy_s, link.transfers) for link in parts]
    assert [link.transfers for link in whole] == [500] * 3


def test_a_request_that_passes_leaves_the_scheduler_as_one_that_was_queued() -> None:
    """Protects the order of what comes later: direction, batch and starvation are the same."""
    draw = random.Random(7)
    short, long = MqDeadline(1 << 20), MqDeadline(1 << 20)
    for step in range(2000):
        now = step * 0.05
        if draw.random() < 0.6 and sum(long.queued) < 6:
            op, offset = draw.choice((READ, WRITE)), draw.randrange(1 << 20) * 1024
            first, second = (QueuedRequest(Request(op, offset, 512, _nothing), now, _nothing) for _ in range(2))
            alone = not sum(long.queued)
            long.insert(second, now)
            if alone:
                assert short.passes(first)
                assert long.next(now) is second
            else:
                short.insert(first, now)
        elif draw.random() < 0.5:
            ours, theirs = short.next(now), long.next(now)
            assert (ours and (ours.op, ours.offset)) == (theirs and (theirs.op, theirs.offset))
    assert short.queued == long.queued


def test_the_single_queue_deadline_lets_nothing_pass() -> None:
    """The counter-test: where the head is counts for it, so a request is queued and chosen."""
    assert not Deadline(1 << 20).passes(QueuedRequest(Request(READ, 0, 512, _nothing), 0.0, _nothing))


@pytest.mark.parametrize("pinned", [0.0, 0.1])
def test_the_core_that_is_free_first_takes_the_work(pinned: float) -> None:
    """The first of the cores with the least to do, as min() finds it, also once work stays on some of them."""
    engine, draw, free = Engine(), random.Random(9), [0.0] * 5
    cpu = Cpu(engine, 5)
    for step in range(500):
        core = draw.randrange(5) if draw.random() < pinned else None
        seconds = draw.choice((0.001, 0.002, 0.01))
        engine.call_at(engine.now + draw.choice((0.0, 0.0, 0.004)), _nothing)
        engine.run()
        cpu.interrupt(seconds, core) if step % 2 else cpu.run(0.0, core)
        at = free.index(min(free)) if core is None else core
        free[at] = max(free[at], engine.now) + (seconds if step % 2 else 0.0)
        assert [cpu.free_on(number) for number in range(5)] == free


def _story(environment: Engine | simpy.Environment) -> list[Any]:
    """What happens, and what run() returns, over several runs until events and times."""
    seen: list[Any] = []

    def process(name: str, pause_s: float, times: int) -> Generator[Any, Any, str]:
        for number in range(times):
            yield environment.timeout(pause_s)
            seen.append((name, number, environment.now))
        return name

    first = environment.process(process("a", 1.0, 3))
    environment.process(process("b", 1.5, 4))

    def waits() -> Generator[Any, Any, None]:
        seen.append((yield first))

    first_stop = environment.timeout(1.0, "stop")
    environment.process(waits())
    seen.append(environment.run(until=first_stop))
    seen.append(environment.run(until=first))
    seen.append(environment.run(until=first))
    seen.append(environment.run(until=4.5))
    seen.append((environment.run(), environment.now))
    with pytest.raises(RuntimeError, match="not triggered"):
        environment.run(until=environment.event())
    with pytest.raises(ValueError, match="must be greater"):
        environment.run(until=1)

    def fails() -> Generator[Any, Any, None]:
        yield environment.timeout(1.0)
        raise OSError("broken")

    environment.process(fails())
    with pytest.raises(OSError, match="broken") as found:
        environment.run()
    seen.append(repr(found.value.__cause__))
    return seen


def test_the_engine_runs_as_simpy_does() -> None:
    """Protects the order of events around the end of a run, what it returns, and its errors."""
    assert _story(Engine()) == _story(simpy.Environment())


@pytest.mark.parametrize("hosts", [1, 2])
def test_an_array_lets_go_what_was_plugged_past_it(hosts: int) -> None:
    """An array asks the host's plug whether anything is plugged: a member may be, by somebody else; or has two."""
    engine = Engine()
    all_hosts = [Host(Cpu(engine)) for _ in range(hosts)]
    devices = [FixedServiceDevice(engine, f"d{i}", 1 << 30, linear_service(1e-3), 1) for i in range(2)]
    queues = [
        BlkMqQueue(engine, all_hosts[i % hosts], device, depth=8, scheduler=MqDeadline(1 << 20))
        for i, device in enumerate(devices)
    ]
    array = StripeArray(engine, "md0", queues, StripedLayout([1 << 30] * 2, 65536))
    array.unplug()
    queues[1].plug()
    queues[1].plug()
    array.submit(Request(READ, 65536, 4096, _nothing))
    engine.run()
    assert engine.now == 0.0
    array.unplug()
    engine.run()
    assert engine.now == pytest.approx(1e-3)
    assert not any(host.plug.queues for host in all_hosts)


def _nothing(_: object) -> None:
    pass
