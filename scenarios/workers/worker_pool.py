"""Processes that work for this one, whatever becomes of them: those that die are replaced, those that hang are ended.

What one of them dies of (mostly the system, which ends what takes too much memory) is nothing that the others have to
suffer from: what was under way is done again by new ones, which gives the same, until nothing at all gets done any
more. A process that hangs would be waited for without end; so no piece of work may take longer than a limit, which is
far above what a simulation takes.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ...model.core.errors import InputError, WorkerHung, WorkersDied, WrongAnswer
from ...model.files.quantities import format_duration, parse_time
from .process_setup import end_pool, end_with_parent, interrupts_left_to_parent, main_left_out
from .start_method import worker_context

Key = TypeVar("Key")
RESTARTS = 2
"""Times that workers which have died are replaced before anything else is done."""
LIMIT = "RAIDSIM_WORKER_LIMIT"
"""Variable of the environment with the longest time that a piece of work may take; six hours unless it is set."""
_LIMIT_S = 6 * 3600.0
_LOOK_S = 10.0


@dataclass(frozen=True, slots=True)
class _Piece(Generic[Key]):
    """A piece of work: what it is known by, what to do, with what, and what that gives."""

    key: Key
    work: Callable[[Any], Any]
    argument: Any
    gives: tuple[type, ...]


class WorkerPool(Generic[Key]):
    """Processes that do pieces of work; which of them does what makes no difference to the results.

    Parameters
    ----------
    workers
        Processes.
    begin, told
        What each process does first, and with what.
    """

    def __init__(
        self,
        workers: int,
        begin: Callable[..., None] = end_with_parent,
        told: tuple[Any, ...] = (),
    ) -> None:
        self._workers = workers
        self._begin = begin
        self._told = told
        self._limit_s = _limit_s()
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: deque[_Piece[Key]] = deque()
        self._under_way: dict[Future[Any], tuple[_Piece[Key], float]] = {}
        self._deaths = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=kind is not None)

    @property
    def left(self) -> int:
        """Pieces of work that are not done."""
        return len(self._waiting) + len(self._under_way)

    def submit(self, key: Key, work: Callable[[Any], Any], argument: Any, gives: tuple[type, ...]) -> None:
        """Have a piece of work done.

        Parameters
        ----------
        key
            What its result will be known by.
        work, argument
            A function of a module, so that other processes find it, and what it is called with.
        gives
            What results are instances of; anything else a worker did not mean to send.
        """
        self._waiting.append(_Piece(key, work, argument, gives))

    def results(self) -> Iterator[tuple[Key, Any]]:
        """What is done, as it gets done, until nothing is left; more may be submitted meanwhile.

        Raises
        ------
        WorkersDied
            If a process ends before its work is done, and so do those that take its place.
        WorkerHung
            If a piece of work takes longer than the limit.
        WrongAnswer
            If what a process sends is no result.
        """
        try:
            while self.left:
                self._fill()
                done, _ = wait(self._under_way, min(_LOOK_S, self._limit_s), FIRST_COMPLETED)
                if not done:
                    self._look_for_the_hung()
                    continue
                if any(isinstance(future.exception(), BrokenExecutor) for future in done):
                    self._broke()
                    continue
                self._deaths = 0
                for future in done:
                    piece, _ = self._under_way.pop(future)
                    found = future.result()
                    if not isinstance(found, piece.gives):
                        raise WrongAnswer(type(found).__name__, " or ".join(each.__name__ for each in piece.gives))
                    yield piece.key, found
        except BaseException:
            self.close(at_once=True)
            raise

    def _look_for_the_hung(self) -> None:
        if time.monotonic() - min(begun for _, begun in self._under_way.values()) >= self._limit_s:
            raise WorkerHung(format_duration(self._limit_s), LIMIT)

    def close(self, at_once: bool) -> None:
        """End the processes; `at_once`: also in the middle of their work."""
        pool, self._pool = self._pool, None
        self._under_way.clear()
        self._waiting.clear()
        if pool is not None:
            end_pool(pool, at_once)

    def _fill(self) -> None:
        """Give every process something to do; one more would wait in a queue while its time runs."""
        while self._waiting and len(self._under_way) < self._workers:
            piece = self._waiting.popleft()
            try:
                with interrupts_left_to_parent(), main_left_out():
                    if self._pool is None:
                        context = worker_context(piece.work)
                        self._pool = ProcessPoolExecutor(self._workers, context, self._begin, self._told)
                    future = self._pool.submit(piece.work, piece.argument)
            except BrokenExecutor:
                self._waiting.appendleft(piece)
                self._broke()
            else:
                self._under_way[future] = piece, time.monotonic()

    def _broke(self) -> None:
        """A worker was killed, and with it the pool: new ones do what was under way."""
        self._deaths += 1
        if self._deaths > RESTARTS:
            raise WorkersDied
        for future, (piece, _) in list(self._under_way.items()):
            if not future.done() or future.exception() is not None:
                del self._under_way[future]
                self._waiting.appendleft(piece)
        self._pool = None


def _limit_s() -> float:
    text = os.environ.get(LIMIT)
    limit_s = _LIMIT_S if text is None else parse_time(text, LIMIT)
    if not limit_s:
        raise InputError(LIMIT, f"found {text}", "expected: a time above 0, such as 24h")
    return limit_s
