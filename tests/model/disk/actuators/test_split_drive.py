"""Tests of drives with several actuators: two arms serve two places at once, and one place no faster than one arm."""

import random
from typing import Any

import pytest
from pydantic import ValidationError

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.disk.actuators.split_drive import SplitDrive
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.links.link import AtaChannel, Link, Path

KIB, MIB = 1024, 1024**2
ONE = hard_disk("Exos-X18-16TB").with_values(write_cache=False)
TWO = ONE.with_values(actuators=2, heads=16)
HALF = TWO.capacity // 2


class Host:
    """Keeps a number of commands at a drive."""

    def __init__(self, spec: DriveSpec) -> None:
        self.engine = Engine(seed=1)
        self.disk: HardDisk | SplitDrive = (HardDisk if spec.actuators == 1 else SplitDrive)(self.engine, spec, "sda")

    def run(self, streams: list[list[tuple[int, int, int]]]) -> float:
        """Seconds that lists of (operation, offset, size) take, one command of each at a time."""
        began = self.engine.now
        for operations in streams:
            self._stream(operations)
        self.engine.run()
        return self.engine.now - began

    def _stream(self, operations: list[tuple[int, int, int]]) -> None:
        source = iter(operations)

        def following(_: object = None) -> None:
            operation = next(source, None)
            if operation is not None:
                self.disk.submit(Request(*operation, following))

        following()

    def scattered(self, op: int, span: int, depth: int = 16, count: int = 60) -> float:
        """Random commands of 4 KiB per second in the first `span` bytes."""
        rng = random.Random(3)
        draw = [[(op, rng.randrange(span // 4096) * 4096, 4 * KIB) for _ in range(count)] for _ in range(depth)]
        return depth * count / self.run(draw)


def in_order(start: int, size: int) -> list[tuple[int, int, int]]:
    """Reads of 128 KiB in order."""
    return [(READ, offset, 128 * KIB) for offset in range(start, start + size, 128 * KIB)]


@pytest.mark.parametrize("op", [READ, WRITE])
def test_random_commands_over_all_addresses_find_two_arms(op: int) -> None:
    """At 16 outstanding two arms do 1.6 times what one does, as each has half of the commands to choose from."""
    ratio = Host(TWO).scattered(op, TWO.capacity) / Host(ONE).scattered(op, ONE.capacity)
    assert 1.5 < ratio < 2.0
    deep = Host(TWO).scattered(op, TWO.capacity, depth=32) / Host(ONE).scattered(op, ONE.capacity)
    assert 1.85 < deep < 2.15


def test_random_reads_in_one_half_find_one_arm() -> None:
    """The counter-test: where only one actuator has something to do the other is of no use."""
    assert Host(TWO).scattered(READ, HALF) < 1.2 * Host(ONE).scattered(READ, ONE.capacity)


def test_two_streams_run_at_twice_the_rate_and_one_does_not() -> None:
    """A stream in each half runs as if alone. Two in the same half share an arm, and one has one arm."""
    size = 256 * MIB
    apart = 2 * size / Host(TWO).run([in_order(0, size), in_order(HALF, size)])
    alone = size / Host(TWO).run([in_order(0, size)])
    together = 2 * size / Host(TWO).run([in_order(0, size), in_order(HALF // 2 // 4096 * 4096, size)])
    assert alone == pytest.approx(TWO.outer_media_rate, rel=0.03)
    assert apart == pytest.approx(2 * TWO.outer_media_rate, rel=0.03)
    assert together < 1.1 * alone


def test_the_interface_is_one_for_both() -> None:
    """A connector of 300 MB/s carries no more than that, whichever actuator reads."""
    size, spec = 128 * MIB, TWO.with_values(interface_rate="300MB/s")
    assert 2 * size / Host(spec).run([in_order(0, size), in_order(HALF, size)]) == pytest.approx(300e6, rel=0.03)


def test_on_an_ata_channel_they_take_turns() -> None:
    """There one command at a time is on the way, so two arms are no faster than one."""
    free, taking_turns = Host(TWO), Host(TWO)
    engine = taking_turns.engine
    taking_turns.disk = SplitDrive(engine, TWO, "sda", Path((Link("cable", 600e6),)), AtaChannel("ide0"))
    assert taking_turns.scattered(READ, TWO.capacity) < 0.5 * free.scattered(READ, TWO.capacity)
    assert taking_turns.disk.reads == free.disk.reads


def test_a_request_across_the_border_is_complete_when_both_parts_are() -> None:
    """It is split, completes once, and its bytes add up."""
    host = Host(TWO)
    done: list[Request] = []
    request = Request(READ, HALF - 64 * KIB, 128 * KIB, done.append)
    host.disk.submit(request)
    host.engine.run()
    assert done == [request]
    assert isinstance(host.disk, SplitDrive)
    assert [part.read_bytes for part in host.disk.parts] == [64 * KIB, 64 * KIB]
    assert host.disk.read_bytes == 128 * KIB


def test_a_flush_reaches_both_caches() -> None:
    """It is complete when no actuator has dirty data."""
    host = Host(TWO.with_values(write_cache=True))
    host.disk.submit(Request(WRITE, 0, 4 * KIB, lambda _: None))
    host.disk.submit(Request(WRITE, HALF, 4 * KIB, lambda _: None))
    done: list[int] = []
    host.engine.run(0.001)
    assert host.disk.dirty_bytes == 8 * KIB
    host.disk.flush(lambda: done.append(host.disk.dirty_bytes))
    host.engine.run()
    assert done == [0]


def test_its_figures_are_those_of_both() -> None:
    """Counts are sums; it is as busy as its busiest actuator: a drive with an idle arm can be the bottleneck."""
    host = Host(TWO)
    host.scattered(READ, HALF, count=10)
    assert isinstance(host.disk, SplitDrive)
    first, second = host.disk.parts
    assert (first.reads, second.reads, host.disk.reads) == (160, 0, 160)
    assert host.disk.busy_s == first.busy_s > 0
    assert host.disk.seek_s + host.disk.rotation_s + host.disk.transfer_s > 0.8 * host.disk.busy_s
    assert (host.disk.outstanding, host.disk.writes, host.disk.capacity) == (0, 0, TWO.capacity)
    host.disk.start_statistics(host.engine.now)
    assert host.disk.reads == 0
    with pytest.raises(ModelError, match="within the capacity"):
        host.disk.submit(Request(READ, TWO.capacity, 4 * KIB, lambda _: None))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 15}, "heads is 15; expected a multiple of 2"),
        ({"capacity": ONE.capacity - 4096}, "capacity is .*; expected a multiple of 8192"),
        ({"zones": [{"cylinders": 1000000, "sectors_per_track": 4000}]}, "a list of zones; expected their number"),
        ({"actuators": 0}, "actuators"),
    ],
)
def test_what_cannot_be_divided_is_refused(changes: dict[str, Any], message: str) -> None:
    """One message that says what was found and what is expected."""
    with pytest.raises(ValidationError, match=message):
        TWO.with_values(**changes)
