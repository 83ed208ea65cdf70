"""A sweep goes on whatever becomes of its points and workers, and gives the same tables in any case."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.sweeps import point as sweep_point
from raidsim.scenarios.sweeps.plan import read_sweep
from raidsim.scenarios.sweeps.point import Batch, BatchReport, run_batch
from raidsim.scenarios.sweeps.result_file import IN_MEMORY
from raidsim.scenarios.sweeps.result_store import ResultStore, RunRow
from raidsim.scenarios.sweeps.sweep import SweepProgress, run_sweep
from raidsim.scenarios.sweeps.time_limit import TimeIsUp, time_limit
from raidsim.scenarios.sweeps.workers import SweepWorkers, ThisProcess
from raidsim.tests.processes import PATIENCE_S
from raidsim.tests.scenarios.sweeps.sweep_bench import SCENARIO, plan_of, run, sweep_file, tables

Work = Callable[[Batch], Any]
_NO_ESTIMATE = Estimate(1.0, 1.0, 0.9, "many", 0.0, 0.0, False)  # type: ignore[arg-type]


class Workers(SweepWorkers):
    """Workers that do something else with a batch than run it, and may break as a pool of processes does."""

    def __init__(self, work: Work) -> None:
        super().__init__(lambda: _Pool(work), 2)
        self.restarts = 0

    def restart(self) -> None:
        self.restarts += 1
        super().restart()


class _Pool(Executor):
    def __init__(self, work: Work) -> None:
        self._work = work
        self._broken = False

    def submit(self, _: Callable[..., Any], /, *arguments: Any, **__: Any) -> Future[Any]:
        if self._broken:
            raise BrokenExecutor
        future: Future[Any] = Future()
        try:
            future.set_result(self._work(*arguments))
        except Exception as error:
            self._broken = isinstance(error, BrokenExecutor)
            future.set_exception(error)
        return future


def rows_of(path: Path) -> list[RunRow]:
    """All runs of the first sweep in a store."""
    with ResultStore(path, write=False) as store:
        return list(store.rows(1))


def test_what_is_kept_is_what_a_run_gives(tmp_path: Path) -> None:
    """A row holds the figures of the same scenario run by itself, to the last bit; not what a link is, and its ways."""
    plan = plan_of(tmp_path, 3)
    number, progress = run(plan, tmp_path / "a.sqlite")
    row = rows_of(tmp_path / "a.sqlite")[2]
    prediction = simulate(plan.document.changed(plan.values(2)).spec())
    assert (number, progress) == (1, SweepProgress(3, 3, 3, 0, 0))
    assert {name: row.figures[name] for name in prediction.figures} == prediction.figures
    assert row.estimates == {name: row.estimates[name] for name in prediction.estimates}
    assert row.usages == tuple(replace(usage, what="", ways=()) for usage in prediction.usages)
    assert (row.bottleneck, row.saturated) == (prediction.bottleneck, prediction.saturated)
    assert row.values == plan.cells(plan.values(2))


def test_the_tables_do_not_depend_on_who_runs_what_when(tmp_path: Path) -> None:
    """Two threads that finish in any order, and one process in order, leave the same bits."""
    plan = plan_of(tmp_path, 12)
    run(plan, tmp_path / "one.sqlite")
    run(plan, tmp_path / "two.sqlite", SweepWorkers(lambda: ThreadPoolExecutor(3), 3))
    backwards = Workers(lambda batch: run_batch(replace(batch, tasks=batch.tasks[::-1], budget_s=0.01)))
    run(plan, tmp_path / "three.sqlite", backwards)
    assert tables(tmp_path / "one.sqlite") == tables(tmp_path / "two.sqlite") == tables(tmp_path / "three.sqlite")


def test_replications_differ_and_one_alone_is_the_scenario(tmp_path: Path) -> None:
    """Replications have seeds of their own; without them a point is what `raidsim run` simulates."""
    run(plan_of(tmp_path, 1, replications=3), tmp_path / "a.sqlite")
    rates = {row.figures["read_mean_seconds"] for row in rows_of(tmp_path / "a.sqlite")}
    assert len(rates) == 3


def test_a_machine_that_cannot_be_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    """RAID 6 of three drives is no reason to lose the others; the message says which point, path and why."""
    vary = {"layout": ["raid5", "raid6"], "disks": [3, 4]}
    run(plan_of(tmp_path, sample=None, vary=vary), tmp_path / "a.sqlite")
    rows = rows_of(tmp_path / "a.sqlite")
    assert [row.status for row in rows] == ["done", "done", "refused", "done"]
    assert "raid6" in rows[2].error
    assert rows[2].values == {"layout": "raid6", "disks": 3}


def test_exceptions_and_garbage_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a point raises or a worker sends is that point's error, and no other's."""

    def breaks(spec: ScenarioSpec, *_: Any) -> Prediction:
        if spec.workload.depth % 3 == 0:  # type: ignore[union-attr]
            raise ZeroDivisionError("no depth\n at all")
        return simulate(spec)

    def garbles(batch: Batch) -> Any:
        report = run_batch(batch)
        if any(task.point == 4 for task in batch.tasks):
            return "garbage"
        return report

    monkeypatch.setattr(sweep_point, "simulate", breaks)
    vary = {"depth": {"from": 1, "to": 8, "steps": 8}}
    run(plan_of(tmp_path, sample=None, vary=vary), tmp_path / "a.sqlite", Workers(garbles))
    rows = rows_of(tmp_path / "a.sqlite")
    assert {row.point: row.error for row in rows if row.status != "done"} == {
        2: "ZeroDivisionError: no depth at all",
        4: "the worker sent str instead of results",
        5: "ZeroDivisionError: no depth at all",
    }


