"""The request queue: plugging, the driver's depth, room for writers. The disk serves a request in 1 ms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.block.single_queue import BlockQueue, PlugSettings
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, RESYNC_ISSUER, WRITE
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder

NEVER = PlugSettings(requests=0, delay_s=0.0)


class Bench:
    """A disk behind a queue."""

    def __init__(
        self,
        plug: PlugSettings | None = None,
        depth: int = 1,
        limit_bytes: int = 1 << 40,
        limit_requests: int = 1 << 30,
        servers: int = 1,
        **wakes: Any,
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine)
        self.disk = Recorder(self.engine, servers=servers)
        host = Host(self.cpu, replace(FREE, command_s=10e-6))
        self.queue = BlockQueue(
            self.engine, host, self.disk, Noop(128 * KIB), depth, limit_bytes, limit_requests, plug, **wakes
        )
        self.issuer = Issuer(self.engine, self.queue)

    def at(self, time: float, block: int, op: int = READ) -> None:
        """Send a 4 KiB request that merges with no other at `time`."""
        self.engine.call_at(time, lambda _: self.issuer.send(op, block * MIB, 4 * KIB))


def test_a_plugged_queue_waits_for_somebody_who_waits() -> None:
    """Protects what read-ahead hides on these kernels: nothing is started until a reader needs it."""
    bench = Bench(NEVER)
    bench.issuer.read(0, 4 * KIB)
    bench.issuer.read(4 * KIB, 4 * KIB)
    bench.engine.run(until=1.0)
    assert bench.disk.log == []
    bench.queue.unplug()
    bench.engine.run()
    assert bench.disk.log == [(READ, 0, 8 * KIB)], "and what came meanwhile has merged"
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([1.001, 1.001])


def test_a_queue_without_plug_starts_at_once() -> None:
    """The counter-test: the first request is on its way before the second could merge with it."""
    bench = Bench(None)
    bench.issuer.read(0, 4 * KIB)
    bench.issuer.read(4 * KIB, 4 * KIB)
    bench.engine.run()
    assert bench.disk.log == [(READ, 0, 4 * KIB), (READ, 4 * KIB, 4 * KIB)]
    assert bench.issuer.done[0][0] == pytest.approx(0.001)


def test_a_plug_lets_go_at_its_threshold() -> None:
    """Protects unplugging by number: three requests wait, the fourth starts all. Merged ones count once."""
    bench = Bench(PlugSettings(requests=4, delay_s=0.0))
    for time, block in ((0.0, 1), (0.1, 2), (0.2, 3), (0.3, 4)):
        bench.at(time, block)
    bench.engine.run(until=0.25)
    bench.issuer.read(MIB + 4 * KIB, 4 * KIB)
    bench.engine.run(until=0.299)
    assert bench.disk.log == []
    bench.engine.run()
    assert [offset // MIB for offset in bench.issuer.order] == [1, 1, 2, 3, 4]
    assert bench.issuer.done[0][0] == pytest.approx(0.301)


def test_a_plug_lets_go_after_its_delay() -> None:
    """Protects unplugging by time: a lone request starts 3 ms after it plugged the queue, not after a later one."""
    bench = Bench(PlugSettings(requests=4, delay_s=0.003))
    bench.at(0.0, 1)
    bench.at(0.002, 2)
    bench.engine.run()
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([0.004, 0.005])


def test_a_new_plug_has_its_whole_delay() -> None:
    """Protects from a timer of the last plug: plugged again at 2 ms after an unplugging, it lasts until 5 ms."""
    bench = Bench(PlugSettings(requests=4, delay_s=0.003))
    bench.at(0.0, 1)
    bench.engine.call_at(0.0005, lambda _: bench.queue.unplug())
    bench.at(0.002, 2)
    bench.engine.run()
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([0.0015, 0.006])


def test_a_busy_queue_is_not_plugged() -> None:
    """Protects from idling between requests: what arrives while the disk works is next without an unplugging."""
    bench = Bench(NEVER)
    bench.issuer.read(0, 4 * KIB)
    bench.queue.unplug()
    bench.at(0.0005, 9)
    bench.engine.run()
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([0.001, 0.002])


@pytest.mark.parametrize(("depth", "last"), [(1, 0.004), (2, 0.002), (4, 0.001)])
def test_the_driver_sends_no_more_than_its_depth(depth: int, last: float) -> None:
    """Protects tagged queueing and its absence: four requests at a drive that could serve four at once."""
    bench = Bench(None, depth=depth, servers=4)
    for block in range(4):
        bench.at(0.0, block)
    bench.engine.run()
    assert bench.engine.now == pytest.approx(last)


def test_what_is_longer_than_a_command_is_cut() -> None:
    """300 KiB at a drive that takes 128 KiB: three commands, answered once, when the last of them is over."""
    bench = Bench(None)
    bench.issuer.send(WRITE, 0, 300 * KIB)
    assert bench.queue.queued_write_bytes == 300 * KIB
    bench.engine.run()
    assert bench.disk.log == [
        (WRITE, 0, 128 * KIB),
        (WRITE, 128 * KIB, 128 * KIB),
        (WRITE, 256 * KIB, 44 * KIB),
    ]
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([0.003])
    assert bench.queue.queued_write_bytes == 0


def test_what_is_no_longer_is_not() -> None:
    """The counter-test: 128 KiB are one command."""
    bench = Bench(None)
    bench.issuer.send(WRITE, 0, 128 * KIB)
    bench.engine.run()
    assert bench.disk.log == [(WRITE, 0, 128 * KIB)]


def test_every_part_of_a_merged_command_is_answered() -> None:
    """Protects the way back: four merged requests are one command and one interrupt, and four completions."""
    bench = Bench(NEVER)
    for block in range(4):
        bench.issuer.write(block * 4 * KIB, 4 * KIB)
    bench.queue.unplug()
    bench.engine.run()
    assert bench.disk.log == [(WRITE, 0, 16 * KIB)]
    assert sorted(bench.issuer.order) == [block * 4 * KIB for block in range(4)]
    assert bench.cpu.kernel_s == pytest.approx(10e-6)


def test_writers_wait_at_the_limit_and_go_on_well_below() -> None:
    """Protects throttling: with 8 separate writes of 4 KiB under a limit of 32 KiB there is room at 28 KiB or less."""
    bench = Bench(NEVER, limit_bytes=32 * KIB)
    for block in range(7):
        bench.issuer.write(block * MIB, 4 * KIB)
    room = [bench.queue.has_room]
    bench.issuer.write(7 * MIB, 4 * KIB)
    assert [*room, bench.queue.has_room] == [True, False]
    woken: list[float] = []
    bench.queue.when_room(lambda: woken.append(bench.engine.now))
    bench.engine.run()
    assert woken == pytest.approx([0.001]), "waiting unplugs the queue; the first completion leaves 7 of 8"


def test_the_limit_may_be_a_number_of_requests() -> None:
    """Protects the second limit: of 17 separate writes one is with the drive and 16 are the most that may wait; there
    is room again when 14 do, after two have been served.
    """
    bench = Bench(None, limit_requests=16)
    for block in range(16):
        bench.issuer.write(block * MIB, 4 * KIB)
    room = [bench.queue.has_room]
    bench.issuer.write(16 * MIB, 4 * KIB)
    assert [*room, bench.queue.has_room] == [True, False]
    woken: list[float] = []
    bench.queue.when_room(lambda: woken.append(bench.engine.now))
    bench.engine.run()
    assert woken == pytest.approx([0.002])


@pytest.mark.parametrize(
    ("wakes", "times"),
    [({"wake_share": 0.5, "wakes_one": True}, [0.008, 0.009, 0.010]), ({"wake_share": 0.5}, [0.008] * 3)],
)
def test_writers_may_be_woken_one_by_one_when_a_batch_is_free(wakes: dict[str, Any], times: list[float]) -> None:
    """Protects batches of 2.4: with 16 requests waiting at most, the first of three writers goes on when 8 are free,
    and the others with the next completions. The counter-test: else all go on at once.
    """
    bench = Bench(None, limit_requests=16, **wakes)
    for block in range(17):
        bench.issuer.write(block * MIB, 4 * KIB)
    woken: list[float] = []
    for _ in range(3):
        bench.queue.when_room(lambda: woken.append(bench.engine.now))
    bench.engine.run()
    assert woken == pytest.approx(times)


def test_the_last_completion_leaves_nobody_asleep() -> None:
    """Protects from a writer that sleeps for ever: of three that wait for one request, all go on with its end."""
    bench = Bench(None, limit_requests=1, wake_share=0.5, wakes_one=True)
    bench.issuer.write(0, 4 * KIB)
    woken: list[float] = []
    for _ in range(3):
        bench.queue.when_room(lambda: woken.append(bench.engine.now))
    bench.engine.run()
    assert woken == pytest.approx([0.001] * 3)


def test_reads_never_fill_the_queue() -> None:
    """The counter-test: the limits are on writes; a thousand reads leave room."""
    bench = Bench(NEVER, limit_bytes=32 * KIB, limit_requests=8)
    for block in range(60):
        bench.issuer.read(block * MIB, 4 * KIB)
    assert bench.queue.has_room
    assert bench.queue.queued_write_bytes == 0


def test_resync_is_no_foreground() -> None:
    """Protects idle detection: what the resync thread moves does not count as load on the member."""
    bench = Bench(None)
    bench.issuer.send(READ, 0, 64 * KIB, RESYNC_ISSUER)
    bench.issuer.send(READ, MIB, 4 * KIB)
    bench.issuer.send(WRITE, 2 * MIB, 8 * KIB)
    bench.engine.run()
    assert bench.queue.foreground_bytes == 12 * KIB


def test_it_looks_like_its_device() -> None:
    """Protects nesting: an array takes a queue for a device."""
    bench = Bench(None)
    assert (bench.queue.name, bench.queue.capacity) == ("d", 64 * MIB)


def test_a_flush_is_a_command() -> None:
    """Protects the CPU time of programs that sync: a flush costs a command like any other."""
    bench = Bench()
    bench.queue.flush(lambda: None)
    bench.engine.run()
    assert bench.cpu.kernel_s == pytest.approx(10e-6)
