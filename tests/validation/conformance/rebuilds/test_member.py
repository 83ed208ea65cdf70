"""The members of the recordings of rebuilds: what a request takes, and whose turn it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, Call, Request
from raidsim.validation.conformance.rebuilds.member import MemberKind, SeekingMember

KIND = MemberKind(0.001, 0.0, 0.004, 0.012, 1 << 30, 32, False, 0, 1 << 20, True)
QUARTER = 1 << 28


def served(kind: MemberKind, *offsets: int) -> list[tuple[int, float]]:
    """Offset and time (s) of each completion of reads that all come at once."""
    engine = Engine()
    member = SeekingMember(engine, "mb0", kind)
    done: list[tuple[int, float]] = []
    for offset in offsets:
        call = Call(lambda request: done.append((request.offset, engine.now)))
        member.submit(Request(READ, offset, 4096, call, 0, False))
    engine.run()
    return done


def test_a_seek_takes_the_root_of_its_distance() -> None:
    """Protects the service time: no seek to where the last one ended, else 4 ms and 12 ms times the root of it."""
    first, second, third = served(KIND, 0, 4096, QUARTER + 8192)
    assert [first[1], second[1]] == pytest.approx([0.001, 0.002])
    assert third[1] - second[1] == pytest.approx(0.001 + 0.004 + 0.012 * 0.25**0.5)


def test_the_nearest_goes_first_where_the_driver_sorts() -> None:
    """Protects the order, with the counter-test of a driver that takes the oldest."""
    offsets = (0, 3 * QUARTER, QUARTER)
    assert [at for at, _ in served(replace(KIND, nearest=True), *offsets)] == [0, QUARTER, 3 * QUARTER]
    assert [at for at, _ in served(KIND, *offsets)] == list(offsets)


def test_one_that_has_waited_for_a_second_goes_first() -> None:
    """Protects against starving: the far request is served although nearer ones keep coming."""
    near = [4096 * number for number in range(0, 2000, 2)]
    order = [at for at, _ in served(replace(KIND, nearest=True), 0, 3 * QUARTER, *near[1:])]
    assert 100 < order.index(3 * QUARTER) < 300