def test_figures_that_are_no_numbers_are_garbage(tmp_path: Path) -> None:
    """A result without figures, or with one that is not finite, is not kept as if it were one."""

    def garbles(batch: Batch) -> BatchReport:
        report = run_batch(batch)
        wrong: dict[int, dict[str, float]] = {0: {}, 1: {"rate": float("inf")}}
        outcomes = [replace(each, figures=wrong.get(each.point, each.figures)) for each in report.outcomes]
        outcomes = [replace(each, estimates={"rate": _NO_ESTIMATE}) if each.point == 3 else each for each in outcomes]
        outcomes = [replace(each, bottleneck=1 << 80) if each.point == 4 else each for each in outcomes]  # type: ignore[arg-type]
        return replace(report, outcomes=tuple(outcomes))

    run(plan_of(tmp_path, 5), tmp_path / "a.sqlite", Workers(garbles))
    assert [row.error.split(":")[0] for row in rows_of(tmp_path / "a.sqlite")] == [
        "the worker sent a result without figures",
        "the figure rate is inf",
        "",
        "the worker sent what cannot be kept (IntegrityError",
        "the worker sent what cannot be kept (OverflowError",
    ]


def test_a_point_that_kills_its_workers_fails_alone(tmp_path: Path) -> None:
    """It is found among those that were under way, and the pool is made anew until the rest is done."""

    def dies(batch: Batch) -> BatchReport:
        if any(task.point == 7 for task in batch.tasks):
            raise BrokenExecutor
        return run_batch(batch)

    workers = Workers(dies)
    run(plan_of(tmp_path, 20), tmp_path / "a.sqlite", workers)
    rows = rows_of(tmp_path / "a.sqlite")
    assert {row.point: row.error for row in rows if row.status != "done"} == {7: "its worker died, 2 times"}
    assert len(rows) == 20
    assert workers.restarts <= 4


def test_a_worker_that_dies_by_chance_costs_nothing(tmp_path: Path) -> None:
    """The counter-test: what was under way is run again and comes out as if nothing had happened."""
    left = [3, 3]

    def dies_now_and_then(batch: Batch) -> BatchReport:
        left[0] -= 1
        if left[1] and not left[0]:
            left[:] = [3, left[1] - 1]
            raise BrokenExecutor
        return run_batch(batch)

    plan = plan_of(tmp_path, 20)
    run(plan, tmp_path / "a.sqlite", Workers(dies_now_and_then))
    run(plan, tmp_path / "b.sqlite")
    assert tables(tmp_path / "a.sqlite") == tables(tmp_path / "b.sqlite")


def test_workers_that_always_die_end_the_sweep(tmp_path: Path) -> None:
    """Protects from beginning processes for ever where none can work."""

    def dies(_: Batch) -> BatchReport:
        raise BrokenExecutor

    with pytest.raises(InputError, match="workers died 13 times, one after the other"):
        run(plan_of(tmp_path, 100), tmp_path / "a.sqlite", Workers(dies))


def test_a_worker_with_another_model_is_refused(tmp_path: Path) -> None:
    """Results of two releases do not end up in one table."""

    def another(batch: Batch) -> BatchReport:
        return BatchReport("0123", "node7:1", ())

    with pytest.raises(InputError, match=r"node7:1 has another model \(0123\)"):
        run(plan_of(tmp_path, 3), tmp_path / "a.sqlite", Workers(another))


