"""Programs that write files side by side: on several processors their files lie between each other block by block."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.process.process import Process
from raidsim.model.tasks.writer_turns import WriterTurns
from raidsim.tests.model.memory.page_cache_bench import KIB, MIB
from raidsim.tests.model.process.test_process import Machine, written

SLICE_S = 0.06
SIZE = 32 * MIB
"""The first program is alone for a slice, in which it writes 8 MiB."""


def machine_of(cores: int, interleaves: bool = True, **prices: Any) -> Machine:
    """A machine with so many processors, whose ext2 sets 32 KiB aside for a file that grows."""
    settings = PageCacheSettings(turn=SLICE_S, interleaves=interleaves)
    machine = Machine(kind={"goal_shifts": 1}, settings=settings, **prices)
    machine.host.cpu = machine.cpu = type(machine.cpu)(machine.engine, cores)
    machine.host.writer_turns = WriterTurns(cores)
    return machine


def runs_of(machine: Machine, programs: int) -> tuple[list[int], list[Process]]:
    """How many runs each of so many files has that are written side by side, and who wrote them."""
    names = [f"f{number}" for number in range(programs)]
    processes = machine.run(*(written(SIZE, name=name) for name in names))
    return [len(machine.system.file(name).extents) for name in names], processes


@pytest.mark.parametrize(("cores", "programs", "most"), [(1, 2, 20), (2, 1, 10)])
def test_alone_on_its_processor_a_program_writes_long_runs(cores: int, programs: int, most: int) -> None:
    """Protects the counter-cases: two programs that share one processor, and one that has two."""
    found, _ = runs_of(machine_of(cores, page_s=30e-6), programs)
    assert max(found) <= most


@pytest.mark.parametrize("programs", [2, 4])
def test_on_two_processors_files_lie_between_each_other(programs: int) -> None:
    """Protects readers of what several threads have written: as many runs as times something was set aside."""
    found, _ = runs_of(machine_of(2, page_s=30e-6), programs)
    assert min(found) > 0.5 * SIZE / (32 * KIB)


def test_where_writers_do_not_interleave_they_have_long_runs() -> None:
    """Protects the kernels since 2.6: the mechanism off, two processors are as one."""
    found, processes = runs_of(machine_of(2, False, page_s=30e-6), 2)
    assert max(found) <= 20
    alone = runs_of(machine_of(2, False, page_s=30e-6), 1)[1][0].cpu_s
    assert [each.cpu_s for each in processes] == pytest.approx([alone] * 2, rel=0.01)


def test_two_that_write_spin_for_the_locks_of_the_kernel() -> None:
    """Protects CPU time: what two processors do under the same locks costs twice, and what is copied does not."""
    alone = runs_of(machine_of(2, page_s=30e-6), 1)[1][0].cpu_s
    beside = runs_of(machine_of(2, page_s=30e-6), 2)[1]
    assert all(1.6 * alone < each.cpu_s < 2.05 * alone for each in beside)
    copies: dict[str, Any] = {"copy_s_per_byte": 30e-6 / (4 * KIB)}
    alone = runs_of(machine_of(2, **copies), 1)[1][0].cpu_s
    assert [each.cpu_s for each in runs_of(machine_of(2, **copies), 2)[1]] == pytest.approx([alone] * 2, rel=0.01)


def test_turns_are_given_in_the_order_they_are_asked_for() -> None:
    """Protects fairness: two of four begin at once, and the others when one of them has ended its turn."""
    turns = WriterTurns(2)
    waits = [turns.take() for _ in range(4)]
    assert [each is None for each in waits] == [True, True, False, False]
    turns.give()
    assert [each.fired for each in waits[2:] if each is not None] == [True, False]
    turns.give()
    turns.give()
    turns.give()
    assert [turns.take() is None for _ in range(3)] == [True, True, False]


def test_a_lock_that_is_taken_is_waited_for() -> None:
    """Protects spinning: the second who comes pays for the wait; one processor alone never waits."""
    two, one = WriterTurns(2), WriterTurns(1)
    assert [two.locked(0.0, 0.002), two.locked(0.001, 0.002), two.locked(0.010, 0.002)] == pytest.approx(
        [0.002, 0.003, 0.002]
    )
    assert [one.locked(0.0, 0.002), one.locked(0.001, 0.002)] == [0.002, 0.002]
