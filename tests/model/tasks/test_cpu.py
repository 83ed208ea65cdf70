"""The CPU: programs take turns, kernel work goes first, cores work side by side."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.tasks.cpu import Cpu


def run_programs(cores: int, runs: list[float], repeat: int = 1) -> tuple[list[float], Cpu]:
    """When each program is over, and the CPU."""
    engine = Engine()
    cpu = Cpu(engine, cores)
    over = [0.0] * len(runs)

    def program(index: int, seconds: float) -> Generator[Any, Any, None]:
        for _ in range(repeat):
            yield cpu.run(seconds)
        over[index] = engine.now

    for index, seconds in enumerate(runs):
        engine.spawn(program(index, seconds))
    engine.run()
    return over, cpu


def test_two_cores_run_two_programs_at_once() -> None:
    """Protects the difference between one core and two: the same work in half the time, and never less."""
    assert run_programs(1, [1.0, 1.0])[0] == [1.0, 2.0]
    assert run_programs(2, [1.0, 1.0])[0] == [1.0, 1.0]
    over, cpu = run_programs(2, [1.0, 1.0, 1.0])
    assert max(over) == 2.0
    assert cpu.busy_s == 3.0


def test_programs_share_one_core_fairly() -> None:
    """Protects competition: two programs that always want the core each get half of it."""
    over, cpu = run_programs(1, [0.001, 0.001], repeat=100)
    assert over == pytest.approx([0.199, 0.2])
    assert cpu.busy_s == pytest.approx(0.2)


def test_interrupts_delay_programs_and_are_not_delayed_by_them() -> None:
    """Protects the priority of kernel work, and that its time is taken from the programs."""
    engine = Engine()
    cpu = Cpu(engine)
    over: list[float] = []

    def program() -> Generator[Any, Any, None]:
        for _ in range(2):
            yield cpu.run(1.0)
            over.append(engine.now)

    finished: list[float] = []
    engine.spawn(program())
    engine.call_at(0.5, lambda _: finished.append(cpu.interrupt(0.25)))
    engine.run()
    assert finished == [0.75]
    assert over == [1.0, 2.25], "the run under way keeps its end, the next one pays"
    assert cpu.kernel_s == 0.25
    assert cpu.busy_s == 2.25


def test_a_run_is_one_event_and_an_interrupt_none() -> None:
    """Protects the price of CPU time in a simulation of millions of I/Os."""
    engine = Engine()
    cpu = Cpu(engine)
    before = engine.scheduled_events
    cpu.run(1.0)
    assert engine.scheduled_events == before + 1
    cpu.interrupt(1.0)
    assert engine.scheduled_events == before + 1


def test_a_cpu_has_a_core() -> None:
    """Protects against a machine without a processor."""
    assert Cpu(Engine(), 4).cores == 4
    with pytest.raises(ValueError, match="at least 1"):
        Cpu(Engine(), 0)


def test_kernel_work_waits_for_kernel_work() -> None:
    """Protects the CPU from doing two seconds of kernel work in one: on one core it is done in turn, on two at once."""
    one, two = Cpu(Engine(), 1), Cpu(Engine(), 2)
    assert [one.interrupt(1.0), one.interrupt(0.5)] == [1.0, 1.5]
    assert one.free_for_kernel_from == 1.5
    assert [two.interrupt(1.0), two.interrupt(0.5), two.interrupt(0.25)] == [1.0, 0.5, 0.75]
    assert two.free_for_kernel_from == 0.75


def test_kernel_work_does_not_wait_for_programs() -> None:
    """The counter-test: a program that keeps the core busy delays no kernel work."""
    cpu = Cpu(Engine(), 1)
    cpu.run(5.0)
    assert cpu.free_for_kernel_from == 0.0
    assert cpu.interrupt(1.0) == 1.0


def test_an_interrupt_wakes_the_core_it_is_for() -> None:
    """After 60 us without work a core is in the state from 20 us on, and works 10 us later; that is no CPU time."""
    engine = Engine()
    cpu = Cpu(engine, 2, idle_states=((2e-6, 1e-6), (20e-6, 10e-6), (600e-6, 133e-6)))
    found = [cpu.interrupt(1e-6, 0)]  # a core that has just begun is awake
    for at in (2e-6, 5e-6, 60e-6, 1e-3):
        engine.run(until=at)
        found.append(cpu.interrupt(1e-6, 0) - at)
    assert found == pytest.approx([1e-6, 1e-6, 2e-6, 11e-6, 134e-6])
    assert cpu.busy_s == pytest.approx(5e-6)


def test_work_for_any_core_goes_to_one_that_is_awake() -> None:
    """Without a core to wake, and without idle states, an interrupt is served at once."""
    engine = Engine()
    sleepy, awake = Cpu(engine, 2, idle_states=((1e-6, 1e-5),)), Cpu(engine, 2)
    engine.run(until=1e-3)
    assert sleepy.interrupt(1e-6) == awake.interrupt(1e-6, 0) == pytest.approx(1e-3 + 1e-6)
