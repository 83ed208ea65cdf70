"""Records of a trace in the order of their times, as long as they are not too far from it."""

from __future__ import annotations

import heapq
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidsim.model.core.errors import InputError
from raidsim.scenarios.traces import ordering
from raidsim.scenarios.traces.formats.columns import RawColumns, columns_of
from raidsim.scenarios.traces.formats.fields import RawRecord
from raidsim.scenarios.traces.formats.source import MALFORMED, Source

MOMENTS = st.lists(st.integers(0, 40), max_size=60)


def by_definition(moments: list[int], window: int) -> list[tuple[int, int]] | None:
    """Time and number of each record, from a heap of so many; None if one comes too late."""
    waiting: list[tuple[int, int]] = []
    given_out: list[tuple[int, int]] = []
    for number, moment in enumerate(moments):
        if given_out and moment < given_out[-1][0]:
            return None
        heapq.heappush(waiting, (moment, number))
        if len(waiting) > window:
            given_out.append(heapq.heappop(waiting))
    return given_out + sorted(waiting)


def in_parts(records: list[RawRecord], part: int, source: Source) -> list[RawColumns]:
    """Records in columns, so many at a time."""
    marks = range(len(records))
    return [columns_of(records[at : at + part], marks[at : at + part], source) for at in marks[::part]]


@settings(max_examples=200, deadline=None)
@given(moments=MOMENTS, window=st.integers(1, 12), part=st.integers(1, 9))
def test_the_order_is_that_of_a_heap(moments: list[int], window: int, part: int) -> None:
    """Protects the sorting of whole parts: the same records as from a heap, however many are read at once."""
    records: list[RawRecord] = [(moment, 0, number, 512, "a") for number, moment in enumerate(moments)]
    expected = by_definition(moments, window)
    with pytest.MonkeyPatch.context() as patched, closing(Source(Path(__file__))) as source:
        patched.setattr(ordering, "WINDOW", window)
        parts = [
            columns_of(records[at : at + part], range(len(records))[at : at + part], source)
            for at in range(0, len(records), part)
        ]
        base_ns = source.since(0)
        try:
            ordered = list(ordering.in_order(iter(parts), source))
        except InputError:
            assert expected is None
            return
    found = [io for each in ordered for io in zip(each.times_ns.tolist(), each.offsets.tolist(), strict=True)]
    assert [(base_ns + moment, number) for moment, number in found] == expected


@settings(max_examples=100, deadline=None)
@given(moments=MOMENTS, window=st.integers(1, 12), part=st.integers(1, 9))
def test_records_that_come_too_late_can_be_left_out(moments: list[int], window: int, part: int) -> None:
    """What a heap could not put in its place is left out and counted; the rest is in order."""
    records: list[RawRecord] = [(moment, 0, number, 512, "a") for number, moment in enumerate(moments)]
    waiting: list[int] = []
    given_out: list[int] = []
    late = 0
    for moment in moments:
        if given_out and moment < given_out[-1]:
            late += 1
            continue
        heapq.heappush(waiting, moment)
        if len(waiting) > window:
            given_out.append(heapq.heappop(waiting))
    with pytest.MonkeyPatch.context() as patched, closing(Source(Path(__file__))) as source:
        patched.setattr(ordering, "WINDOW", window)
        source.errors = []
        parts = [
            columns_of(records[at : at + part], range(len(records))[at : at + part], source)
            for at in range(0, len(records), part)
        ]
        base_ns = source.since(0)
        ordered = list(ordering.in_order(iter(parts), source))
    assert [base_ns + moment for each in ordered for moment in each.times_ns.tolist()] == given_out + sorted(waiting)
    assert source.skipped[MALFORMED] == late
