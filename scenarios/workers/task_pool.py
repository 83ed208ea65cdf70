"""Many independent pieces of work on several processes, with results in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from .worker_pool import WorkerPool

Argument = TypeVar("Argument")
Result = TypeVar("Result")


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
        self._pool: WorkerPool[int] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close(at_once=kind is not None)

    def run(
        self,
        work: Callable[[Argument], Result],
        arguments: Sequence[Argument],
        gives: tuple[type, ...] = (object,),
    ) -> list[Result]:
        """`work` done on each argument; a function of a module, so that other processes find it.

        Parameters
        ----------
        work, arguments
            What is done, and on what.
        gives
            What `work` returns an instance of.

        Raises
        ------
        WorkersFailed
            If processes die, hang or send something else, as `WorkerPool.results` says.
        """
        if self.workers <= 1 or len(arguments) < 2:
            results = []
            for argument in arguments:
                results.append(work(argument))
                self.done += 1
            return results
        if self._pool is None:
            self._pool = WorkerPool(self.workers)
        for number, argument in enumerate(arguments):
            self._pool.submit(number, work, argument, gives)
        found: dict[int, Result] = {}
        for number, result in self._pool.results():
            found[number] = result
            self.done += 1
        return [found[number] for number in range(len(arguments))]
