"""Many independent pieces of work on several processes, with results in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Self, TypeVar

from ..model.errors import WorkersDied
from .worker_processes import end_pool, end_with_parent, interrupts_left_to_parent

Argument = TypeVar("Argument")
Result = TypeVar("Result")
RESTARTS = 2
"""Times that workers which have died are replaced before anything else is done."""


class TaskPool:
    """Processes that work for this one; results do not depend on how many there are.

    Parameters
    ----------
    workers
        Processes; 1 or 0 works in this one.

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
        if self._pool is not None:
            end_pool(self._pool, at_once=kind is not None)

    def run(self, work: Callable[[Argument], Result], arguments: Sequence[Argument]) -> list[Result]:
        """`work` done on each argument; a function of a module, so that other processes find it.

        Raises
        ------
        WorkersDied
            If a process ends before its work is done, and so do those that take its place.
        """
        results: list[Result] = []
        if self.workers <= 1 or len(arguments) < 2:
            for argument in arguments:
                results.append(work(argument))
                self.done += 1
            return results
        deaths = 0
        while len(results) < len(arguments):
            before = len(results)
            try:
                for result in self._answers(work, arguments[before:]):
                    results.append(result)
                    self.done += 1
            except BrokenExecutor:
                self._pool = None
                deaths = 1 if len(results) > before else deaths + 1
                if deaths > RESTARTS:
                    raise WorkersDied from None
        return results

    def _answers(self, work: Callable[[Argument], Result], arguments: Sequence[Argument]) -> Iterator[Result]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.workers, get_context("spawn"), end_with_parent)
        with interrupts_left_to_parent():
            return self._pool.map(work, arguments)
