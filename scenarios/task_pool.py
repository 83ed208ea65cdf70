"""Many independent pieces of work on several processes, with results in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children, get_context
from types import TracebackType
from typing import Self, TypeVar

from .worker_processes import end_with_parent, interrupts_left_to_parent

Argument = TypeVar("Argument")
Result = TypeVar("Result")


class TaskPool:
    """Processes that work for this one; results do not depend on how many there are.

    Parameters
    ----------
    workers
        Processes; 1 works in this one.

    Attributes
    ----------
    done
        Pieces of work that are done.
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self.done = 0
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is None:
            return
        if kind is not None:
            for child in active_children():  # nobody waits for what they are at
                child.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, work: Callable[[Argument], Result], arguments: Sequence[Argument]) -> list[Result]:
        """`work` done on each argument; a function of a module, so that other processes find it."""
        results = []
        if self.workers == 1 or len(arguments) < 2:
            for argument in arguments:
                results.append(work(argument))
                self.done += 1
            return results
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.workers, get_context("spawn"), end_with_parent)
        with interrupts_left_to_parent():
            answers = self._pool.map(work, arguments)
        for result in answers:
            results.append(result)
            self.done += 1
        return results
