"""When the I/Os of a rate-limited fio job are due."""

from __future__ import annotations

import pytest

from raidsim.model.fio.pace import Pace
from raidsim.model.programs.fio.random import DEFAULT_RANDSEED, Seed, job_seeds
from raidsim.model.programs.fio.timing import Rates

KIB = 1024


def due(pace: Pace, count: int) -> list[float]:
    """When the second and later of so many reads of 4 KiB are due."""
    times = []
    for _ in range(count):
        pace.issued(0, 4 * KIB)
        times.append(pace.due_s[0])
    return times


def test_an_even_rate() -> None:
    """1 MiB/s in 4 KiB: every 3.90625 ms, cut to whole microseconds; another direction has no limit."""
    pace = Pace(Rates((KIB * KIB, 0, 0)))
    assert due(pace, 4) == pytest.approx([0.003906, 0.007812, 0.011718, 0.015625])
    pace.issued(1, 4 * KIB)
    assert pace.due_s[1] == 0.0


def test_the_poisson_process_is_fio_s_own() -> None:
    """In the recorded log of 10_rate_iops_poisson I/Os 9, 10 and 11 begin at 21.294, 23.718 and 25.876 ms.

    These were in time, and each is 74 us late, which is what fio takes to get there.
    """
    seeds = job_seeds(DEFAULT_RANDSEED, thread_number=1)
    pace = Pace(Rates((500 * 4096, 0, 0), poisson=True, seeds=(seeds[Seed.POISSON_READ], 0, 0)))
    assert due(pace, 10)[7:] == pytest.approx([0.021220, 0.023644, 0.025802])


def test_a_mixed_job_takes_the_direction_that_is_due() -> None:
    """Writes are late, so they come first; if neither is due, the one that is due before."""
    pace = Pace(Rates((4096, 40960, 0)))
    pace.issued(0, 4096)
    pace.issued(1, 4096)
    assert pace.direction(0, 1, 0.0) == 1
    assert pace.direction(0, 1, 0.5) == 1
    assert pace.direction(0, 1, 2.0) == 0


def test_pauses_may_be_ignored() -> None:
    """rate_ignore_thinktime: I/Os that were due in a pause of two seconds are not made up for, but for one."""
    for ignores, at_s in ((False, 1.0), (True, 2.0)):
        pace = Pace(Rates((4096, 0, 0), ignores_thinking=ignores))
        pace.thought(0, 2.0)
        pace.issued(0, 4096)
        assert pace.due_s[0] == pytest.approx(at_s)
