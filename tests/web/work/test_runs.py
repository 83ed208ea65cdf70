"""Runs of the whole server: progress, cancel, limits, and who waits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from raidsim.api.scenario import Scenario
from raidsim.model.core.errors import InputError
from raidsim.scenarios.running.simulate import simulate
from raidsim.web.form.fields import DEFAULT
from raidsim.web.form.forms import built, fitted
from raidsim.web.work.file_tasks import FioTask
from raidsim.web.work.kept import Kept
from raidsim.web.work.runs import Runs, Ticket
from raidsim.web.work.task import Progress
from raidsim.web.work.tasks import CurveTask, FailureTask, RunTask, TimelineTask, course

PATIENCE_S = 60.0
FORM = replace(DEFAULT, length="short", drive="WD2500JS", disks=4, depth=4)


def scenario_of(**values: object) -> Scenario:
    """A small scenario."""
    found = built(fitted(replace(FORM, **values))[0])  # type: ignore[arg-type]
    assert found.scenario is not None
    return found.scenario


def until(condition: Callable[[], bool]) -> None:
    """Wait for something, but not for ever."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def over(ticket: Ticket) -> bool:
    """Whether a run is over."""
    return not ticket.open


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    """A server with one worker."""
    server = Runs(workers=1, most_waiting=2)
    yield server
    server.close()


@dataclass(frozen=True)
class Endless:
    """A simulation that never ends."""

    CPU_S: ClassVar[float] = 0.2
    SHORT: ClassVar[bool] = True

    def perform(self, progress: Progress) -> None:
        """Be busy, and tell what is known so far."""
        progress.tell("so far")
        while True:
            sum(range(1000))


@dataclass(frozen=True)
class InSteps:
    """A simulation that has a first answer, and is not over before a file is there."""

    CPU_S: ClassVar[float] = PATIENCE_S
    SHORT: ClassVar[bool] = False
    file: Path

    def perform(self, progress: Progress) -> str:
        """Answer, wait, and answer."""
        progress.parts, progress.done = 2, 1
        progress.answer("first")
        until(self.file.exists)
        return "second"


@dataclass(frozen=True)
class Wrong:
    """A task that goes wrong in one way or another."""

    CPU_S: ClassVar[float] = 10.0
    SHORT: ClassVar[bool] = True
    how: str

    def perform(self, progress: Progress) -> None:
        """Go wrong."""
        if self.how == "input":
            raise InputError("workload.size", "far too much", "expected: less")
        if self.how == "memory":
            raise MemoryError
        raise SystemExit(3) if self.how == "exit" else ZeroDivisionError


def test_a_run_in_a_worker_is_the_run_itself(runs: Runs) -> None:
    """Protects results: a worker process gives what the simulation gives here, to the last bit."""
    scenario = scenario_of()
    ticket = runs.start(RunTask(scenario))
    until(lambda: over(ticket))
    assert ticket.state == "done"
    assert ticket.share == 1.0
    assert ticket.result.prediction == simulate(scenario.spec)
    assert ticket.result.without is not None


def test_a_first_answer_is_there_before_the_run_is_over(runs: Runs, tmp_path: Path) -> None:
    """Protects the first seconds: what is known is handed on while the rest is simulated, whose share begins anew."""
    ticket = runs.start(InSteps(tmp_path / "go"))
    until(lambda: ticket.early is not None)
    assert (ticket.early, ticket.result, ticket.state) == ("first", None, "running")
    assert ticket.share < 0.5
    (tmp_path / "go").touch()
    until(lambda: over(ticket))
    assert (ticket.early, ticket.result) == ("first", "second")


def test_a_run_answers_before_it_runs_without_the_bottleneck() -> None:
    """Protects the first answer: it is the run's own, complete but for what would be without the bottleneck."""
    told: list[object] = []
    found = RunTask(scenario_of()).perform(Progress(told.append))
    assert told == [replace(found, without=None, known=False)]
    assert found.known
    assert found.without is not None


def test_who_comes_late_waits_and_too_many_are_refused(runs: Runs) -> None:
    """Protects the server: one run at a time here, two wait in the order of coming, the next is refused."""
    first = runs.start(Endless())
    until(lambda: first.state == "running")
    second, third = runs.start(RunTask(scenario_of())), runs.start(RunTask(scenario_of(seed=1)))
    assert (second.state, third.state) == ("waiting", "waiting")
    assert (runs.place(first), runs.place(second), runs.place(third)) == (0, 1, 2)
    fourth = runs.start(RunTask(scenario_of()))
    assert fourth.state == "refused"
    assert "waiting" in fourth.message
    third.cancel()
    assert third.state == "cancelled"
    until(lambda: over(first) and over(second))
    assert first.state == "refused"
    assert first.message.startswith("stopped after 200 ms of CPU time")
    assert first.early == "so far"
    assert second.state == "done"


def test_short_runs_have_a_lane(tmp_path: Path) -> None:
    """Protects visitors with a short run: the long runs of others leave it a process, and it leaves them one."""
    server = Runs(workers=2)
    try:
        long = [server.start(InSteps(tmp_path / "go")) for _ in range(3)]
        until(lambda: long[0].early is not None)
        short = [server.start(RunTask(scenario_of(seed=seed))) for seed in (1, 2)]
        until(lambda: all(over(ticket) for ticket in short))
        assert [ticket.state for ticket in (*short, *long)] == ["done", "done", "running", "waiting", "waiting"]
        assert server.place(long[2]) == 2
        (tmp_path / "go").touch()
        until(lambda: all(over(ticket) for ticket in long))
    finally:
        server.close()


