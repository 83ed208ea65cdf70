"""Readers in order on one disk, each with one I/O at a time: the drive reads each stream ahead before it leaves."""

from __future__ import annotations

import random
from functools import cache

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import hard_disk

DISK = hard_disk("IronWolf-Pro-20TB")  # 32 segments
CUTS_IN = DISK.with_values(minimum_prefetch=0)
KIB = 1024


@cache
def _rates(
    cuts_in: bool, streams: int, size: int = 64 * KIB, seconds: float = 4.0, begun: float = 8.0
) -> tuple[float, ...]:
    """Bytes per second of each stream when they have run for a while; the streams are spread over the disk."""
    engine = Engine(1)
    spec = CUTS_IN if cuts_in else DISK
    disk = HardDisk(engine, spec, "disk")
    apart = spec.capacity // streams // 4096 * 4096
    counts = [0] * streams

    def reader(number: int) -> None:
        offset = number * apart

        def read(_: object = None) -> None:
            nonlocal offset
            disk.submit(Request(READ, offset, size, done))
            offset += size

        def done(_: object) -> None:
            counts[number] += engine.now > begun
            read()

        read()

    for number in range(streams):
        reader(number)
    engine.run(begun + seconds)
    return tuple(count * size / seconds for count in counts)


@pytest.mark.parametrize("size", [4 * KIB, 64 * KIB])
def test_two_streams_keep_a_third_of_the_rate_and_share_it(size: int) -> None:
    """Protects backups and players side by side: the arm moves after megabytes, not after every command."""
    alone, both = sum(_rates(False, 1, size)), _rates(False, 2, size)
    assert 0.3 < sum(both) / alone < 0.8
    assert min(both) > 0.3 * max(both)


def test_where_every_command_cuts_in_they_lose_nearly_all() -> None:
    """The counter-test: with no minimum two streams get one read for each move of the arm."""
    assert sum(_rates(True, 2)) < 0.05 * sum(_rates(True, 1))


@pytest.mark.parametrize(("streams", "more"), [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 40), (40, 48)])
def test_more_streams_make_no_cliff(streams: int, more: int) -> None:
    """Protects smoothness: more streams, also more than the drive has segments, keep at least a third of the rate."""
    assert sum(_rates(False, more)) > 0.33 * sum(_rates(False, streams))


def test_twice_as_many_streams_as_segments_are_read_from_those_that_have_one() -> None:
    """Protects the choice of what is kept: in order of use each stream would lose its segment before its next read."""
    assert sum(_rates(False, 64)) > 2 * sum(_rates(True, 64))


@pytest.mark.parametrize("streams", [4, 16])
def test_streams_with_a_segment_each_get_their_parts(streams: int) -> None:
    """Protects each reader: none waits for the others to end.

    A drive that weighs its whole queue prefers streams that are near each other, and a far one for seconds gets what
    its age gives it: reads next to a stream waited for 1 to 4 s on real drives.
    """
    rates = _rates(False, streams)
    assert min(rates) > (0.15 if streams < 16 else 0.03) * max(rates)


def _random_reads(spec: DriveSpec, size: int, pieces: int, outstanding: int) -> float:
    """Reads a second at random addresses, each sent as consecutive commands."""
    engine, rng = Engine(1), random.Random(3)
    disk = HardDisk(engine, spec, "disk")
    complete = 0

    def issue() -> None:
        offset = rng.randrange(disk.capacity // size) * size
        left = pieces

        def done(_: object) -> None:
            nonlocal left, complete
            left -= 1
            if not left:
                complete += 1
                issue()

        for piece in range(pieces):
            disk.submit(Request(READ, offset + piece * (size // pieces), size // pieces, done))

    for _ in range(outstanding):
        issue()
    engine.run(5.0)
    return complete / 5.0


@pytest.mark.parametrize(("size", "pieces"), [(4 * KIB, 1), (1024 * KIB, 2), (256 * KIB, 4)])
@pytest.mark.parametrize("outstanding", [1, 8])
def test_random_reads_are_not_held_up(size: int, pieces: int, outstanding: int) -> None:
    """Protects random reads, also those that the host sends in several commands: they are no streams."""
    assert _random_reads(DISK, size, pieces, outstanding) == pytest.approx(
        _random_reads(CUTS_IN, size, pieces, outstanding), rel=0.04
    )
