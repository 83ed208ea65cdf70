"""The server that is told of work in another order than it becomes ready."""

from __future__ import annotations

import itertools
import random
from typing import Any

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


class _Plain:
    """The same server, which looks through all that is booked, and keeps it."""

    def __init__(self, shortest_s: float) -> None:
        self.spans: list[list[float]] = []
        self._shortest_s = shortest_s

    def book(self, ready: float, duration: float) -> float:
        spans = self.spans
        i = 0
        while i < len(spans) and spans[i][1] <= ready:
            i += 1
        end = ready + duration
        while i < len(spans) and spans[i][0] < end:
            end = spans[i][1] + duration
            i += 1
        begin = end - duration
        before = i > 0 and begin - spans[i - 1][1] < self._shortest_s
        after = i < len(spans) and spans[i][0] - end < self._shortest_s
        if before and after:
            spans[i - 1][1] = spans[i][1]
            del spans[i]
        elif before:
            spans[i - 1][1] = end
        elif after:
            spans[i][0] = begin
        else:
            spans.insert(i, [begin, end])
        return end


def test_what_is_remembered_changes_nothing() -> None:
    """Protects the shortcut through a long backlog: bit by bit the ends that looking through all of it gives."""
    for seed in range(12):
        draws = random.Random(seed)
        shortest = draws.choice((0.0, 0.05))
        server, plain = Timeline(shortest), _Plain(shortest)
        durations = [0.1 + draws.random() for _ in range(3)]
        now = 0.0
        for _ in range(400):
            now += draws.expovariate(4.0)
            ready = now + draws.choice((0.0, 40.0)) * draws.random()
            duration = draws.choice(durations)
            assert server.book(now, ready, duration) == plain.book(ready, duration)


def test_a_long_backlog_is_not_looked_through_for_each_piece_of_work() -> None:
    """Counter-test: where short gaps lie between a thousand pieces, one that fits none is booked at once."""
    server = Timeline(0.1)
    for i in range(1000):
        server.book(0.0, 1.5 * i, 1.0)
    looked = 0

    class Starts(list[float]):
        def __getitem__(self, i: Any) -> Any:
            nonlocal looked
            looked += 1
            return super().__getitem__(i)

    server._starts = Starts(server._starts)
    for i in range(100):
        assert server.book(0.0, 1.0 * i, 1.0) == 1500.5 + i
    assert looked < 2000
