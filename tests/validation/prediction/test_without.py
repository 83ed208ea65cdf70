"""What studies come to without a mechanism."""

from __future__ import annotations

import pytest

from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.study.study import StudySpec
from raidsim.tests.calibration.study import small_study as small
from raidsim.validation.prediction.comparison import StudyComparison, compare
from raidsim.validation.prediction.without import StudyWithout, Without, mechanisms_of, study_without


@pytest.fixture(scope="module")
def study() -> StudySpec:
    """Reads of two drives, and of a stripe over them, with dd; a random load."""
    return small.runs_study()


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    """Runs the simulations here, and knows what they gave."""
    return Evaluator(workers=0)


@pytest.fixture(scope="module")
def whole(study: StudySpec, evaluator: Evaluator) -> StudyComparison:
    """The study as it is."""
    return compare(study, None, evaluator)


def test_a_mechanism_that_matters_moves_cells(study: StudySpec, whole: StudyComparison, evaluator: Evaluator) -> None:
    """A drive that does not read ahead misses a revolution between two commands: reads are many times slower."""
    found = study_without(study, None, whole, ["hard_disk.look_ahead"], evaluator)
    moved = {cell.id: cell.change for cell in found.moved}
    assert moved["stripe"] < -0.5
    assert "load" not in moved
    assert found.predicted == 3
    assert all(cell.use == "predict" for cell in found.moved)


def test_what_no_run_has_is_not_simulated_again(study: StudySpec, whole: StudyComparison, evaluator: Evaluator) -> None:
    """Without a mechanism of parity arrays, a study of stripes comes to the same, and costs nothing."""
    before = evaluator.simulated
    found = study_without(study, None, whole, ["kernel.raid5.shared_plug"], evaluator)
    assert evaluator.simulated == before
    assert found == StudyWithout("runs", predicted=3)
    assert "kernel.raid5.shared_plug" in mechanisms_of(study, None)


def test_what_cannot_be_off_is_told(study: StudySpec, whole: StudyComparison, evaluator: Evaluator) -> None:
    """Segments need a size: the study is refused, with why, and nothing else is lost."""
    found = study_without(study, None, whole, ["hard_disk.segment_size"], evaluator)
    assert "hard_disk.segment_size: cannot be off on its own" in found.refused
    assert found.cells == ()


def test_the_whole_of_all_studies(study: StudySpec, whole: StudyComparison, evaluator: Evaluator) -> None:
    """Errors with and without are of the cells that change; claims that change sides are counted."""
    without = Without(("hard_disk.look_ahead",))
    without.studies.append(study_without(study, None, whole, without.names, evaluator))
    errors = without.errors_pct
    assert errors is not None
    assert errors[1] > errors[0]
    assert without.matters
    assert without.document()["moved"] == len(without.moved) > 0
    nothing = Without(("kernel.raid5.shared_plug",), [StudyWithout("runs", predicted=3)])
    assert not nothing.matters
    assert nothing.errors_pct is None
