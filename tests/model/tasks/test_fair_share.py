"""Which of a kernel thread and a program runs on a core that both could use."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.fair_share import FairShare


@pytest.mark.parametrize(
    ("thread_s", "program_s", "gives_way"),
    [(0.9e-3, 0.0, False), (1.1e-3, 0.0, True), (2.5e-3, 2e-3, False), (3.5e-3, 2e-3, True), (0.5e-3, 2e-3, False)],
)
def test_a_thread_gives_way_once_it_has_used_a_millisecond_more(
    thread_s: float, program_s: float, gives_way: bool
) -> None:
    """Protects the rule of wakeup_preempt_entity: the difference counts, and not what either has used."""
    cpu = Cpu(Engine(0))
    share = FairShare(cpu)
    cpu.spend(program_s)
    share.ran(thread_s)
    assert share.gives_way is gives_way


def test_a_task_that_sleeps_saves_up_three_milliseconds_at_most() -> None:
    """Protects place_entity: after a second of the thread alone, a program of 2.1 ms has caught up."""
    cpu = Cpu(Engine(0))
    share = FairShare(cpu)
    share.ran(1.0)
    cpu.spend(1.9e-3)
    share.ran(0.0)
    assert share.gives_way
    cpu.spend(0.2e-3)
    share.ran(0.0)
    assert not share.gives_way


def test_work_inside_the_kernel_counts_for_the_program_that_asked() -> None:
    """Protects the account: heads that a program fills are its CPU time, although the model charges the kernel."""
    cpu = Cpu(Engine(0))
    share = FairShare(cpu)
    share.ran(1.1e-3)
    cpu.interrupt(0.2e-3)
    share.ran(0.0)
    assert share.gives_way
    share.ran(-0.2e-3)
    assert not share.gives_way


def test_statistics_that_start_again_do_not_count_as_work() -> None:
    """Protects a measured run: the counters of the CPU begin at 0 after the warm-up."""
    cpu = Cpu(Engine(0))
    share = FairShare(cpu)
    cpu.spend(2.0)
    share.ran(0.0)
    cpu.start_statistics()
    share.ran(4.5e-3)
    assert share.gives_way


def test_with_several_cores_a_program_has_one_of_them() -> None:
    """Protects multi-core machines: 4 ms on four cores are 1 ms on the core that the thread is on."""
    cpu = Cpu(Engine(0), cores=4)
    share = FairShare(cpu)
    cpu.spend(4e-3)
    share.ran(2.1e-3)
    assert share.gives_way
    cpu.spend(0.8e-3)
    share.ran(0.0)
    assert not share.gives_way


@pytest.mark.parametrize(("change_s", "gives_way"), [(-1e-15, True), (0.0, True), (0.6e-3, False)])
def test_rounding_is_not_taken_for_statistics_that_start_again(change_s: float, gives_way: bool) -> None:
    """Protects the account against the last bit of busy minus kernel time: a difference that comes out lower is no work
    of programs. Counter-test: 0.6 ms of a program count.
    """
    cpu = Cpu(Engine(0))
    share = FairShare(cpu)
    cpu.spend(2.0)
    share.ran(0.0)
    share.ran(5e-3)
    cpu.spend(0.5e-3)
    share.ran(0.0)
    cpu.busy_s += change_s
    share.ran(0.0)
    assert share.gives_way is gives_way
