"""The server that is told of work in another order than it becomes ready."""

from __future__ import annotations

import itertools
import random

from raidsim.model.solid_state.timeline import Timeline


def test_work_told_of_later_but_ready_earlier_goes_first() -> None:
    """Told of 10-12 first, work of 2 s ready at 5 is served at once, and work ready at 9 only after it."""
    server = Timeline()
    assert [server.book(0, ready, 2) for ready in (10, 5, 9, 10)] == [12, 7, 14, 16]
    assert server.busy_s == 8


def test_it_serves_everything_once_and_no_two_at_a_time() -> None:
    """Random work never overlaps, never begins before it is ready, and no time is lost in an overload."""
    draws = random.Random(4)
    server = Timeline(1.0)
    served = []
    for _ in range(2000):
        ready = draws.uniform(0, 1500)
        end = server.book(0, ready, 1.0)
        assert end >= ready + 1.0 - 1e-9
        served.append(end)
    served.sort()
    assert all(b - a > 1 - 1e-9 for a, b in itertools.pairwise(served))
    assert served[-1] < 2000 * 1.35  # gaps shorter than any work are lost, as they are to a server told in order


def test_what_is_over_is_forgotten() -> None:
    """A long run keeps only what is booked from now on."""
    server = Timeline(0.001)
    for i in range(20_000):
        server.book(i, i + 2 * (i % 3), 0.5)
    assert len(server._ends) < 200
