"""What a read waits for on a die."""

from __future__ import annotations

import itertools

import pytest

from raidsim.model.solid_state.die import Die, Work
from raidsim.model.solid_state.timeline import Timeline


def _die(suspend_s: float | None = None, suspensions: int = 1000) -> Die:
    return Die(suspend_s, Timeline(), suspensions)


def test_reads_take_turns() -> None:
    """Two reads of 50 that arrive at 0 and 10 are over at 50 and 100; one at 200 does not wait."""
    die = _die()
    assert [die.read(at, 50) for at in (0, 10, 200)] == [50, 100, 250]


def test_a_read_waits_for_the_program_under_way() -> None:
    """A program from 0 to 600 holds a read that arrives at 100 until 600."""
    die = _die()
    assert die.book(0, 0, 600) == 600
    assert die.read(100, 50) == 650


def test_a_read_overtakes_programs_that_have_not_begun() -> None:
    """Of two programs the first is under way; the read goes before the second, which is late by the read's 50."""
    die = _die()
    die.book(0, 0, 600)
    assert die.book(0, 0, 600) == 1200
    assert die.read(100, 50) == 650
    assert die.book(100, 100, 600) == 650 + 600 + 600


def test_suspension_lets_the_read_in_and_the_program_goes_on() -> None:
    """With suspension in 20, the read that arrives at 100 is over at 170, and the program's other 500 at 670."""
    die = _die(20)
    die.book(0, 0, 600)
    assert die.read(100, 50) == 170
    assert die.book(171, 171, 100) == 170 + 500 + 100


def test_a_program_that_is_nearly_over_is_not_suspended() -> None:
    """Ten before its end a program of a die that suspends in 20 is left to finish."""
    die = _die(20)
    die.book(0, 0, 600)
    assert die.read(590, 50) == 650


def test_background_work_is_done_in_idle_time() -> None:
    """A read long after a program's end waits for nothing, and nothing is left to do."""
    die = _die()
    die.book(0, 0, 600)
    assert die.read(601, 50) == 651
    assert not die.background
    assert die.busy_s == 600


@pytest.mark.parametrize("suspend_s", [None, 20])
def test_time_is_conserved(suspend_s: float | None) -> None:
    """A hundred reads in the way of ten programs: the last program is over when all has been done once."""
    die = _die(suspend_s)
    for _ in range(10):
        die.book(0, 0, 600)
    reads = [die.read(60.0 * i, 50) for i in range(100)]
    last = die.book(6000, 0, 0)
    suspended = die.busy_s - 6000
    assert last == pytest.approx(10 * 600 + 100 * 50 + suspended)
    assert all(b >= a + 50 for a, b in itertools.pairwise(reads))


@pytest.mark.parametrize(("suspensions", "third"), [(1000, 370), (3, 370), (2, 790)])
def test_a_program_is_suspended_so_often_and_not_more(suspensions: int, third: float) -> None:
    """Reads at 100, 200 and 300 suspend a program of 600; after two suspensions the third waits for its end at 740."""
    die = _die(20, suspensions)
    die.book(0, 0, 600)
    assert [die.read(at, 50) for at in (100, 200)] == [170, 270]
    assert die.read(300, 50) == third


@pytest.mark.parametrize(("suspensions", "over"), [(8, True), (1000, False)])
def test_a_die_that_is_read_all_the_time_programs_all_the_same(suspensions: int, over: bool) -> None:
    """A read every 60 leaves a program with suspensions of 20 no time; a limit does."""
    die = _die(20, suspensions)
    work = Work()
    die.book(0, 0, 600, work)
    for number in range(1, 40):
        die.read(60.0 * number, 50)
    assert (work.done > 0) == over


def test_who_waits_for_a_program_is_told_of_reads_that_delay_it() -> None:
    """Expected at 600; a read at 100 suspends it for 70; it is over then, and not before."""
    die = _die(20)
    work = Work()
    assert die.book(0, 0, 600, work) == 600
    assert work.ends(0) == 600
    die.read(100, 50)
    assert work.ends(100) == 670
    assert work.done < 0
    assert work.ends(700) == work.done == 670
