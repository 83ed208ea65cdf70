"""One piece of work in a process of its own that runs the model from its source.

A compiled part cannot be watched at work. What watches the parts is done in such a process where the build is in use.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from .process_setup import begin_from_source, end_pool, interrupts_left_to_parent, main_left_out

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def done_from_source(work: Callable[[Argument], Result], argument: Argument) -> Result:
    """What `work`, a function of a module, returns for `argument` in a process that uses no compiled build."""
    pool = ProcessPoolExecutor(1, get_context("spawn"), begin_from_source)
    try:
        with interrupts_left_to_parent(), main_left_out():
            future = pool.submit(work, argument)
        found = future.result()
    except BaseException:
        end_pool(pool, at_once=True)
        raise
    end_pool(pool, at_once=False)
    return found
