"""Results that outlive their process."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from raidsim.calibration.simulation import evaluator as evaluate
from raidsim.calibration.simulation import kept_results
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.simulation.kept_results import Failed, KeptResults, Outcome, Timed
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import load_study
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate

SHORT = Sample(read_bytes=4 << 20, write_bytes=1 << 20, cycles=1, scale=16)
RUNS = (("gentoo-2004", "2.6.7/hde/read"), ("gentoo-2004", "2.6.7/tar/evms-root"), ("hedrick-2001", None))


@pytest.fixture(scope="module")
def scenarios() -> list[ScenarioSpec]:
    """dd on a device, a program on files, and a load."""
    studies = [(load_study(study), run) for study, run in RUNS]
    return [RunBuilder(study, {}).scenario(run or next(iter(study.runs))) for study, run in studies]


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[], KeptResults]:
    """The file as a process finds it."""
    return lambda: KeptResults(tmp_path, "some-work", pytest.fail)


def test_results_come_back_to_the_last_bit(kept: Callable[[], KeptResults], scenarios: list[ScenarioSpec]) -> None:
    """Protects fits that were interrupted: what every kind of run gave is the same again, and so is a refusal."""
    outcomes: list[Outcome] = [simulate(scenario, SHORT) for scenario in scenarios]
    outcomes.append(replace(simulate(scenarios[0], SHORT), precision_reached=math.inf))
    refusal = InputError("here", "nothing", "expected: something")
    first = kept()
    for number, outcome in enumerate([*outcomes, refusal]):
        first.add(str(number), Timed(outcome, 1.5, 2.0))
    assert first.write() == len(outcomes) + 1
    again = kept()
    assert again.found == len(outcomes) + 1
    assert [repr(again.get(str(number))) for number in range(len(outcomes))] == [repr(each) for each in outcomes]
    found = again.get(str(len(outcomes)))
    assert isinstance(found, InputError)
    assert str(found) == str(refusal)
    assert again.get("another") is None
    timed = again.timed("0")
    assert timed is not None
    assert timed.cpu_s == 1.5


def test_an_evaluator_goes_on(
    kept: Callable[[], KeptResults], scenarios: list[ScenarioSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept is not simulated again, and counts as it does without an interruption."""
    begun = kept()
    with Evaluator(1, begun) as evaluator:
        first = evaluator.run(scenarios, SHORT)
    assert evaluator.simulated == len(scenarios)
    begun.write()
    monkeypatch.setattr(evaluate, "simulate", lambda *_: pytest.fail("simulated again"))
    with Evaluator(1, kept()) as evaluator:
        assert evaluator.run(scenarios, SHORT) == first
        assert evaluator.simulated == len(scenarios)


def test_another_model_has_no_part_in_it(
    kept: Callable[[], KeptResults], scenarios: list[ScenarioSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its results are deleted, for they are not what would be simulated now."""
    begun = kept()
    begun.add("one", Timed(simulate(scenarios[0], SHORT), 1.5, 2.0))
    begun.write()
    monkeypatch.setattr(kept_results, "model_fingerprint", lambda: "another")
    assert kept().found == 0
    assert kept().get("one") is None
    assert not begun.path.exists()


def test_what_takes_seconds_writes_nothing(kept: Callable[[], KeptResults], scenarios: list[ScenarioSpec]) -> None:
    """And what takes longer is in the file even if the process is killed. Nothing is left when the work is done."""
    prediction = simulate(scenarios[0], SHORT)
    begun = kept()
    begun.add("one", Timed(prediction, 1.5, 2.0))
    assert not begun.path.exists()
    begun._written_at -= 60
    begun.add("two", Timed(prediction, 1.5, 2.0))
    assert kept().found == 2
    begun.discard()
    assert not begun.path.exists()


def test_what_nobody_goes_on_with_is_let_go_of(tmp_path: Path, scenarios: list[ScenarioSpec]) -> None:
    """Files of commands that were given up long ago; younger ones and those of others stay."""
    old, young, other = (tmp_path / name for name in ("old.results", "young.results", "old.txt"))
    for path in (old, young, other):
        path.touch()
    long_ago = time.time() - 40 * 86400
    for path in (old, other):
        os.utime(path, (long_ago, long_ago))
    kept = KeptResults(tmp_path, "new", pytest.fail)
    kept.add("one", Timed(simulate(scenarios[0], SHORT), 1.5, 2.0))
    kept.write()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.results", "old.txt", "young.results"]


def test_the_same_command_twice(kept: Callable[[], KeptResults], scenarios: list[ScenarioSpec]) -> None:
    """One that ends takes the file along; the other simulates what it does not find, and may keep more."""
    begun = kept()
    begun.add("one", Timed(simulate(scenarios[0], SHORT), 1.5, 2.0))
    begun.write()
    other = kept()
    begun.discard()
    assert other.get("one") is None
    assert not other.path.exists()
    other.add("two", Timed(simulate(scenarios[0], SHORT), 1.5, 2.0))
    assert other.write() == 1


def test_where_nothing_can_be_kept_the_work_goes_on(tmp_path: Path, scenarios: list[ScenarioSpec]) -> None:
    """A folder that cannot be made is told of once."""
    (tmp_path / "file").touch()
    told: list[str] = []
    kept = KeptResults(tmp_path / "file", "work", told.append)
    kept.add("one", Timed(simulate(scenarios[0], SHORT), 1.5, 2.0))
    assert kept.write() == kept.write() == 0
    assert len(told) == 1
    assert "an interruption would lose them" in told[0]


def test_something_else_in_its_place_is_refused(tmp_path: Path) -> None:
    """With one message that names the file."""
    (tmp_path / "work.results").write_text("something else " * 100)
    with pytest.raises(InputError, match=r"work\.results: no results of raidsim .*expected: delete it"):
        KeptResults(tmp_path, "work", pytest.fail)


def test_a_fault_of_the_model_is_not_kept(kept: Callable[[], KeptResults]) -> None:
    """Protects the next command from it: the run is simulated again."""
    begun = kept()
    begun.add("one", Timed(Failed("ZeroDivisionError: division by zero"), 0.0, 0.0))
    assert begun.write() == 0
    assert begun.get("one") is None
