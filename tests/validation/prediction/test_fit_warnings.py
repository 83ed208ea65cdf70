"""What is wrong with a fit stands above everything that is predicted with it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from raidsim.api.answer.html import page
from raidsim.api.tables.predict import study_answer
from raidsim.api.tables.validate import validation_answer
from raidsim.calibration.fit.profile import FittedParameter, Profile
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.cli.support.terminal import show
from raidsim.tests.calibration.study import small_study as small
from raidsim.validation.prediction.comparison import StudyComparison, compare
from raidsim.validation.report.report import report

_BOUND = "media rate stopped at a bound"
_STOPPED = "it stopped before it converged: too few"
_OFF = "calibrated cells are off by more than noise explains"


def predicted(factors: tuple[float, float], converged: bool) -> StudyComparison:
    """The small study, measured on the model, predicted with some profile."""
    study = small.small_study()
    parameters = tuple(
        FittedParameter(name=spec.name, factor=factor, standard_error=0.05, prior_sd=spec.sd)
        for spec, factor in zip(study.parameters, factors, strict=True)
    )
    profile = Profile(
        study=study.id,
        fingerprint="",
        data="",
        parameters=parameters,
        correlation=((1.0, 0.0), (0.0, 1.0)),
        discrepancy=0.02,
        sensitivities={},
        spreads=dict.fromkeys((cell.id for cell in study.all_cells), 0.05),
        simulations=1,
        converged=converged,
        message="too few",
    )
    return compare(study, profile, Evaluator(workers=0))


@pytest.fixture(scope="module")
def failed() -> StudyComparison:
    """A fit that stopped on its way, at a bound, far from what was measured."""
    return predicted((0.56, 1.0), converged=False)


@pytest.fixture(scope="module")
def sound() -> StudyComparison:
    """The true factors."""
    return predicted(tuple(small.TRUE_FACTORS.values()), converged=True)  # type: ignore[arg-type]


def shown(comparison: StudyComparison) -> dict[str, str]:
    """What `predict` and `validate` print of a study."""
    found = {}
    judged = report([comparison])
    for name in ("predict", "validate"):
        console = Console(file=io.StringIO(), width=100)
        if name == "predict":
            show(study_answer(comparison), console)
        else:
            show(validation_answer(judged), console)
        assert isinstance(console.file, io.StringIO)
        found[name] = " ".join(console.file.getvalue().split())
    return found


def test_a_fit_that_failed_says_so_first(failed: StudyComparison) -> None:
    """In the tables of predict and validate, before the first table, with what to do; in both JSON documents."""
    for name, text in shown(failed).items():
        above = text.partition("Fitted parameters" if name == "predict" else "Inside their 90 %")[0]
        for words in (_BOUND, _STOPPED, _OFF, "run raidsim calibrate", "check the machine's description"):
            assert words in above, name
    for document in (failed.document(), report([failed]).document()["studies"][0]):
        assert len(document["failures"]) == 2
        assert _OFF in document["misfits"][0]


def test_a_sound_fit_has_no_warning(sound: StudyComparison) -> None:
    """Nothing is said of a fit that converged, inside its bounds, near what was measured."""
    for text in shown(sound).values():
        assert not any(words in text for words in (_BOUND, _STOPPED, "off by more than noise"))
    assert sound.document()["failures"] == sound.document()["misfits"] == []


def test_the_page_has_the_warnings_too(failed: StudyComparison) -> None:
    """The HTML report opens with them."""
    pytest.importorskip("matplotlib")
    assert _BOUND in page(validation_answer(report([failed]), whole=True))
