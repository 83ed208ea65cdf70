"""Runs a sweep: hands its points to workers, keeps what they send, and goes on whatever becomes of them.

Only enough batches are under way to keep the workers busy, each about half a second long, so that neither a million
points nor points of a few milliseconds cost more than their simulation, and a process that is killed loses little.

A worker that dies takes what it was doing with it. Where it is not known which point that was, all that were under way
are run again one at a time: one that workers die of twice, alone, is recorded as failed, and the rest goes on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass

from ...model.core.errors import InputError
from .model_version import model_fingerprint, model_name
from .plan import SweepPlan
from .point import Batch, BatchReport, Outcome, Task, result_key, scenario_of, sound
from .result_file import Unstorable
from .result_store import ResultStore, RunRow
from .time_limit import GRACE_S
from .workers import SweepWorkers

_BATCH_S = 0.5
_LARGEST_BATCH = 256
_FIRST_BATCH = 4
_LOOK_S = 1.0
_MOST_DEATHS = 2
"""Of a point, alone."""
_MOST_BREAKS = 12
"""Of workers, one after the other without a result: then it is not the points."""
_START_S = 60.0
"""What workers may take to begin, before a limit of time is taken to have passed."""


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """How far a sweep is.

    Attributes
    ----------
    runs, settled
        Of all; those that need no more work.
    simulated, reused
        Those that were run this time, or taken over from other sweeps.
    failed
        Of these, those without a result.
    """

    runs: int
    settled: int
    simulated: int
    reused: int
    failed: int


def run_sweep(
    plan: SweepPlan,
    store: ResultStore,
    workers: SweepWorkers,
    timeout_s: float | None = None,
    retry_failed: bool = False,
    recompute: bool = False,
    watch: Callable[[SweepProgress], None] | None = None,
) -> tuple[int, SweepProgress]:
    """Run what is left of a sweep.

    Parameters
    ----------
    plan
        Its points.
    store
        Where results go, and where those that are there already are found.
    workers
        Who runs the points. They are left running.
    timeout_s
        How long one run may take; one that takes longer is recorded as failed.
    retry_failed
        Run those again that failed before.
    recompute
        Begin anew if there are results of another model.
    watch
        Told how far it is whenever something was kept.

    Returns
    -------
    int
        The sweep's number in the store.
    SweepProgress
        What was done.

    Raises
    ------
    InputError
        About the store or the workers; what was done until then is kept.
    """
    shape = (plan.points, plan.replications)
    model = (model_fingerprint(), model_name())
    number = store.begin(plan.fingerprint, model, plan.name, shape, plan.paths, recompute)
    run = _SweepRun(plan, store, number, workers, timeout_s, watch or (lambda _: None))
    run.work(store.settled(number, retry_failed))
    return number, run.progress


class _SweepRun:
    """One go at a sweep."""

    def __init__(
        self,
        plan: SweepPlan,
        store: ResultStore,
        number: int,
        workers: SweepWorkers,
        timeout_s: float | None,
        watch: Callable[[SweepProgress], None],
    ) -> None:
        self._plan = plan
        self._store = store
        self._number = number
        self._workers = workers
        self._timeout_s = timeout_s
        self._watch = watch
        self._model = model_fingerprint()
        self._fresh: Iterator[Task] = iter(())
        self._left = 0
        self._again: deque[Task] = deque()
        self._suspects: deque[Task] = deque()
        self._under_way: dict[Future[BatchReport], tuple[float, tuple[Task, ...]]] = {}
        self._deaths: dict[tuple[int, int], int] = {}
        self._testing = False  # whether what was handed out last is a suspect
        self._breaks = 0
        self._seconds = 0.0
        self._timed = 0
        self._settled = self._simulated = self._reused = self._failed = 0

    @property
    def progress(self) -> SweepProgress:
        return SweepProgress(self._plan.runs, self._settled, self._simulated, self._reused, self._failed)

    def work(self, settled: bytearray) -> None:
        """Run everything that is not settled."""
        self._settled = sum(settled)
        self._left = len(settled) - self._settled
        self._fresh = self._tasks(settled)
        self._watch(self.progress)
        if self._store.has_results_elsewhere(self._number):
            self._fresh = self._unknown(self._fresh)
        while self._fill():
            wait(self._under_way, _LOOK_S, FIRST_COMPLETED)
            done = [future for future in self._under_way if future.done()]
            if done:
                self._take(done)
            else:
                self._workers.check()
                self._look_for_the_hung()

    def _tasks(self, settled: bytearray) -> Iterator[Task]:
        for run, is_settled in enumerate(settled):
            if not is_settled:
                point, replication = divmod(run, self._plan.replications)
                yield Task(point, replication, self._plan.values(point), self._plan.replications > 1)

    def _unknown(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Those that no other sweep in the store has the result of; the others' results are taken over."""
        copies: list[tuple[RunRow, tuple[int, int, int]]] = []
        for task in tasks:
            try:
                key = result_key(scenario_of(self._plan.document, task), self._model)
            except Exception:  # a worker meets it as well, and records it
                yield task
                continue
            source = self._store.result_of(self._number, key)
            if source is None:
                yield task
                continue
            copies.append((self._row(Outcome(task.point, task.replication, "done"), task), source))
            if len(copies) >= _LARGEST_BATCH:
                self._copy(copies)
                copies = []
        self._copy(copies)

    def _copy(self, copies: list[tuple[RunRow, tuple[int, int, int]]]) -> None:
        if copies:
            self._store.copy(self._number, copies)
            self._settled += len(copies)
            self._reused += len(copies)
            self._left -= len(copies)
            self._watch(self.progress)

    def _fill(self) -> bool:
        """Hand out batches until the workers have enough; whether any are under way."""
        while True:
            alone = bool(self._suspects)
            if self._under_way and (alone or self._testing) and not self._workers.names_the_dead:
                return True
            if len(self._under_way) >= 2 * self._workers.count:
                return True
            tasks = (self._suspects.popleft(),) if alone else self._next_tasks()
            self._testing = alone
            if not tasks:
                return bool(self._under_way)
            batch = Batch(self._model, self._plan.document, tasks, _BATCH_S, self._timeout_s)
            try:
                future = self._workers.submit(batch)
            except BrokenExecutor:
                self._again.extendleft(reversed(tasks))
                self._broke(self._give_up_under_way())
                continue
            self._under_way[future] = (time.monotonic(), tasks)

    def _next_tasks(self) -> tuple[Task, ...]:
        """A batch of about the right length; fewer towards the end, so that all workers end together."""
        size = _FIRST_BATCH
        if self._timed:
            size = int(1.5 * _BATCH_S * self._timed / max(self._seconds, 1e-9)) + 1
        fair = -(-(self._left + len(self._again)) // (2 * self._workers.count))
        size = max(1, min(size, fair, _LARGEST_BATCH))
        tasks: list[Task] = []
        while len(tasks) < size:
            task = self._again.popleft() if self._again else next(self._fresh, None)
            if task is None:
                break
            tasks.append(task)
        return tuple(tasks)

    def _take(self, done: list[Future[BatchReport]]) -> None:
        """Keep what batches gave that are over, and see to those that gave nothing."""
        rows: list[RunRow] = []
        lost: list[tuple[Task, ...]] = []
        alone = len(self._under_way) == 1 or self._workers.names_the_dead
        for future in done:
            _, tasks = self._under_way.pop(future)
            error = future.exception() if not future.cancelled() else BrokenExecutor()
            if error is None:
                rows += self._rows(future.result(), tasks)
            elif self._workers.died(error):
                lost.append(tasks)
            else:
                rows += self._each_failed(tasks, f"{type(error).__name__}: {error}")
        died = bool(lost)
        if died:
            if not self._workers.names_the_dead:
                lost += self._give_up_under_way()
            rows += self._dead_alone(lost) if alone else []
        if rows:
            self._keep(rows)
        if died:
            self._broke(lost)

    def _rows(self, report: object, tasks: tuple[Task, ...]) -> list[RunRow]:
        """What to keep of a report; what the worker did not come to is run later."""
        if not isinstance(report, BatchReport):
            return self._each_failed(tasks, f"the worker sent {type(report).__name__} instead of results")
        if report.model != self._model:
            found = f"the worker {report.worker} has another model ({report.model}) than this process ({self._model})"
            raise InputError("workers", found, "expected: the same release of raidsim and numpy everywhere")
        known = {(task.point, task.replication): task for task in tasks}
        rows: list[RunRow] = []
        for outcome in report.outcomes:
            task = known.pop((getattr(outcome, "point", -1), getattr(outcome, "replication", -1)), None)
            if task is None:
                continue  # nobody asked for it
            wrong = sound(outcome)
            if wrong is not None:
                outcome = Outcome(task.point, task.replication, "failed", wrong)
            self._seconds += outcome.seconds
            self._timed += 1
            rows.append(self._row(outcome, task))
        if rows:
            self._breaks = 0
            self._again.extendleft(reversed(known.values()))
            return rows
        return self._each_failed(tasks, "the worker sent no result")

    def _each_failed(self, tasks: tuple[Task, ...], error: str) -> list[RunRow]:
        """If one batch of several could not be run, each alone may; a single one has failed."""
        if len(tasks) > 1:
            self._suspects.extend(tasks)
            return []
        text = " ".join(error.split())[:1000]
        return [self._row(Outcome(task.point, task.replication, "failed", text), task) for task in tasks]

    def _row(self, outcome: Outcome, task: Task) -> RunRow:
        return RunRow(
            task.point,
            task.replication,
            self._plan.cells(task.values),
            outcome.status,
            outcome.error,
            outcome.key,
            outcome.figures,
            outcome.estimates,
            outcome.usages,
            outcome.bottleneck,
            outcome.saturated,
            outcome.seconds,
            outcome.worker,
        )

    def _keep(self, rows: list[RunRow]) -> None:
        try:
            self._store.save(self._number, rows)
        except Unstorable:
            rows = [self._kept(row) for row in rows]
        self._settled += len(rows)
        self._simulated += len(rows)
        self._left -= len(rows)
        self._failed += sum(row.status != "done" for row in rows)
        self._watch(self.progress)

    def _kept(self, row: RunRow) -> RunRow:
        """Keep one row, or what is wrong with it."""
        try:
            self._store.save(self._number, [row])
        except Unstorable as error:
            text = f"the worker sent what cannot be kept ({error})"
            row = RunRow(row.point, row.replication, row.values, "failed", text)
            self._store.save(self._number, [row])
        return row

    def _give_up_under_way(self) -> list[tuple[Task, ...]]:
        """Tasks of all batches under way, which are not waited for any more."""
        lost = [tasks for _, tasks in self._under_way.values()]
        self._under_way.clear()
        return lost

    def _dead_alone(self, lost: list[tuple[Task, ...]]) -> list[RunRow]:
        """Note what a worker has died of with nothing else under way; what that was twice has failed."""
        rows = []
        for tasks in [tasks for tasks in lost if len(tasks) == 1]:
            run = (tasks[0].point, tasks[0].replication)
            self._deaths[run] = self._deaths.get(run, 0) + 1
            if self._deaths[run] >= _MOST_DEATHS:
                lost.remove(tasks)
                error = f"its worker died, {_MOST_DEATHS} times"
                rows.append(self._row(Outcome(*run, "failed", error), tasks[0]))
        return rows

    def _broke(self, lost: list[tuple[Task, ...]]) -> None:
        """Begin again after workers were lost, with what they may have died of one at a time."""
        for tasks in lost:
            self._suspects.extend(tasks)
        self._breaks += 1
        if self._breaks > _MOST_BREAKS:
            found = f"workers died {self._breaks} times, one after the other, without a result"
            raise InputError("workers", found, "what was done is kept: the same command goes on there")
        if not self._workers.names_the_dead:
            self._workers.restart()

    def _look_for_the_hung(self) -> None:
        """Give up batches that have taken longer than any can, as the workers should have done themselves."""
        if self._timeout_s is None or not self._under_way:
            return
        most_s = 2 * (_BATCH_S + self._timeout_s + GRACE_S) + _START_S
        if time.monotonic() - min(began for began, _ in self._under_way.values()) > most_s:
            alone = len(self._under_way) == 1
            lost = self._give_up_under_way()
            rows = self._dead_alone(lost) if alone else []
            self._workers.restart()
            self._broke(lost)
            if rows:
                self._keep(rows)
