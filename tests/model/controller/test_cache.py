"""The parts of a controller's cache: the elevator, dirty rows, clean rows and the table of readers."""

from __future__ import annotations

import pytest

from raidsim.model.controller.cache import Sweep, WriteCache
from raidsim.model.controller.controller import RaidController
from raidsim.model.controller.firmware import Firmware
from raidsim.model.controller.read_ahead import ReadCache, SequentialReaders, uncovered
from raidsim.model.controller.settings import ControllerSettings
from raidsim.model.controller.stages import GatheredWrite
from raidsim.model.core.engine import Engine
from raidsim.model.core.extents import ExtentSet
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import WRITE, Request

ROW = 100


def taken(sweep: Sweep) -> list[int]:
    """Everything, in order."""
    rows = []
    while (row := sweep.take()) is not None:
        rows.append(row)
    return rows


def test_a_sweep_goes_up_and_starts_again() -> None:
    """Protects the elevator: rows behind the position come in the next round; each comes once."""
    sweep = Sweep()
    for row in (5, 9, 2, 5):
        sweep.add(row)
    assert [sweep.take(), sweep.take()] == [2, 5]
    for row in (3, 7, 1):
        sweep.add(row)
    sweep.discard(9)
    assert taken(sweep) == [7, 1, 3]
    sweep.add(4)
    sweep.discard(4)
    sweep.add(4)
    assert taken(sweep) == [4]


def written(cache: WriteCache, start: int, end: int, now: float = 0.0) -> bool:
    """Reserve and commit."""
    assert cache.admits(end - start)
    cache.reserved_bytes += end - start
    return cache.commit(start, end, now)


def test_complete_rows_go_first_then_old_ones() -> None:
    """Protects the order of destaging; young incomplete rows stay unless room is needed."""
    cache = WriteCache(10_000, ROW, 1_000)
    written(cache, 0, 10, 1.0)
    written(cache, 210, 220, 2.0)
    written(cache, 300, 400, 3.0)
    assert cache.age(3.0, 2.0) == 4.0
    first = cache.take(False)
    assert first is not None
    assert first.number == 3
    second = cache.take(False)
    assert second is not None
    assert second.number == 0
    assert cache.take(False) is None
    third = cache.take(True)
    assert third is not None
    assert list(third.extents) == [(210, 220)]
    assert (cache.dirty_bytes, cache.flight_bytes) == (0, 120)


def test_a_row_that_a_sequential_writer_has_passed_goes_with_the_next_one() -> None:
    """Protects long sweeps: a hole in a sequence of complete rows is not left for a sweep of its own."""
    cache = WriteCache(10_000, ROW, 1_000)
    written(cache, 200, 240)
    written(cache, 250, 400)
    first, second = cache.take(False), cache.take(False)
    assert first is not None
    assert second is not None
    assert [first.number, second.number] == [2, 3]


def test_a_row_that_nobody_has_passed_stays() -> None:
    """Counter-test: dirty data that does not reach the next row is not part of a sequence."""
    cache = WriteCache(10_000, ROW, 1_000)
    written(cache, 200, 240)
    written(cache, 300, 400)
    first = cache.take(False)
    assert first is not None
    assert first.number == 3
    assert cache.take(False) is None


def test_a_passed_row_that_becomes_old_is_written_once() -> None:
    """Protects the cache's books: the row waits in one order only, whatever else becomes true of it."""
    cache = WriteCache(10_000, ROW, 1_000)
    written(cache, 250, 400)
    cache.age(10.0, 2.0)
    written(cache, 210, 220)
    numbers = []
    while (row := cache.take(True)) is not None:
        numbers.append(row.number)
    assert numbers == [2, 3]


def test_the_last_row_of_an_array_may_be_short() -> None:
    """Protects against a tail that is never complete."""
    cache = WriteCache(10_000, ROW, 1_050)
    written(cache, 1_000, 1_050)
    row = cache.take(False)
    assert row is not None
    assert cache.is_full(row)


def test_a_row_written_again_while_in_flight_waits_for_it() -> None:
    """Protects the order of writes to a row: the newer data goes after the older has landed."""
    cache = WriteCache(10_000, ROW, 1_000)
    written(cache, 0, 100)
    row = cache.take(False)
    assert row is not None
    assert not written(cache, 0, 100)
    assert cache.take(True) is None
    assert cache.unwritten_bytes == 200
    cache.land(row)
    again = cache.take(False)
    assert again is not None
    assert again is not row


def test_overwriting_is_told_and_takes_no_room() -> None:
    """Protects the count of write hits and of bytes."""
    cache = WriteCache(150, ROW, 1_000)
    assert not written(cache, 40, 140)
    assert written(cache, 60, 100)
    assert not written(cache, 130, 150)
    assert (cache.dirty_bytes, cache.reserved_bytes) == (110, 0)
    assert not cache.admits(41)


@pytest.mark.parametrize(
    ("low", "high", "gap"),
    [(0, 10, (0, 10)), (10, 40, None), (5, 45, (5, 45)), (15, 45, (40, 45)), (10, 60, (40, 50)), (55, 58, None)],
)
def test_gaps_between_several_sets(low: int, high: int, gap: tuple[int, int] | None) -> None:
    """Protects the look-up: from the first to the last byte that none of them has."""
    one, two = ExtentSet(), ExtentSet()
    one.add(10, 30)
    one.add(50, 60)
    two.add(20, 40)
    assert uncovered([one, two, ExtentSet()], low, high) == gap


def test_the_row_used_longest_ago_goes_first() -> None:
    """Protects the LRU order, and rows that are being read."""
    cache = ReadCache(3 * ROW, ROW)
    for row in (0, 1, 2):
        cache.keep(row * ROW, (row + 1) * ROW)
    assert cache.sets(0, False)[0].total == ROW
    arrival = cache.expect(500, 600)
    assert arrival is not None
    assert cache.sets(1, False) == []
    assert cache.used_bytes == 3 * ROW
    cache.keep(700, 900)
    assert cache.sets(5, False)[0].total == 0
    assert cache.arrivals(5, 550, 551) == [arrival]
    over: list[bool] = []
    arrival.waiters.append(waiter_of(over))
    cache.arrived(arrival)
    assert over == [True]
    assert cache.sets(5, False)[0].total == ROW
    assert cache.expect(1000, 1000 + 4 * ROW) is None
    cache.forget(500, 590)
    assert list(cache.sets(5, True)[0]) == [(590, 600)]


def waiter_of(over: list[bool]) -> GatheredWrite:
    """What waits for one part, and notes that it has come."""
    engine = Engine()
    below = FixedServiceDevice(engine, "a", 1 << 20, lambda size, op: 1e-3)
    controller = RaidController(engine, "c", below, ControllerSettings(cache=1 << 20), Firmware(engine, "cpu"))
    return GatheredWrite(controller, Request(WRITE, 0, 512, lambda _: over.append(True)), 1)


def test_only_so_many_readers_are_remembered() -> None:
    """Protects the table of streams: the one idle for longest is forgotten."""
    readers = SequentialReaders(2)
    one = readers.read(0, 10)
    readers.read(100, 110)
    assert readers.read(10, 20) is one
    assert one.reads == 2
    readers.read(200, 210)
    assert readers.read(110, 120).reads == 1
