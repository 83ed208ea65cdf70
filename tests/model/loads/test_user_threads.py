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


def test_the_threads_of_a_job_share_its_core_and_its_client() -> None:
    """Protects the dealing out of cores and clients by issuer: of up to 16 the threads of a job have the same one, and
    no number is that of another job.
    """
    threads = UserThreads(107)
    numbers = [threads.take() for _ in range(5)]
    for parts in range(1, 17):
        assert {number % parts for number in numbers} == {107 % parts}
    assert numbers[1] - numbers[0] > 4096, "the most jobs of a load"
