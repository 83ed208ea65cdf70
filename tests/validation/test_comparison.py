"""Errors, intervals and summaries against arithmetic on paper."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from raidsim.calibration.evaluate import Evaluator
from raidsim.calibration.study import CaseSpec, load_study
from raidsim.model.errors import InputError
from raidsim.validation.comparison import Compared, StudyComparison, compare, summarise, summary
from raidsim.validation.plot import check_plot_file, draw_comparison


def compared(measured: float, predicted: float, use: str = "predict", half_width: float = 0.1) -> Compared:
    """A case with an interval of `half_width` in ln."""
    case = CaseSpec.model_validate(
        {
            "id": f"{use}-{measured}-{predicted}",
            "use": use,
            "kernel": "linux-2.6.8",
            "direction": "read",
            "targets": ["hde"],
            "seconds": 1.0,
            "rate": measured,
        }
    )
    low, high = predicted * math.exp(-half_width), predicted * math.exp(half_width)
    return Compared(case, predicted, 1.0, low, high, "disk hde (99 % busy)", "hde 99 %", None)


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
    some = study.model_copy(update={"cases": tuple(c for c in study.cases if c.id == "2.6.7/hda/read")})
    with Evaluator(1) as evaluator:
        (case,) = compare(some, None, evaluator).cases
    assert case.high / case.low == pytest.approx(math.exp(2 * 1.6448536 * 0.02))
    assert case.predicted * case.predicted_seconds == pytest.approx(5120, rel=1e-6)


def test_picture_is_drawn_in_the_format_asked_for(tmp_path: Path) -> None:
    """A PNG and an SVG file appear, with their formats' first bytes."""
    study = load_study("gentoo-2004")
    cases = (compared(10.0, 10.0, "calibrate"), compared(60.0, 50.0))
    written = replace(cases[1], case=cases[1].case.model_copy(update={"direction": "write"}))
    comparison = StudyComparison(study, None, (*cases, written))
    draw_comparison([comparison], tmp_path / "a.png")
    draw_comparison([comparison], tmp_path / "a.svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


@pytest.mark.parametrize("name", ["a.txt", "missing/a.png"])
def test_a_picture_that_cannot_be_drawn_is_refused_at_once(name: str, tmp_path: Path) -> None:
    """A wrong suffix or folder is named before anything is simulated."""
    with pytest.raises(InputError, match="--plot"):
        check_plot_file(tmp_path / name)
