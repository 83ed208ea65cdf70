"""Sweeps: many scenarios, kept in one file, resumable, on any executor."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.core.errors import InputError
from ..scenarios.documents.document import parse_assignment
from ..scenarios.sweeps.export import ResultTable, write_csv, write_parquet
from ..scenarios.sweeps.plan import SweepPlan, plan_of, read_sweep
from ..scenarios.sweeps.result_store import ResultStore
from ..scenarios.sweeps.sweep import SweepProgress, run_sweep
from ..scenarios.sweeps.workers import ClusterWorkers, ProcessWorkers, SweepWorkers, ThisProcess
from .answer.tree import Answer
from .base import Drawn, processes
from .scenario import Scenario, Source, paths, scenario_of
from .support.sweep_progress import sweep_progress
from .tables.sweep import sweep_answer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "MEMORY",
    "ClusterWorkers",
    "ProcessWorkers",
    "ResultStore",
    "ResultTable",
    "Sweep",
    "SweepPlan",
    "SweepProgress",
    "SweepWorkers",
    "ThisProcess",
    "parse_assignment",
    "read_sweep",
    "run_plan",
    "sweep",
    "write_csv",
    "write_parquet",
]


MEMORY = ":memory:"
"""The store that is gone when the sweep is."""
_SUFFIXES = (".yaml", ".yml")


class Sweep(Drawn):
    """The results of a sweep, one row a run.

    Attributes
    ----------
    name
        What the sweep is called.
    columns
        Names of the columns: point, replication, what varied, status, figures, utilization and bottleneck.
    progress
        How many runs there are, how many have a result or failed.
    """

    schema = "raidsim.sweep"

    def __init__(self, store: ResultStore, number: int, plan: SweepPlan, progress: SweepProgress) -> None:
        record = store.record(number)
        table = ResultTable(store, number)
        self.name = record.name
        self.columns: tuple[str, ...] = table.columns
        self.progress = progress
        self._rows_of = list(table.rows())
        self._store, self._number, self._plan = store, number, plan

    @property
    def complete(self) -> bool:
        """Whether every run was done, refused or failed; false after an interrupt."""
        return self.progress.settled >= self.progress.runs

    @property
    def store(self) -> str:
        """File that holds the results; ":memory:" if there is none."""
        return self._store.name

    def __len__(self) -> int:
        return len(self._rows_of)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self._rows_of)

    def figure(self) -> Figure:
        from .pictures.sweep import sweep_figure

        with _reopened(self._store) as store:
            return sweep_figure(store, store.record(self._number), self._plan.figures)

    def _document(self) -> Mapping[str, Any]:
        return {
            "name": self.name,
            "store": self.store,
            "complete": self.complete,
            "runs": self.progress.runs,
            "failed": self.progress.failed,
            "rows": self._rows(),
        }

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return list(self)

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        with _reopened(self._store) as store:
            return sweep_answer(store, store.record(self._number), self._plan.figures)

    def __repr__(self) -> str:
        left = "" if self.complete else f", {self.progress.runs - self.progress.settled} left"
        failed = f", {self.progress.failed} without a result" if self.progress.failed else ""
        return f"Sweep({self.name!r}: {len(self)} runs of {', '.join(self._plan.paths)}{failed}{left})"


def sweep(
    scenario: Source,
    *,
    store: str | PathLike[str] | None = None,
    replications: int = 1,
    figures: Sequence[str] = (),
    workers: int | None = None,
    executor: Executor | str | None = None,
    timeout: float | None = None,
    retry_failed: bool = False,
    progress: bool = True,
    **vary: Any,
) -> Sweep:
    """Run all combinations of some values in a scenario.

    Parameters
    ----------
    scenario
        A :class:`Scenario`, a name of the library or a scenario file, or a sweep file if there are no keywords.
    store
        SQLite file that keeps the results: the same call goes on where an earlier one ended. Default: memory.
    replications
        Runs of each point with random numbers of their own.
    figures
        Figures that the picture shows; default: throughput and latencies.
    workers
        Processes; 0 is this one. Default: one per core.
    executor
        Any ``concurrent.futures`` executor that runs functions of raidsim, which stays open; or the address of a Dask
        scheduler, such as "tcp://host:8786". Default: processes of this computer.
    timeout
        Longest time (s) of one run; one that takes longer has failed.
    retry_failed
        If true, run again what failed before.
    progress
        If true, show progress.
    vary
        By short name or path (two underscores for a dot): a list of values (``depth=[1, 4, 16]``), or a range
        (``depth={"from": 1, "to": 64, "steps": 7, "log": True}``).

    Returns
    -------
    Sweep
        All results. After an interrupt (Ctrl-C) those that are done; a note on stderr says so.

    Raises
    ------
    InputError
        If a path means nothing, or no point is possible.

    Examples
    --------
    >>> import raidsim
    >>> base = raidsim.Scenario.load("database-server").with_(warm_up="50ms", duration="200ms")
    >>> raidsim.sweep(base, jobs=[1, 4], workers=0, progress=False)
    Sweep('database server': 2 runs of jobs)
    """
    if timeout is not None and not timeout > 0:
        raise InputError("timeout", f"found {timeout}", "expected: more than 0 s")
    plan = _plan(scenario, paths(vary), replications, figures)
    kept = ResultStore(Path(MEMORY if store is None else store), write=True)
    try:
        return _swept(plan, kept, _workers(workers, executor), timeout, retry_failed, progress)
    finally:
        if store is not None:
            kept.close()


def _swept(
    plan: SweepPlan, kept: ResultStore, workers: SweepWorkers, timeout: float | None, retry_failed: bool, progress: bool
) -> Sweep:
    """Run what is left of a sweep; after an interrupt, what is done."""
    seen = [SweepProgress(plan.runs, 0, 0, 0, 0)]
    try:
        number, done = run_plan(plan, kept, workers, timeout, retry_failed, progress=progress, seen=seen)
    except KeyboardInterrupt:
        known = kept.find(plan.fingerprint)
        if known is None:
            raise
        number, done = known, seen[-1]
        print(f"interrupted: {done.settled:,} of {done.runs:,} runs are done", file=sys.stderr)
    return Sweep(kept, number, plan, done)


def run_plan(
    plan: SweepPlan,
    kept: ResultStore,
    workers: SweepWorkers,
    timeout: float | None = None,
    retry_failed: bool = False,
    recompute: bool = False,
    progress: bool = True,
    seen: list[SweepProgress] | None = None,
) -> tuple[int, SweepProgress]:
    """Run what is left of a sweep; its number in the store, and how far it is. `seen` gets the latest state."""
    with workers as team, sweep_progress(plan.name, progress) as watch:

        def told(now: SweepProgress) -> None:
            if seen is not None:
                seen[:] = [now]
            watch(now)

        return run_sweep(plan, kept, team, timeout, retry_failed, recompute, watch=told)


def _plan(scenario: Source, vary: dict[str, Any], replications: int, figures: Sequence[str]) -> SweepPlan:
    if not vary and replications == 1 and not isinstance(scenario, Scenario):
        if str(scenario).endswith(_SUFFIXES):
            return read_sweep(Path(scenario))
        raise InputError("sweep", "nothing that varies", "expected: values, such as depth=[1, 4], or a sweep file")
    base = scenario_of(scenario)
    given = {name: list(value) if isinstance(value, (list, tuple, range)) else value for name, value in vary.items()}
    told = {"vary": given, "replications": replications, "figures": list(figures)}
    return plan_of(told, base.document, base.name, "sweep")


@contextmanager
def _reopened(store: ResultStore) -> Iterator[ResultStore]:
    """A store to read: one in memory is still open, a file is closed by now."""
    if store.name == MEMORY:
        yield store
        return
    with ResultStore(Path(store.name), write=False) as there:
        yield there


def _workers(count: int | None, executor: Executor | str | None) -> SweepWorkers:
    if isinstance(executor, str):
        return ClusterWorkers(executor, lambda text: print(text, file=sys.stderr))
    if executor is not None:
        return _Lent(executor, count or getattr(executor, "_max_workers", None) or processes(None))
    return ThisProcess() if count == 0 else ProcessWorkers(processes(count))


class _Lent(SweepWorkers):
    """Somebody else's executor, which is left open."""

    def __init__(self, executor: Executor, count: int) -> None:
        super().__init__(lambda: executor, count)

    def close(self, at_once: bool) -> None:
        """See :meth:`SweepWorkers.close`."""
        self._executor = None
