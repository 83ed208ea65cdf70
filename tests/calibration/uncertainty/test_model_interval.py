"""How far off a scenario's prediction may be, from what studies have shown."""

from __future__ import annotations

import math

import pytest

from raidsim.calibration.uncertainty.discrepancy import (
    CORRELATION,
    POINTS,
    CellError,
    ClassErrors,
    FigureClass,
    Kind,
    StudyErrors,
    load_table,
    study_errors,
)
from raidsim.calibration.uncertainty.model_interval import evidence_lines, figure_kind, interval_of, model_interval
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.tests.scenarios.small_machine import scenario

RAW: FigureClass = ("disk", "raw")


def off_by(error: float, cells: int = 40) -> StudyErrors:
    """A study whose raw figures are all off by so much (ln)."""
    return study_errors(CellError(RAW, error, 0.0) for _ in range(cells))


def test_the_factor_is_how_far_the_studies_were_off() -> None:
    """Studies off by a fifth give an interval of a fifth or more, the nearer to it the more of them agree."""
    few, many = (interval_of({f"a-{1990 + n}": off_by(math.log(1.2)) for n in range(count)}, RAW) for count in (3, 30))
    assert few is not None
    assert many is not None
    assert 1.2 < many.factor < few.factor < 2.5
    assert (few.cells, few.studies, few.years, few.classes) == (120, 3, (1990, 1992), (RAW,))
    low, high = many.around(60e6)
    assert high / 60e6 == pytest.approx(60e6 / low) == pytest.approx(many.factor)


def test_studies_that_were_right_give_a_narrow_interval() -> None:
    """The counter-test: without errors there is little width."""
    found = interval_of({"a-1999": off_by(0.0), "b-2004": off_by(0.0)}, RAW)
    assert found is not None
    assert found.factor < 1.15


def test_too_few_figures_say_nothing() -> None:
    """One report of one figure is no evidence; figures of other kinds stand in where there are enough of those."""
    assert interval_of({"a-1999": off_by(0.1, cells=1)}, RAW) is None
    found = interval_of({f"a{number}-2000": off_by(0.1) for number in range(3)}, ("disk", "random"))
    assert found is not None
    assert found.classes == (RAW,)
    assert found.cells == 120
    assert "no report has random access of hard disks" in found.evidence


def test_what_is_told_holds_in_the_table() -> None:
    """About nine in ten of the figures that are named are indeed within the factor: their own quantiles say so.

    The figures of one report are off together, so each report has the weight with which the factor was learnt.
    """
    studies = load_table().studies
    kinds: tuple[Kind, ...] = ("programs", "random", "cpu")
    for kind in kinds:
        found = model_interval(("disk", kind))
        assert found is not None
        assert found.classes == (("disk", kind),)
        reach = math.log(found.factor)
        there = [study["disk"][kind] for study in studies.values() if kind in study.get("disk", {})]
        assert found.cells == sum(errors.cells for errors in there)
        # a class that one study misses by far is drawn to the others: nearly as many lie within
        weights = [errors.cells / (1 + (errors.cells - 1) * CORRELATION) for errors in there]
        within = sum(weight * covered(errors, reach) for weight, errors in zip(weights, there, strict=True))
        assert within >= 0.87 * sum(weights)


def covered(errors: ClassErrors, reach: float) -> float:
    """The share of a class that is no further off than `reach` beyond parameters and noise."""
    return sum(each <= reach + 1e-9 for each in errors.excess) / POINTS


@pytest.mark.parametrize(("pattern", "kind"), [("random", "random"), ("sequential", "raw")])
def test_a_load_is_of_the_kind_of_its_pattern(pattern: str, kind: str) -> None:
    """Random access is off by more than sequential; each has its own interval."""
    load = validate(LoadSpec, {"kind": "load", "targets": ["sda"], "pattern": pattern})
    assert figure_kind(load) == kind


def test_a_dd_is_of_the_raw_kind() -> None:
    """What the studies of raw devices measured."""
    spec: ScenarioSpec = scenario()
    assert figure_kind(spec.workload) == "raw"


def test_evidence_is_told_once_for_designs_alike() -> None:
    """Protects a comparison's footer: designs alike share the line of each kind of figure."""
    lines = evidence_lines([scenario(), scenario()])
    assert lines == evidence_lines([scenario()])
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["rate", "mean latency", "latency percentile"]
    assert "not known" in evidence_lines([])[0]
