"""Errors, intervals and summaries against arithmetic on paper."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from raidsim.calibration.fit.fit import UNCALIBRATED_SD
from raidsim.calibration.fit.problem import CELL_SD
from raidsim.calibration.fit.profile import Profile
from raidsim.calibration.simulation.asked import Asked
from raidsim.calibration.simulation.evaluator import Evaluator, Progress
from raidsim.calibration.simulation.kept_results import Outcome
from raidsim.calibration.study.cell import Cell
from raidsim.calibration.study.document import ClaimSpec, Use
from raidsim.calibration.study.figures import Unit
from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.calibration.uncertainty.discrepancy import DiscrepancyTable
from raidsim.model.files.description_errors import validate
from raidsim.tests.calibration.study import small_study as small
from raidsim.validation.prediction.comparison import Claimed, Compared, StudyComparison, compare, summarise, summary

NOTHING_LEARNT = DiscrepancyTable(date="", source="", studies={})


def compared(
    measured: float,
    predicted: float,
    use: Use = "predict",
    half_width: float = 0.1,
    unit: Unit = "MB/s",
    scale: float = 1 << 20,
) -> Compared:
    """A cell with an interval of `half_width` in ln."""
    cell = Cell(f"{use}-{measured}-{predicted}", use, "run", "rate", measured, unit, measured * scale)
    low, high = predicted * math.exp(-half_width), predicted * math.exp(half_width)
    return Compared(cell, predicted, 1.0, low, high, "disk hde (99 % busy)", "hde 99 %", None)


def test_twice_and_half_are_equally_wrong() -> None:
    """The error is |ln(predicted / measured)|: ln 2 = 69.3 % both ways."""
    assert compared(10.0, 20.0).error_pct == pytest.approx(69.3147, abs=1e-3)
    assert compared(10.0, 5.0).error_pct == pytest.approx(69.3147, abs=1e-3)
    assert compared(10.0, 20.0).log_ratio > 0 > compared(10.0, 5.0).log_ratio


def test_covered_means_inside_the_interval() -> None:
    """A measurement 5 % off is inside an interval of 10 %, one 20 % off is not."""
    assert compared(10.0, 10.5).covered
    assert not compared(10.0, 12.0).covered


def test_summary_of_known_errors() -> None:
    """Errors of 1, 2 and 30 % (in ln): median 2, 90th percentile 24.4 (between the last two), worst 30."""
    cases = [compared(10.0, 10.0 * math.exp(error)) for error in (0.01, -0.02, 0.30)]
    figures = summarise(cases)
    assert figures["n"] == 3
    assert figures["median_error_pct"] == pytest.approx(2.0)
    assert figures["p90_error_pct"] == pytest.approx(24.4)
    assert figures["worst_error_pct"] == pytest.approx(30.0)
    assert figures["coverage_pct"] == pytest.approx(200 / 3)
    assert summarise([])["median_error_pct"] is None


def test_calibrated_and_predicted_cells_are_never_mixed() -> None:
    """A perfect calibrate cell does not improve the summary of the predict cells."""
    study = load_study("gentoo-2004")
    cases = (compared(10.0, 10.0, "calibrate"), compared(10.0, 20.0))
    both = summary([StudyComparison(study, None, cases)])
    assert both["calibrate"]["worst_error_pct"] == 0.0
    assert both["predict"]["n"] == 1
    assert both["predict"]["median_error_pct"] == pytest.approx(69.3147, abs=1e-3)


def test_without_a_profile_the_studys_own_values_predict() -> None:
    """A study is predictable before any fit; the interval is then the model's own uncertainty only."""
    study = load_study("gentoo-2004")
    one = tuple(case for case in study.cases if case.id == "2.6.7/hda/read")
    some = study.model_copy(update={"cases": one, "cells": (), "claims": ()})
    with Evaluator(1) as evaluator:
        (cell,) = compare(some, None, evaluator, table=NOTHING_LEARNT).cells
    assert cell.high / cell.low == pytest.approx(math.exp(2 * 1.6448536 * UNCALIBRATED_SD))
    assert cell.predicted * cell.predicted_seconds == pytest.approx(5120, rel=1e-6)
    assert cell.unit == "MiB/s"


@pytest.fixture(scope="module")
def runs() -> StudyComparison:
    """The study of runs, predicted with the factors that it was measured with."""
    study = small.runs_study()
    parameters = [
        {"name": name, "factor": factor, "standard_error": 0.01, "prior_sd": 0.2}
        for name, factor in small.TRUE_FACTORS.items()
    ]
    profile = Profile.model_validate(
        {
            "study": study.id,
            "fingerprint": "",
            "parameters": parameters,
            "correlation": [[1.0, 0.0], [0.0, 1.0]],
            "discrepancy": 0.05,
            "data": "",
            "sensitivities": {cell.id: [3.0, 4.0] for cell in study.all_cells},
            "simulations": 0,
            "converged": True,
            "message": "",
        }
    )
    with Evaluator(1) as evaluator:
        return compare(study, profile, evaluator, table=NOTHING_LEARNT)


def test_each_run_gives_all_of_its_cells(runs: StudyComparison) -> None:
    """Rates, seconds and I/Os per second come back in the report's units, exactly as the model measured them."""
    for cell in runs.cells:
        assert cell.log_ratio == pytest.approx(0.0, abs=1e-9)
    units = {cell.cell.id: cell.unit for cell in runs.cells}
    assert units == {"one": "s", "both": "KB/s", "both/seconds": "s", "stripe": "MB/s", "load": "1/s"}


