"""Memory that a finished simulation has left in circles."""

from __future__ import annotations

import gc
import weakref

from raidsim.scenarios.workers.process_setup import forget_finished


class Machine:
    """Holds itself, as the parts of a machine hold each other."""

    def __init__(self) -> None:
        self.part = self


def test_a_large_run_is_forgotten_and_a_small_one_costs_no_search() -> None:
    """Protects the memory of long commands: what a run left in circles is freed if Python has searched meanwhile."""
    gc.collect()
    small = weakref.ref(Machine())
    forget_finished()
    assert small() is not None
    gc.collect(0)  # a large run makes so many objects that Python searches among the youngest
    forget_finished()
    gc.collect(0)
    machine = Machine()
    large = weakref.ref(machine)
    gc.collect(0)
    del machine
    gc.collect(0)
    assert large() is not None, "it is among the older ones"
    forget_finished()
    assert large() is None
