"""FreeBSD's disk queue: sorted, not merged, cut to the driver's size."""

from __future__ import annotations

import pytest

from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Call, Request
from raidsim.model.schedulers.disksort import Disksort
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder


def queue() -> Disksort:
    """An empty one."""
    scheduler = Disksort(64 * KIB)
    scheduler.done = Call(lambda _: None)
    return scheduler


def add(scheduler: Disksort, *places: int, op: int = READ) -> None:
    """Queue requests of 4 KiB at so many MiB."""
    for place in places:
        scheduler.add(Request(op, place * MIB, 4 * KIB, lambda _: None), 0.0)


def take(scheduler: Disksort, count: int = 100) -> list[int]:
    """The next ones (MiB)."""
    out: list[int] = []
    while len(out) < count and (queued := scheduler.next(0.0)) is not None:
        out.append(queued.offset // MIB)
    return out


def test_nothing_merges() -> None:
    """Protects the size of commands: neighbors stay two requests, since FreeBSD clusters in the file system."""
    scheduler = queue()
    for offset in (0, 4 * KIB):
        scheduler.add(Request(READ, offset, 4 * KIB, lambda _: None), 0.0)
    assert scheduler.queued == [2, 0]
    assert scheduler.merges == 0
    assert len(take(scheduler)) == 2
    assert scheduler.queued == [0, 0]


def test_it_is_a_one_way_elevator() -> None:
    """Protects the sweep: what lies before the head of the queue waits for the next one, reads and writes alike."""
    scheduler = queue()
    add(scheduler, 50, 80)
    add(scheduler, 60, 10, op=WRITE)
    assert take(scheduler, 1) == [50]
    add(scheduler, 55, 20, 70)
    assert take(scheduler) == [60, 70, 80, 10, 20, 55]


def test_a_reader_who_keeps_ahead_of_the_head_is_never_left() -> None:
    """Protects a weakness of that driver: a sequential reader with reads queued holds the disk while others wait."""
    scheduler = queue()
    add(scheduler, 10, 11, 5)
    served = []
    for place in range(12, 30):
        served += take(scheduler, 1)
        add(scheduler, place)
    assert 5 not in served
    assert take(scheduler, 3) == [28, 29, 5]


def test_others_get_the_disk_when_he_stops_to_think() -> None:
    """The counter-test: with nothing of his queued at one moment the sweep is over, and he waits for the next."""
    scheduler = queue()
    add(scheduler, 10, 11, 5)
    assert take(scheduler, 2) == [10, 11]
    add(scheduler, 12)
    assert take(scheduler) == [5, 12]


def test_a_long_request_is_cut_and_completes_with_its_last_part() -> None:
    """Protects d_maxsize: 160 KiB become 64, 64 and 32 at the drive, one completion at the top."""
    engine = Engine()
    disk = Recorder(engine)
    blocks = BlockQueue(engine, Host(Cpu(engine)), disk, Disksort(64 * KIB), 1, MIB, 64, None)
    issuer = Issuer(engine, blocks)
    issuer.read(0, 160 * KIB)
    engine.run()
    assert disk.sent(READ) == [(0, 64 * KIB), (64 * KIB, 64 * KIB), (128 * KIB, 32 * KIB)]
    ((at, _, _),) = issuer.done
    assert at == pytest.approx(0.003)
    assert blocks.foreground_bytes == 160 * KIB
