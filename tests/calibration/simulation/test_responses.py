"""What cells come out as: impossible machines are answered, not fallen over, and steps are made the other way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raidsim.calibration.fit.fit import calibrate
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.simulation.responses import Responses
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.study import small_study as small

SHORT = Sample(read_bytes=4 << 20)
LOWEST = math.log(0.52)
"""ln of the factor at which the outer zone of the small study's drives is slower than the inner one."""


def _wide(rate: float = small.GUESS["one"]) -> StudySpec:
    """A study whose media rates may fall below what the drives' inner zones have."""
    document = small.small_document({**small.GUESS, "one": rate, "other": rate})
    document["parameters"][0]["sd"] = "50%"
    return validate(StudySpec, document)


def _responses(study: StudySpec, evaluator: Evaluator) -> Responses:
    return Responses(study, evaluator, lambda done, total: None)


def test_a_refusal_takes_the_place_of_its_results() -> None:
    """An impossible machine among others leaves the others' results as they are, and says why it is none."""
    study = _wide()
    with Evaluator(1) as evaluator:
        here, there = _responses(study, evaluator).at([np.zeros(2), np.array([-1.0, 0.0])], study.all_cells, SHORT)
        alone = _responses(study, evaluator).at([np.zeros(2)], study.all_cells, SHORT)[0]
    assert isinstance(there, InputError)
    assert "media rates" in str(there)
    assert not isinstance(here, InputError)
    assert not isinstance(alone, InputError)
    assert list(here) == list(alone)


def test_a_step_to_an_impossible_machine_is_made_the_other_way() -> None:
    """Slopes at the edge of what is possible have the sign and about the size that they have elsewhere."""
    study = _wide()
    cells = [cell for cell in study.all_cells if cell.id == "one"]
    edge, down = np.array([LOWEST + 0.05, 0.0]), np.array([-0.1, 0.0])
    with Evaluator(1) as evaluator:
        responses = _responses(study, evaluator)
        assert isinstance(responses.at([edge + down], cells, SHORT)[0], InputError)
        at_edge = responses.along(edge, [down], cells, SHORT)
        inside = responses.along(np.array([LOWEST + 0.3, 0.0]), [down], cells, SHORT)
    assert at_edge[0, 0] == pytest.approx(inside[0, 0], rel=0.3)
    assert at_edge[0, 0] < -0.03


def test_without_any_possible_machine_the_refusal_is_raised() -> None:
    """Nothing is made up where there is nothing: the message says what is impossible."""
    study = _wide()
    with Evaluator(1) as evaluator, pytest.raises(InputError, match="media rates"):
        _responses(study, evaluator).along(np.array([-1.0, 0.0]), [np.array([0.1, 0.0])], study.all_cells, SHORT)


@pytest.mark.slow
def test_a_fit_that_steps_to_an_impossible_machine_goes_on() -> None:
    """A drive measured slower than its inner zone: the fit ends near the edge, and its message names the refusal."""
    with Evaluator(1) as evaluator:
        profile = calibrate(_wide(15.0), evaluator)
    factor = profile.factors["media rate"]
    assert math.exp(LOWEST) <= factor < 0.9
    assert "impossible machines: 1, the first one: " in profile.message
    assert "media rates" in profile.message


def test_a_fit_of_possible_machines_says_nothing_of_it() -> None:
    """The counter-test: with a prior that ends above the inner zone the message is the optimizer's own."""
    with Evaluator(1) as evaluator:
        profile = calibrate(validate(StudySpec, small.small_document(small.GUESS)), evaluator)
    assert "impossible" not in profile.message


def test_runs_use_what_changes_their_scenario() -> None:
    """A price of reads is no parameter of a write, the bus is one of both; no run uses what it has not got."""
    document = small.runs_document()
    document["workloads"]["write"] = {**document["workloads"]["pair"], "direction": "write", "targets": ["sda"]}
    document["runs"]["write"] = {"kernel": "linux-2.4.26", "workload": "write"}
    reads = {"name": "reads", "paths": ["machine.cpu.prices.read_call"], "sd": "30%", "reason": "a test"}
    parity = {"name": "parity", "paths": ["machine.cpu.prices.xor_rate"], "sd": "30%", "reason": "a test"}
    document["parameters"] += [reads, parity]
    study = validate(StudySpec, document)
    with Evaluator(1) as evaluator:
        uses = _responses(study, evaluator).users(["one", "write"], 0.1, SHORT)
        assert evaluator.simulated == 2  # what they read is asked once
    assert list(uses["one"]) == [True, True, True, False]
    assert list(uses["write"]) == [True, True, False, False]


def test_evaluator_keeps_refusals() -> None:
    """A scenario that is refused when it is simulated is answered with the refusal, alone and among others."""
    builder = RunBuilder(validate(StudySpec, small.small_document(small.GUESS)), {})
    whole = builder.scenario("one")
    document = whole.model_dump()
    document["workload"] = {"kind": "load", "targets": ["sda"], "duration": 1e-6}
    short = type(whole).model_validate(document)
    with Evaluator(1) as evaluator:
        outcomes = evaluator.outcomes([whole, short], SHORT)
        assert not isinstance(outcomes[0], InputError)
        assert isinstance(outcomes[1], InputError)
        with pytest.raises(InputError, match=r"workload\.duration"):
            evaluator.run([whole, short], SHORT)
