"""Threads of independent users."""

from __future__ import annotations

from raidsim.model.loads.user_threads import UserThreads


def test_a_thread_has_one_io_at_a_time_and_is_used_again() -> None:
    """Protects schedulers from more threads than there are I/Os at a time, and users from sharing one thread."""
    threads = UserThreads(107)
    first, second, third = (threads.take() for _ in range(3))
    assert len({first, second, third}) == 3
    assert first == 107
    threads.give_back(second)
    assert threads.take() == second
    assert threads.take() not in {first, second, third}