def test_the_same_question_is_answered_once(runs: Runs, tmp_path: Path) -> None:
    """Protects a server with many visitors: the same question is one run, whose answer is kept for the next visitor."""
    first, second = (runs.start(InSteps(tmp_path / "go"), ("kind", "key")) for _ in range(2))
    assert first is second
    first.cancel()
    (tmp_path / "go").touch()
    until(lambda: over(second))
    assert (second.state, runs.kept.get("kind", "key")) == ("done", "second")
    kept = Kept(most=1)
    kept.keep("kind", "one", 1)
    kept.keep("kind", "two", 2)
    assert (kept.get("kind", "one"), kept.get("kind", "two")) == (None, 2)


def test_a_cancelled_run_ends_at_once(runs: Runs) -> None:
    """Protects the cancel button: the process is gone, and the next run has a new one."""
    ticket = runs.start(replace(CurveTask(scenario_of())))
    until(lambda: ticket.state == "running")
    began = time.monotonic()
    ticket.cancel()
    until(lambda: over(ticket))
    assert ticket.state == "cancelled"
    assert time.monotonic() - began < 5.0
    assert ticket.result is None


@pytest.mark.parametrize(
    ("how", "words"),
    [("input", "workload.size: far too much"), ("memory", "more memory"), ("other", "ZeroDivisionError")],
)
def test_what_goes_wrong_is_one_message(runs: Runs, how: str, words: str) -> None:
    """Protects the page from traces: whatever a run raises becomes a sentence, and the worker goes on."""
    ticket = runs.start(Wrong(how))
    until(lambda: over(ticket))
    assert ticket.state == "refused"
    assert words in ticket.message
    assert "\n" not in ticket.message


def test_a_worker_that_dies_is_no_endless_wait(runs: Runs) -> None:
    """Protects the page from a process that is killed, as by the system when memory is short."""
    ticket = runs.start(Wrong("exit"))
    until(lambda: over(ticket))
    assert ticket.state == "refused"
    assert "without a result" in ticket.message


def test_the_first_ios_show_the_small_write_penalty() -> None:
    """Protects the view of single I/Os: a small write on RAID 5 is two reads and two writes of its own."""
    timeline = TimelineTask(scenario_of(read=0, disks=6, bitmap=False)).perform(Progress())
    assert len(timeline.ios) == 100
    assert sorted((each.op, each.role) for each in timeline.commands_of(0)) == [
        ("read", "old data"),
        ("read", "old parity"),
        ("write", "data"),
        ("write", "parity"),
    ]
    mirrored = TimelineTask(scenario_of(read=0, level="raid10", bitmap=False)).perform(Progress())
    assert [each.op for each in mirrored.commands_of(0)] == ["write", "write"]


def test_the_course_of_a_failure() -> None:
    """Protects the failure view: the pieces add up to the run, the failure is where it was asked for."""
    form = fitted(replace(FORM, spares=1, read=100, fail_at=50))[0]
    scenario = built(form, failing=True).scenario
    assert scenario is not None
    progress = Progress()
    found = FailureTask(scenario).perform(progress)
    load = scenario.spec.workload
    assert found.failed_s == pytest.approx(0.5 * load.duration, rel=0.01)  # type: ignore[union-attr]
    done = sum(part.iops * (part.end_s - part.begin_s) for part in found.course)
    assert done == pytest.approx(sum(found.prediction.iops.values()) * found.prediction.measured_s, rel=0.02)
    assert [rebuild.action for rebuild in found.prediction.rebuilds] == ["recover"]
    assert course([], 0.0, 1.0)[0].mean_s is None


def test_progress_is_told_part_by_part() -> None:
    """Protects the bar: it grows with each part, and never beyond the end."""
    progress = Progress()
    progress.parts = 2
    progress.within(lambda: 0.5)
    assert progress.share == 0.25
    progress.next_part()
    assert progress.share == 0.5
    progress.within(lambda: 7.0)
    assert progress.share == 1.0


def test_fio_s_own_results_are_put_next_to_the_model_s() -> None:
    """Protects the comparison with a measurement: the model's own report, taken for one of fio, agrees with it."""
    job = "[a]\nfilename=/dev/md0\nrw=randread\nbs=4k\niodepth=4\nioengine=libaio\ndirect=1\nruntime=1\ntime_based\n"
    alone = FioTask(job, scenario_of()).perform(Progress())
    assert alone.compared == ()
    both = FioTask(job, scenario_of(), json.dumps(alone.report)).perform(Progress())
    ratios = {each.figure: each.ratio for each in both.compared if each.ratio is not None}
    assert {"rate", "iops"} <= set(ratios)
    assert list(ratios.values()) == pytest.approx([1.0] * len(ratios), rel=0.01)
    with pytest.raises(InputError, match="environment"):
        FioTask(job.replace("bs=4k", "bs=${HOME}"), scenario_of()).perform(Progress())
