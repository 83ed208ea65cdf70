"""The page on locks says what the model gives: rows with a star are simulated again, and all ratios are worked out."""

from __future__ import annotations

import re
from functools import cache

import pytest

from raidsim.calibration.study.figures import figure_value
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.house import ROOT

PAGE = (ROOT / "docs" / "locks.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+)?(\*?) \| (.*?) \| (.*?) \| (.*?) \|(?: (.*?))? \|$", re.M)
CELL = re.compile(r"\(`([\w-]+)`: `([^`]+)`\)$")
SCALE = {
    "M/s": 1e6,
    "k/s": 1e3,
    "GB/s": 1e9,
    "MB/s": 1e6,
    "KB/s": 1024.0,
    "GiB/s": 1024**3,
    "ms": 1e-3,
    "us": 1e-6,
    "%": 0.01,
}


def rows() -> list[tuple[str, str, str, str, str, str]]:
    """Number, star, effect, measured, modeled and ratio."""
    table = PAGE[PAGE.index("## Twenty-five effects") : PAGE.index("## Limits")]
    return [
        match for match in ROW.findall(table) if match[2].strip() and match[2] != "effect, and the run of the study"
    ]


STARRED = [row for row in rows() if row[1]]


@cache
def study_of(name: str) -> StudySpec:
    """A study."""
    return load_study(name)


@cache
def ran(study: str, run: str) -> Prediction:
    """A run of it."""
    return simulate(RunBuilder(study_of(study), {}).scenario(run), Sample())


def value(text: str) -> float:
    """A number with its unit."""
    number, unit = text.split()
    return float(number) * SCALE[unit]


def test_every_effect_is_there() -> None:
    """Protects the page from leaving out what does not fit."""
    assert [int(row[0]) for row in rows() if row[0]] == list(range(1, 26))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[2][:40])
def test_each_row_has_its_ratio_or_says_what_is_missing(row: tuple[str, ...]) -> None:
    """Protects ratios from being of other numbers."""
    _, _, _, measured, modeled, ratio = row
    if modeled.startswith("`missing`"):
        assert len(modeled) > 30
        return
    assert float(ratio) == pytest.approx(value(modeled) / value(measured), abs=0.006)


@pytest.mark.parametrize("row", STARRED, ids=lambda row: row[2][:40])
def test_starred_rows_are_what_the_model_gives(row: tuple[str, ...]) -> None:
    """Protects the page from numbers of another model, and from a measured value that the study does not have."""
    found = CELL.search(row[2])
    assert found is not None
    study, name = study_of(found[1]), found[2]
    cell = next(cell for cell in study.all_cells if cell.id == name)
    assert cell.use == "predict"
    assert value(row[3]) == pytest.approx(cell.value, rel=0.01)
    assert cell.run is not None
    assert value(row[4]) == pytest.approx(figure_value(ran(found[1], cell.run), cell.run, cell.figure), rel=0.03)
