"""Workers that die: their work is done by others, or one message says what to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.cli import main as cli
from raidsim.model.core.errors import InputError, WorkerHung, WorkersDied, WrongAnswer
from raidsim.scenarios.advice import runs as advice_runs
from raidsim.scenarios.advice.runs import Simulations
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.workers import worker_pool
from raidsim.scenarios.workers.task_pool import TaskPool
from raidsim.scenarios.workers.worker_pool import LIMIT, RESTARTS
from raidsim.tests.faults.dying import die_always, die_once, hang, square, stop
from raidsim.tests.processes import PATIENCE_S


def test_work_of_a_worker_that_is_killed_is_done_by_another(tmp_path: Path) -> None:
    """Protects comparisons of hours against one process that the system ends: same results, in order."""
    with TaskPool(2) as pool:
        assert pool.run(die_once, [(tmp_path / "mark", number) for number in range(6)]) == [n * n for n in range(6)]
        assert pool.done == 6
        assert pool.run(square, [1, 2]) == [1, 4]


@pytest.mark.slow
def test_work_that_kills_every_worker_ends_in_one_message() -> None:
    """Counter-test: what always dies is not tried for ever."""
    with TaskPool(2) as pool, pytest.raises(WorkersDied, match="--workers 1"):
        pool.run(die_always, list(range(6)))


@pytest.mark.parametrize("work", [hang, stop])
def test_work_that_does_not_end_is_ended(work: Callable[[int], int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects whoever waits: a worker that waits for ever, or that somebody stopped, ends in one message."""
    monkeypatch.setenv(LIMIT, "4s")
    begun = time.monotonic()
    with (
        pytest.raises(WorkerHung, match=f"at one simulation for 4 s and was ended; .*{LIMIT}=24h"),
        TaskPool(2) as pool,
    ):
        pool.run(work, [1, 2, 3, 4])
    assert time.monotonic() - begun < PATIENCE_S


def test_the_environment_says_how_long_work_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects long simulations: the limit is raised without a change of anything, and refused if it is no time."""
    monkeypatch.setenv(LIMIT, "24h")
    with TaskPool(2) as pool:
        assert pool.run(square, [1, 2, 3]) == [1, 4, 9]
    for wrong in ("0s", "soon"):
        monkeypatch.setenv(LIMIT, wrong)
        with TaskPool(2) as pool, pytest.raises(InputError, match=LIMIT):
            pool.run(square, [1, 2, 3])


def test_what_is_no_result_is_refused() -> None:
    """Protects results from a worker whose files were replaced while it ran: what it sends is not taken for one."""
    with TaskPool(2) as pool:
        with pytest.raises(WrongAnswer, match="sent int instead of str"):
            pool.run(square, [1, 2, 3], (str,))
        assert pool.run(square, [1, 2, 3], (int,)) == [1, 4, 9]


class _Breaking(ThreadPoolExecutor):
    """A pool of which the next ones break at a given piece of work."""

    left = 0
    at = 2

    _processes = None

    def __init__(self, *_: object) -> None:
        super().__init__(1)
        self._begun = 0
        self._broken = False

    def submit(self, function, /, *arguments, **named) -> Future:  # type: ignore[no-untyped-def, type-arg]
        self._begun += 1
        if self._begun == self.at and _Breaking.left:
            _Breaking.left -= 1
            self._broken = True
        future: Future = Future()  # type: ignore[type-arg]
        if self._broken:
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(function(*arguments, **named))
        return future


def _break(monkeypatch: pytest.MonkeyPatch, times: int, at: int) -> None:
    monkeypatch.setattr(worker_pool, "ProcessPoolExecutor", _Breaking)
    monkeypatch.setattr(_Breaking, "left", times)
    monkeypatch.setattr(_Breaking, "at", at)


def _specs() -> list[object]:
    text = "machine: {drives: {model: WD2500JB, count: 1}}\nworkload: {kind: load, depth: %d, duration: 200ms}"
    return [document_from(text % depth).spec() for depth in (1, 2, 3)]


def test_a_fit_goes_on_when_a_worker_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects `calibrate` and `predict`: what was simulated stays, the rest is simulated by new workers."""
    with Evaluator(1) as alone:
        wanted = alone.run(_specs(), Sample())  # type: ignore[arg-type]
    _break(monkeypatch, 1, 2)
    with Evaluator(2) as evaluator:
        assert evaluator.run(_specs(), Sample()) == wanted  # type: ignore[arg-type]
        assert evaluator.simulated == 3


def test_a_fit_whose_workers_always_die_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counter-test: after so many pools in a row without a result there is one message."""
    _break(monkeypatch, 100, 1)
    with Evaluator(2) as evaluator, pytest.raises(WorkersDied):
        evaluator.run(_specs(), Sample())  # type: ignore[arg-type]
    assert 100 - _Breaking.left >= RESTARTS


class _Task(int):
    """A piece of work that is known by its number."""

    @property
    def key(self) -> int:
        return int(self)


def _search(first: int):  # type: ignore[no-untyped-def]
    """Asks for three pieces of work, each after the answer to the one before."""
    value = first
    for _ in range(3):
        value = yield _Task(value)
    return value


def test_a_search_goes_on_when_a_worker_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects `advise`: each search goes on where it was, with the same answers, and one that always breaks ends."""
    monkeypatch.setattr(advice_runs, "_work", lambda task: 2 * task + 1)
    monkeypatch.setattr(advice_runs, "Measured", int)
    _break(monkeypatch, 1, 3)
    with Simulations(None, 2) as simulations:  # type: ignore[arg-type]
        assert simulations.run([_search(1), _search(10)]) == [15, 87]
    assert not _Breaking.left
    _break(monkeypatch, 100, 1)
    with Simulations(None, 2) as simulations, pytest.raises(WorkersDied):  # type: ignore[arg-type]
        simulations.run([_search(1), _search(10)])


def test_workers_that_die_are_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects scripts: it is a failure (1), not bad input (2), on one line that says what to do."""
    _break(monkeypatch, 100, 1)
    with pytest.raises(SystemExit) as ended:
        cli.main(["compare", "backup-target", "--vary", "jobs=1,2", "--workers", "2", "--no-rebuild"])
    assert ended.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: worker processes end before their work is done")
