"""What a report prints of runs that its program adds up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.simulation.responses import Responses
from raidsim.calibration.study.reported import mean_of, repeated, reported, with_earlier
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.calibration.study import small_study as small

FIGURE = "tiobench.rand_read_rate"
THREADS = (1, 2, 4)


def _document(after: bool) -> dict[str, Any]:
    """tiobench with one thread and more on a drive; `after`: as the lines of one table."""
    document = small.runs_document()
    for name in ("runs", "workloads", "arrays"):
        document[name] = {}
    document |= {"claims": [], "suspects": []}
    for i, threads in enumerate(THREADS):
        step = {"program": "tiobench", "threads": threads, "size": "8MiB", "random_ios": 40}
        run: dict[str, Any] = {
            "kernel": "linux-2.4.17",
            "file_systems": {"/a": {"kind": "ext2", "on": "sda"}},
            "workload": {"kind": "programs", "steps": [step]},
        }
        document["runs"][str(threads)] = run | ({"after": [str(t) for t in THREADS[:i]]} if after else {})
    document["cells"] = [
        {"id": run, "use": "predict", "run": run, "figure": FIGURE, "measured": 1.0, "unit": "MB/s"}
        for run in document["runs"]
    ]
    return document


@pytest.fixture(scope="module")
def table() -> StudySpec:
    """The lines of one table."""
    return validate(StudySpec, _document(after=True))


def test_a_line_of_tiobench_is_of_all_runs_up_to_it(table: StudySpec) -> None:
    """Times and amounts are added up: four lines of 40 reads are 40 over the time of the first, 80 over that of two."""
    builder = RunBuilder(table, {})
    made = {run: simulate(builder.scenario(run), Sample()) for run in table.runs}
    own = [made[str(threads)].figures[FIGURE] for threads in THREADS]
    lines = [reported(table, str(threads), made).figures[FIGURE] for threads in THREADS]
    amount = 40 * 4096
    for i, line in enumerate(lines):
        assert line == pytest.approx((i + 1) * amount / sum(amount / rate for rate in own[: i + 1]))
    assert lines[2] != own[2]
    alone = validate(StudySpec, _document(after=False))
    assert [reported(alone, run, made).figures[FIGURE] for run in alone.runs] == own


def test_cells_are_what_the_report_prints(table: StudySpec) -> None:
    """A fit and a prediction compare the line with the line, and simulate the runs before it too."""
    assert table.wanted_runs == ["1", "2", "4"]
    assert with_earlier(table, ["4", "2"]) == ["1", "2", "4"]
    last = [cell for cell in table.all_cells if cell.run == "4"]
    with Evaluator(1) as evaluator:
        responses = Responses(table, evaluator, lambda done, total: None)
        logs = responses.at([np.zeros(2)], last, Sample())[0]
        assert evaluator.simulated == len(THREADS)
        alone = Responses(validate(StudySpec, _document(after=False)), evaluator, lambda done, total: None)
        own = alone.at([np.zeros(2)], last, Sample())[0]
    assert not isinstance(logs, InputError)
    assert not isinstance(own, InputError)
    assert logs[0] != own[0]


def test_a_line_depends_on_what_its_earlier_runs_depend_on(table: StudySpec) -> None:
    """Slopes of a line are looked for along every parameter that one of its runs has."""
    with Evaluator(1) as evaluator:
        uses = Responses(table, evaluator, lambda done, total: None).users(["4"], 0.05, Sample())
    assert list(uses) == ["4"]
    assert uses["4"].all()


def test_a_repeated_run_is_its_mean() -> None:
    """Protects means that a report gives: every repetition has its own random numbers, and the figures are averaged."""
    document = _document(after=False)
    document["runs"]["1"]["repetitions"] = 3
    study = validate(StudySpec, document)
    scenario = RunBuilder(study, {}).scenario("1")
    repetitions = repeated(study, "1", scenario)
    assert repetitions[0] == scenario
    assert len({each.seed for each in repetitions}) == 3
    first = simulate(scenario, Sample())
    others = [replace(first, figures={name: times * first.figures[name] for name in first.figures}) for times in (2, 6)]
    assert mean_of([first, *others]).figures[FIGURE] == pytest.approx(3 * first.figures[FIGURE])


def test_a_fit_sees_the_mean_too() -> None:
    """What is fitted is what is compared: a repeated run is simulated as often, and one that is not once."""
    figure = "tiobench.seq_write_rate"
    document = _document(after=False)
    document["runs"]["1"]["repetitions"] = 3
    document["runs"]["1"]["workload"]["steps"][0]["size"] = "64MiB"
    for cell in document["cells"]:
        cell["figure"] = figure
    study = validate(StudySpec, document)
    made = [simulate(each, Sample()) for each in repeated(study, "1", RunBuilder(study, {}).scenario("1"))]
    with Evaluator(1) as evaluator:
        responses = Responses(study, evaluator, lambda done, total: None)
        logs = responses.at([np.zeros(2)], [cell for cell in study.all_cells if cell.run != "4"], Sample())[0]
        assert evaluator.simulated == 3 + 1
    assert not isinstance(logs, InputError)
    assert np.exp(logs[0]) == pytest.approx(mean_of(made).figures[figure])
    assert np.exp(logs[0]) != pytest.approx(made[0].figures[figure])


def test_a_run_that_is_not_repeated_is_as_it_is(table: StudySpec) -> None:
    """The counter-test: one run, with the study's own random numbers, is what it gives."""
    scenario = RunBuilder(table, {}).scenario("1")
    assert repeated(table, "1", scenario) == [scenario]
    made = simulate(scenario, Sample())
    assert mean_of([made]) is made