def test_what_takes_too_long_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A point that never ends is interrupted after its time; those before and after it are not."""

    def slow(spec: ScenarioSpec, *_: Any) -> Prediction:
        while spec.workload.depth == 2:  # type: ignore[union-attr]
            pass
        return simulate(spec)

    monkeypatch.setattr(sweep_point, "simulate", slow)
    plan = plan_of(tmp_path, sample=None, vary={"depth": [1, 2, 3]})
    run(plan, tmp_path / "a.sqlite", timeout_s=0.8)
    assert [row.error for row in rows_of(tmp_path / "a.sqlite")] == ["", "it took longer than 800 ms", ""]
    monkeypatch.setattr(sweep_point, "simulate", simulate)
    _, progress = run(plan, tmp_path / "a.sqlite", retry_failed=True)
    assert progress == SweepProgress(3, 3, 1, 0, 0)
    assert [row.status for row in rows_of(tmp_path / "a.sqlite")] == ["done"] * 3


def test_a_time_limit_that_was_kept_interrupts_nothing() -> None:
    """The counter-test: what ends in time is not interrupted afterwards, nor what has no limit."""
    for limit in (0.02, None):
        with time_limit(limit, own_process=False):
            pass
        time.sleep(0.04)
    with pytest.raises(TimeIsUp):
        _for_ever()


def test_what_cannot_be_interrupted_ends_with_its_process() -> None:
    """A call into a library that hangs does not hold a worker for ever."""
    code = (
        "import time; from raidsim.scenarios.sweeps import time_limit as limit\nlimit.GRACE_S = 0.1\n"
        "with limit.time_limit(0.1, own_process=True): time.sleep(3600)"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    assert time.monotonic() - began < PATIENCE_S


def _for_ever() -> None:
    with time_limit(0.01, own_process=False):
        while True:
            pass


def test_what_was_done_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sweep again simulates nothing; a longer one only what is new, whatever its file says differently."""
    vary = {"depth": [1, 2, 3]}
    run(plan_of(tmp_path, sample=None, vary=vary), tmp_path / "a.sqlite")
    _, again = run(plan_of(tmp_path, sample=None, vary=vary, name="other.yaml"), tmp_path / "a.sqlite")
    longer = plan_of(tmp_path, sample=None, vary={"workload.depth": [4, 3, 2, 1]})
    number, more = run(longer, tmp_path / "a.sqlite")
    assert again == SweepProgress(3, 3, 0, 0, 0)
    assert (number, more) == (2, SweepProgress(4, 4, 1, 3, 0))
    run(longer, tmp_path / "b.sqlite")
    with ResultStore(tmp_path / "a.sqlite", write=False) as one, ResultStore(tmp_path / "b.sqlite", write=False) as two:
        assert list(one.rows(2)) == list(two.rows(1))


def test_results_of_another_model_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused unless asked for, and then the sweep is begun anew beside the old one."""
    plan = plan_of(tmp_path, 2)
    with ResultStore(tmp_path / "a.sqlite", write=True) as store:
        old = store.begin(plan.fingerprint, ("0123", "raidsim 0.0.9, model 0123"), "old", (2, 1), plan.paths)
        store.save(old, [RunRow(0, 0, plan.cells(plan.values(0)), "done", figures={"rate": 1.0})])
    with pytest.raises(InputError, match=r"results of this sweep by raidsim 0\.0\.9, model 0123; .*--recompute"):
        run(plan, tmp_path / "a.sqlite")
    number, progress = run(plan, tmp_path / "a.sqlite", recompute=True)
    assert (number, progress.simulated) == (2, 2)
    with ResultStore(tmp_path / "a.sqlite", write=False) as store:
        assert [row.figures for row in store.rows(1)] == [{"rate": 1.0}]


def test_an_interrupt_keeps_what_was_done(tmp_path: Path) -> None:
    """Ctrl-C leaves a store that the same command goes on with, to the same tables."""
    plan = plan_of(tmp_path, 12)

    def stop(progress: SweepProgress) -> None:
        if progress.settled >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, tmp_path / "a.sqlite", watch=stop)
    assert 4 <= len(rows_of(tmp_path / "a.sqlite")) < 12
    run(plan, tmp_path / "a.sqlite")
    run(plan, tmp_path / "b.sqlite")
    assert tables(tmp_path / "a.sqlite") == tables(tmp_path / "b.sqlite")


def test_a_store_in_memory(tmp_path: Path) -> None:
    """A look at a sweep needs no file."""
    plan = read_sweep(sweep_file(tmp_path, 2, scenario={**SCENARIO, "name": "box"}))
    with ResultStore(IN_MEMORY, write=True) as store, ThisProcess() as workers:
        number, _ = run_sweep(plan, store, workers)
        assert len(list(store.rows(number))) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.yaml"]
