"""Which of md's thread and a program runs first on a core that both need."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.raid.parity_6_1.thread import STRIPE_BATCH, ParityThread
from raidsim.model.raid.stripes.stripe_cache import StripeCache
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE

PROGRAM_S = 0.1e-3


def second_pass(pass_s: float, program_before_s: float = 0.0) -> float:
    """Time (s) from the end of the thread's first pass to the end of its second.

    Both passes take `pass_s`, and the first one answers a program, which then has work of 0.1 ms. That program has used
    `program_before_s` before.
    """
    engine = Engine(0)
    cpu = Cpu(engine)
    thread = ParityThread(engine, Host(cpu, FREE), [], StripeCache(256, 4096))
    ends: list[float] = []

    def work() -> float:
        thread.heads += STRIPE_BATCH
        thread.then(lambda: ends.append(engine.now))
        if not ends:
            thread.then(lambda: cpu.run_then(PROGRAM_S, None, lambda _: None))
        return pass_s

    cpu.spend(program_before_s)
    engine.run(until=program_before_s or None)
    thread.add(work)
    thread.add(work)
    engine.run()
    return ends[1] - ends[0]


def test_a_thread_that_has_used_less_goes_on_before_the_program_that_it_has_woken() -> None:
    """Protects the order of a short pass: the program runs when the thread sleeps."""
    assert second_pass(0.4e-3) == pytest.approx(0.4e-3)


def test_a_thread_that_has_used_a_millisecond_more_lets_the_program_run_first() -> None:
    """The counter-test: after a pass of 1.2 ms the program runs between the passes."""
    assert second_pass(1.2e-3) == pytest.approx(1.2e-3 + PROGRAM_S)


def test_what_the_program_has_used_counts() -> None:
    """Protects the comparison: a pass of 1.2 ms is no millisecond more than the 0.5 ms that the program has used."""
    assert second_pass(1.2e-3, 0.5e-3) == pytest.approx(1.2e-3)


@pytest.mark.parametrize(("pass_s", "at"), [(0.4e-3, 0.8e-3), (1.2e-3, 1.2e-3)])
def test_what_is_woken_later_runs_when_the_thread_sleeps(pass_s: float, at: float) -> None:
    """Protects the order of a flush and of md's reads: what is woken after the thread runs when that sleeps, or
    gives way after a long pass. Counter-test: a thread that sleeps keeps nobody waiting.
    """
    engine = Engine(0)
    thread = ParityThread(engine, Host(Cpu(engine), FREE), [], StripeCache(256, 4096))
    ran: list[float] = []
    thread.when_asleep(lambda: ran.append(engine.now))
    assert ran == [0.0]

    def work() -> float:
        thread.heads += STRIPE_BATCH
        return pass_s

    thread.add(work)
    thread.add(work)
    thread.when_asleep(lambda: ran.append(engine.now))
    engine.run()
    assert ran == [0.0, pytest.approx(at)]


def test_the_program_pays_for_waking_the_thread() -> None:
    """Protects the share of the program: each I/O costs the bio, its clone, the wake-up, and its heads."""
    engine = Engine(0)
    cpu = Cpu(engine)
    prices = replace(FREE, bio_s=1e-6, clone_s=10e-6, wake_s=100e-6, head_s=1e-3)
    ParityThread(engine, Host(cpu, prices), [], StripeCache(256, 4096)).filled(3, 1)
    assert cpu.busy_s == pytest.approx(3.111e-3)
