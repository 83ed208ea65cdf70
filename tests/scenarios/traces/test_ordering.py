"""Records of a trace in the order of their times, as long as they are not too far from it."""

from __future__ import annotations

import heapq
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidsim.model.core.errors import InputError
from raidsim.scenarios.traces import ordering
from raidsim.scenarios.traces.formats.fields import RawRecord
from raidsim.scenarios.traces.formats.source import Source

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


@settings(max_examples=150, deadline=None)
@given(moments=MOMENTS, window=st.integers(1, 12), near=st.integers(1, 4))
def test_the_order_is_that_of_a_heap(moments: list[int], window: int, near: int) -> None:
    """Protects the short cuts for records that are in order, or nearly so."""
    records: list[RawRecord] = [(moment, 0, number, 512, "a") for number, moment in enumerate(moments)]
    expected = by_definition(moments, window)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ordering, "WINDOW", window)
        patched.setattr(ordering, "_NEAR", near)
        source = Source(Path(__file__))
        try:
            found = [(record[0], record[2]) for record in ordering.in_order(iter(records), source)]
        except InputError:
            assert expected is None
        else:
            assert found == expected
        finally:
            source.close()
