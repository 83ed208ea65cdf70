"""Many independent pieces of work on several processes, with results in the order in which they were asked for."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from types import TracebackType
from typing import Self, TypeVar

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
            self._pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _end_with_parent)
        for result in self._pool.map(work, arguments):
            results.append(result)
            self.done += 1
        return results


def _end_with_parent() -> None:
    """Begin a worker: it ends when its parent is gone, also in the middle of a simulation.

    Ctrl-C reaches the whole process group, but the parent alone acts on it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent.sentinel,), name="parent watch", daemon=True).start()


def _wait_and_end(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
