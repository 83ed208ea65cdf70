"""Data sheets of solid-state drives beside the model: what was calibrated is met, what was predicted is near."""

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.drives.catalogue import drive, solid_state_names
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.validation.prediction import data_sheets
from raidsim.validation.prediction.data_sheets import SheetCell, SheetFigure, compare, median_error, simulated

PM9A3 = "Samsung-PM9A3-3840GB"


@pytest.fixture(autouse=True)
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """As few commands as show the figures."""
    monkeypatch.setattr(data_sheets, "_MEASURED", 3000)
    monkeypatch.setattr(data_sheets, "_BUFFERS", 2)


def figure(drive_name: str, load: str) -> SheetFigure:
    """One figure of a drive's sheet."""
    return next(each for each in data_sheets.data_sheets()[drive_name].figures if each.load == load)


def test_every_drive_has_a_sheet() -> None:
    """No drive without something to hold it against, and none held against a sheet that is not its own."""
    assert set(data_sheets.data_sheets()) == set(solid_state_names())
    with pytest.raises(InputError, match=r"no data sheet; allowed: .*Intel-S3700"):
        compare(["WD2500JB"])


def test_calibrated_figures_are_met() -> None:
    """What a number of the drive was taken from comes out of the model again."""
    for load in ("sequential write", "random read"):
        wanted = figure(PM9A3, load)
        assert wanted.use == "calibrate"
        assert simulated(PM9A3, wanted) == pytest.approx(wanted.value, rel=0.02)


def test_steady_random_writes_follow_from_power_and_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not fitted: programs that the power allows, shared with garbage collection. Without either it is far off."""
    wanted = figure(PM9A3, "random write")
    assert wanted.use == "predict"
    assert simulated(PM9A3, wanted) == pytest.approx(wanted.value, rel=0.15)
    spec = drive(PM9A3)
    assert isinstance(spec, SolidStateSpec)
    for changes in ({"programs_at_once": None}, {"flash": 2 * spec.capacity}):
        monkeypatch.setattr(data_sheets, "drive", lambda _, changed=changes: spec.with_values(**changed))
        assert simulated(PM9A3, wanted) > 1.2 * wanted.value


def test_errors_are_told_by_use() -> None:
    """The median is of logarithms, and of none there is none."""
    wanted = figure(PM9A3, "random write")
    cells = [SheetCell(PM9A3, wanted, factor * wanted.value) for factor in (0.5, 1.0, 2.0)]
    assert median_error(cells, "predict") == pytest.approx(0.693, abs=0.001)
    assert median_error(cells, "calibrate") is None
