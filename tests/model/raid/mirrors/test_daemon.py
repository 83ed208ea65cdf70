"""md's own thread of a mirror: one plug over all that has been read, and what it sleeps over."""

from __future__ import annotations

from functools import partial

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import WRITE, Call, Request
from raidsim.model.raid.mirrors.daemon import MirrorDaemon
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

BLOCK = 65_536


class Bench:
    """A daemon over one member of 1 ms a request, and what it has written."""

    def __init__(self, tags: int = 32) -> None:
        self.engine = Engine()
        self.host = Host(Cpu(self.engine))
        self.member = FixedServiceDevice(self.engine, "d0", 1 << 30, linear_service(0.001), 1)
        self.queue = BlkMqQueue(self.engine, self.host, self.member, depth=tags)
        self.daemon = MirrorDaemon(self.engine, [self.queue], self.host, True)
        self.done: list[float] = []

    def add(self, number: int, seconds: float = 0.0) -> None:
        """Have a block written after `seconds` of CPU time."""
        self.daemon.add(partial(self._write, number), seconds)

    def _write(self, number: int) -> None:
        over = Call(lambda _: self.done.append(self.engine.now))
        self.daemon.write(0, Request(WRITE, number * BLOCK, BLOCK, over, -2, False))


def test_what_comes_together_is_written_as_one_request() -> None:
    """Protects the plug: 16 blocks of one read are one write."""
    bench = Bench()
    for number in range(16):
        bench.add(number)
    bench.engine.run()
    assert (bench.member.writes, bench.member.write_bytes, len(bench.done)) == (1, 16 * BLOCK, 16)


def test_what_comes_later_is_another_request() -> None:
    """The counter-test: the thread waits for nothing, so blocks that come one by one are written one by one."""
    bench = Bench()
    for number in range(4):
        bench.engine.run(until=(number + 1) * 0.01)
        bench.add(number)
    bench.engine.run()
    assert bench.member.writes == 4


def test_blocks_that_take_time_share_the_plug() -> None:
    """Protects a repair: what is compared block by block, for 0.1 ms each, is still written as one request."""
    bench = Bench()
    for number in range(8):
        bench.add(number, 0.0001)
    bench.engine.run()
    assert bench.member.writes == 1
    assert bench.engine.now >= 8 * 0.0001 + 0.001


def test_it_sleeps_for_a_tag_and_goes_on() -> None:
    """Protects from losing work: with one tag and blocks that do not adjoin, all are written, one after the other."""
    bench = Bench(tags=1)
    for number in range(0, 12, 2):
        bench.add(number)
    bench.engine.call_at(0.0015, lambda _: bench.add(20))
    bench.engine.run()
    assert (bench.member.writes, len(bench.done)) == (7, 7)
