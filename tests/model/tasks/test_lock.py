"""What a lock costs: a number of cache lines, by its kind and by the cores that wait, times what a line takes."""

from __future__ import annotations

import pytest

from raidsim.model.tasks.lock import Counter, Lock, QueuedLock, line_transfer_s

LINE_S = 100e-9
HOLD_S = 20e-9


def ceiling(kind: type[Lock], cores: int, lines: int = 1, takes: int = 4000) -> float:
    """How often a second `cores` take a lock that they all want all the time."""
    lock = kind("lock", "Linux", LINE_S)
    at = [0.0] * cores
    for number in range(takes):
        core = number % cores
        at[core] = lock.take(core, at[core], HOLD_S, lines)
        if at[core] == 0.0:
            at[core] = 1e-12
    return takes / max(at)


def test_whoever_finds_it_free_goes_on_at_once() -> None:
    """Protects I/O on few cores: a lock without a crowd delays nobody."""
    lock = QueuedLock("lock", "Linux", LINE_S)
    times = [1e-6 * number for number in range(100)]
    assert [lock.take(number % 4, at, HOLD_S, 1) for number, at in enumerate(times)] == times
    assert lock.busy_s == pytest.approx(100 * HOLD_S + 99 * 2 * LINE_S)


def test_holders_follow_each_other() -> None:
    """Protects exclusion: who comes while it is held goes on when all before it, and it itself, are through."""
    lock = QueuedLock("lock", "Linux", LINE_S)
    first = lock.take(0, 1.0, HOLD_S, 1)
    second, third = lock.take(1, 1.0, HOLD_S, 1), lock.take(2, 1.0, HOLD_S, 1)
    assert first == 1.0
    assert second == pytest.approx(1.0 + HOLD_S + HOLD_S + 4 * LINE_S, rel=1e-12)
    assert third - second == pytest.approx(HOLD_S + 7 * LINE_S)
    assert lock.busy_s == pytest.approx(third - 1.0)


def test_a_queued_lock_costs_the_same_from_three_cores_on() -> None:
    """Protects the ceiling of current kernels: it does not depend on how many wait."""
    assert ceiling(QueuedLock, 4) == pytest.approx(1 / (HOLD_S + 7 * LINE_S), rel=0.01)
    assert ceiling(QueuedLock, 64) == pytest.approx(ceiling(QueuedLock, 4), rel=0.01)
    assert ceiling(QueuedLock, 2) > 1.5 * ceiling(QueuedLock, 4)


def test_a_counter_is_cheaper_than_a_lock() -> None:
    """Protects lockless paths from costing nothing: two atomic instructions move a line twice."""
    assert ceiling(Counter, 64, 2) == pytest.approx(1 / (HOLD_S + 2 * LINE_S), rel=0.01)


@pytest.mark.parametrize("kind", [QueuedLock, Counter])
def test_one_core_moves_no_lines(kind: type[Lock]) -> None:
    """Counter-test: threads of one core have the lock in its cache."""
    assert ceiling(kind, 1) == pytest.approx(1 / HOLD_S, rel=0.01)


def test_lines_come_from_further_away_on_more_sockets() -> None:
    """Protects NUMA: with four nodes three of four lines come from another one."""
    assert line_transfer_s(1, 80e-9, 140e-9) == pytest.approx(80e-9)
    assert line_transfer_s(4, 80e-9, 140e-9) == pytest.approx(125e-9)


def test_statistics_begin_anew() -> None:
    """Protects utilization from the warm-up."""
    lock = QueuedLock("lock", "Linux", LINE_S)
    lock.take(0, 0.0, HOLD_S, 1)
    lock.start_statistics()
    assert lock.busy_s == 0.0
