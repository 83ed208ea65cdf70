"""The evaluator's worker processes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from raidsim.calibration.simulation import asked as asking
from raidsim.calibration.simulation import evaluator as evaluate
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, load_study, study_names
from raidsim.model.files.description_errors import validate
from raidsim.model.kernels import kernel
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running import simulate as simulation
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.study import small_study as small

SHORT = Sample(read_bytes=4 << 20)

LONG_RUN = """
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.study.study import StudySpec
from raidsim.calibration.study.runs import RunBuilder
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.study.small_study import GUESS, small_document

if __name__ == "__main__":
    builder = RunBuilder(validate(StudySpec, small_document(GUESS)), {})
    with Evaluator(2) as evaluator:
        evaluator.run([builder.scenario(run) for run in GUESS], Sample(read_bytes=1 << 40))
"""


@pytest.mark.parametrize("name", study_names())
def test_runs_of_every_study_can_go_to_a_worker(name: str) -> None:
    """Protects `predict` with several processes: whatever a study's machines are made of arrives there as it was."""
    study = load_study(name)
    builder = RunBuilder(study, {})
    for run in study.wanted_runs:
        scenario = builder.scenario(run)
        assert pickle.loads(pickle.dumps(scenario)) == scenario


def test_what_was_forgotten_is_simulated_again() -> None:
    """Results are kept until they are let go of."""
    scenario = RunBuilder(validate(StudySpec, small.small_document(small.GUESS)), {}).scenario("one")
    with Evaluator(1) as evaluator:
        first = evaluator.run([scenario], SHORT)
        evaluator.forget()
        assert evaluator.run([scenario], SHORT) == first
        assert evaluator.simulated == 2


def test_only_what_a_run_goes_by_counts() -> None:
    """A read is simulated once whatever the sample says of writes; and again when its own part of it changes."""
    scenario = RunBuilder(validate(StudySpec, small.small_document(small.GUESS)), {}).scenario("one")
    with Evaluator(1) as evaluator:
        first = evaluator.run([scenario], SHORT)
        assert evaluator.run([scenario], Sample(read_bytes=4 << 20, write_bytes=1 << 20, cycles=9)) == first
        assert evaluator.simulated == 1
        assert evaluator.run([scenario], Sample(read_bytes=2 << 20)) != first
        assert evaluator.simulated == 2


def test_what_takes_longest_is_begun_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects cores from waiting: what had more events before comes before what had fewer."""
    builder = RunBuilder(validate(StudySpec, small.runs_document()), {})
    scenarios = [builder.scenario(run) for run in ("one", "load", "both")]
    begun: list[str] = []

    def simulate(scenario: ScenarioSpec, sample: Sample) -> Prediction:
        begun.append(scenario.name)
        return simulation.simulate(scenario, sample)

    monkeypatch.setattr(evaluate, "simulate", simulate)
    with Evaluator(1) as evaluator:
        predictions = evaluator.run(scenarios, SHORT)
        assert begun == [scenario.name for scenario in scenarios]
        evaluator.forget()
        begun.clear()
        assert evaluator.run(scenarios, SHORT) == predictions
    events = {scenario.name: found.events for scenario, found in zip(scenarios, predictions, strict=True)}
    assert len(set(events.values())) == 3
    assert begun == sorted(events, key=lambda name: -events[name]) != list(events)


def test_kernels_that_do_the_same_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kernels described alike are simulated once; another description is another kernel."""
    described = {"linux-2.6.8": kernel("linux-2.6.7")}
    monkeypatch.setattr(asking, "whole_kernel", lambda name: described.get(name) or kernel(name))
    monkeypatch.setattr(asking, "_kernel_text", asking._kernel_text.__wrapped__)  # tests before may have filled it
    scenario = RunBuilder(validate(StudySpec, small.small_document(small.GUESS)), {}).scenario("one")
    kernels = ("linux-2.6.7", "linux-2.6.8", "linux-2.4.26")
    with Evaluator(1) as evaluator:
        same, twin, other = evaluator.run([scenario.model_copy(update={"kernel": name}) for name in kernels], SHORT)
        assert evaluator.simulated == 2
    assert same == twin != other


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_workers_end_when_the_parent_is_killed(tmp_path: Path) -> None:
    """After kill -9 no worker simulates on, though it is in the middle of a run."""
    script = tmp_path / "long.py"
    script.write_text(LONG_RUN, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, str(script)], start_new_session=True)
    try:
        assert _until(lambda: len(_busy(parent.pid)) >= 2), "the workers did not start"
        workers = _busy(parent.pid)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        assert _until(lambda: not any(_runs(pid) for pid in workers)), "workers are still there"
    finally:
        if parent.poll() is None:
            os.killpg(parent.pid, signal.SIGKILL)
            parent.wait()


def _until(condition: object, seconds: float = 20.0) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def _stat(pid: str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _busy(parent: int) -> list[str]:
    """Workers of a process that leads a session: spawned by it, or forked by its server."""
    found = []
    for entry in Path("/proc").iterdir():
        stat = _stat(entry.name) if entry.name.isdigit() else []
        if not stat or stat[3] != str(parent):
            continue
        command = _command(entry.name)
        if "spawn_main" in command or ("forkserver" in command and stat[1] != str(parent)):
            found.append(entry.name)
    return found


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def _runs(pid: str) -> bool:
    stat = _stat(pid)
    return bool(stat) and stat[0] != "Z"
