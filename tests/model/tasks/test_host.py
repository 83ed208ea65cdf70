"""The host: who pays, and how much."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host, SleepingThread
from raidsim.model.tasks.prices import FREE


def test_a_command_is_paid_as_kernel_work() -> None:
    """Protects the CPU price of a drive's command: three of 40 us are 120 us of kernel time, ahead of programs."""
    cpu = Cpu(Engine())
    host = Host(cpu, replace(FREE, command_s=40e-6))
    for _ in range(3):
        host.complete_command()
    assert host.commands == 3
    assert cpu.kernel_s == pytest.approx(120e-6)
    assert cpu.busy_s == pytest.approx(120e-6)


def test_a_free_host_pays_nothing_and_still_counts() -> None:
    """The counter-test: without a price there is no CPU time."""
    cpu = Cpu(Engine())
    host = Host(cpu)
    host.complete_command()
    assert host.commands == 1
    assert cpu.busy_s == 0.0


def test_a_thread_spins_until_its_lock_is_free() -> None:
    """Protects the time that a submitting thread spins: what is left of it, for that thread alone."""
    host = Host(Cpu(Engine()))
    host.stalled_issuer, host.stalled_until = 3, 5.0
    assert (host.stalled_s(3, 4.0), host.stalled_s(3, 5.0), host.stalled_s(2, 4.0)) == (1.0, 0.0, 0.0)


def test_scaling_scales_every_price() -> None:
    """Protects the comparison of kernels: a path twice as long costs twice as much for everything."""
    names = [name for name in FREE.__slots__ if name != "cache_bytes"]
    prices = replace(FREE, **{name: float(i + 1) for i, name in enumerate(names)}, cache_bytes=7)
    twice = prices.scaled(2.0)
    assert [getattr(twice, name) for name in names] == [2.0 * (i + 1) for i in range(len(names))]
    assert twice.cache_bytes == 7  # no price
    assert prices.scaled(1.0) == prices


def test_what_a_thread_sleeps_over_is_submitted_before_what_comes_later() -> None:
    """Protects the order of a backlog: the rest of an item over which the thread falls asleep stays in its place."""
    thread = SleepingThread()
    said: list[str] = []

    def falls_asleep() -> None:
        thread.sleeps += 1
        said.append("first half")
        thread.backlog.append(lambda: said.append("second half"))

    thread.backlog.extend([falls_asleep, lambda: said.append("next")])
    thread.go_on()
    assert said == ["first half"]
    thread.sleeps = 0
    thread.go_on()
    assert said == ["first half", "second half", "next"]


@pytest.mark.parametrize(("cores", "commands_s", "owed_s"), [(1, 120e-6, 0.0), (2, 0.0, 120e-6)])
def test_the_commands_of_a_kernel_thread_are_its_cpu_time(cores: int, commands_s: float, owed_s: float) -> None:
    """Protects what the scheduler counts: on one core commands interrupt the thread, on several the thread pays itself.

    Counter-test: the commands of others are nobody's.
    """
    host = Host(Cpu(Engine(), cores), replace(FREE, command_s=40e-6))
    host.pays_for_commands(-5)
    for issuer in (-5, -6, -5, -5):
        host.complete_command_of(issuer)
    assert host.take_commands_s(-5) == pytest.approx(commands_s)
    assert host.take_owed_s(-5) == pytest.approx(owed_s)
    assert host.take_commands_s(-5) == host.take_commands_s(-6) == 0.0
    assert host.commands == 4