def test_an_interval_holds_parameters_and_residuals(runs: StudyComparison) -> None:
    """Sensitivities 3 and 4 with errors of 1 % are 5 %; noise adds 2 % to calibrated cells, which are met exactly, and
    what models are taken to be off by 20 % to predicted ones.
    """
    for cell in runs.cells:
        other = CELL_SD if cell.cell.use == "calibrate" else UNCALIBRATED_SD
        assert math.log(cell.high / cell.low) == pytest.approx(2 * 1.6448536 * math.hypot(0.05, other))
        assert cell.half_width is not None
        assert cell.document()["half_width"] == {
            "parameters": pytest.approx(1.6448536 * 0.05),
            "noise": pytest.approx(1.6448536 * CELL_SD),
            "model": pytest.approx(1.6448536 * math.sqrt(other**2 - CELL_SD**2)),
        }


def test_claims_are_held_or_broken_by_a_number(runs: StudyComparison) -> None:
    """The ratio is the prediction's; the report's own cells support a claim only where both sides have one."""
    beats, wrong = runs.claims
    rate = {c.cell.id: c.predicted * c.cell.scale for c in runs.cells}
    assert beats.value == pytest.approx(rate["stripe"] / ((1 << 30) / rate["one"]))
    assert beats.holds
    assert beats.measured is None
    assert beats.supported is None
    assert wrong.value == pytest.approx(rate["both/seconds"] / rate["one"])
    assert wrong.value > 0.9
    assert not wrong.holds
    assert wrong.measured == pytest.approx(wrong.value)
    assert wrong.supported is False
    assert wrong.suspected == "a claim that is made to be wrong"
    assert summary([runs, runs])["claims"] == {"n": 4, "held": 2}


def test_the_mean_of_several_ratios_is_claimed() -> None:
    """Lists on both sides are divided one by one, and an open side of the bounds bounds nothing."""
    document = small.runs_document()
    names = ["one:rate", "both:rate"]
    mean = {"id": "mean", "gist": "", "where": "", "left": names, "right": names[::-1], "ratio": [None, 1.5]}
    document["claims"] = [mean, {**mean, "id": "plain", "left": names[0], "right": names[1]}]
    document["cells"] = document["suspects"] = []
    with Evaluator(1) as evaluator:
        of_two, of_one = compare(validate(StudySpec, document), None, evaluator).claims
        assert evaluator.simulated == 2
    assert of_two.value == pytest.approx((of_one.value + 1 / of_one.value) / 2)
    assert of_two.claim.allows(1.5)
    assert not of_two.claim.allows(1.51)


def test_a_gain_is_claimed_against_another() -> None:
    """What gains "more here than there" is one ratio over the other; the run of the other is simulated, too."""
    document = small.runs_document()
    own = {"id": "own", "gist": "", "where": "", "left": "both:rate", "right": "one:rate", "ratio": [1.0, None]}
    other = {"left": "stripe:rate", "right": "one:rate"}
    document["claims"] = [own, {**own, "id": "other", **other}, {**own, "id": "more", "against": other}]
    document["cells"] = document["suspects"] = []
    with Evaluator(1) as evaluator:
        here, there, more = compare(validate(StudySpec, document), None, evaluator).claims
    assert here.value != there.value
    assert more.value == pytest.approx(here.value / there.value)
    assert more.holds is (here.value >= there.value)
    document["claims"] = document["claims"][2:]
    assert validate(StudySpec, document).wanted_runs == ["one", "both", "stripe"]


@pytest.mark.parametrize(
    ("value", "ratio", "shown"),
    [
        (1.004, (None, 1.0), "1.004"),
        (1.0052, (None, 1.0), "1.01"),
        (0.99996, (1.0, None), "0.99996"),
        (0.9999996, (1.0, None), "0.9999996"),
        (1.0, (1.0, None), "1.00"),
        (1.4769, (1.6, 2.5), "1.48"),
    ],
)
def test_a_ratio_is_shown_on_its_side_of_the_bounds(
    value: float, ratio: tuple[float | None, float | None], shown: str
) -> None:
    """Protects readers from "1.00, up to 1, broken": two decimals, and more only where rounding would hide it."""
    claim = ClaimSpec(id="x", gist="", where="", left=("a:rate",), right=("b:rate",), ratio=ratio)
    assert Claimed(claim, value, None, None).shown == shown


def test_suffixes_of_binary_units_are_ours() -> None:
    """A report's KB of 1024 bytes is shown as KiB, one of 1000 as it stands."""
    assert compared(10.0, 10.0, unit="KB/s", scale=1024).unit == "KiB/s"
    assert compared(10.0, 10.0, unit="KB/s", scale=1000).unit == "KB/s"
    assert compared(10.0, 10.0, unit="s", scale=1).unit == "s"


class Noting(Evaluator):
    """Writes down at which scale it is asked for what."""

    def __init__(self) -> None:
        super().__init__(1)
        self.scales: dict[str, int | None] = {}

    def answers(self, wanted: Sequence[Asked], progress: Progress | None = None) -> list[Outcome]:
        """See :class:`Evaluator`."""
        self.scales.update({asked.scenario.name: asked.sample.scale for asked in wanted})
        return super().answers(wanted, progress)


@pytest.mark.parametrize("whole", [True, False])
def test_a_run_is_compared_whole_if_the_study_says_so(whole: bool) -> None:
    """Protects claims about the ends of long runs: such a run is not simulated at a scale; counter-test, all others."""
    document = small.runs_document()
    document["runs"]["stripe"]["whole"] = whole
    steps: list[tuple[int, int]] = []
    with Noting() as evaluator:
        compare(validate(StudySpec, document), None, evaluator, lambda *step: steps.append(step), table=NOTHING_LEARNT)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps), "progress goes back"
    assert steps[-1] == (4, 4)
    assert evaluator.scales == {"one": None, "both": None, "load": None, "stripe": 1 if whole else None}
