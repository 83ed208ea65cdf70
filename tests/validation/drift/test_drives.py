"""The table "drive by drive": which drive a cell is of, what kind of figure it is, and that no study is left out."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from raidsim.calibration.study.study import load_study, study_names
from raidsim.validation.drift.drives import DRIVES, DriveLine, drive_lines, drive_table, figure_kinds, load_drive_table
from raidsim.validation.prediction.comparison import Compared, StudyComparison

ON_DRIVES = [name for name in study_names() if load_study(name).report == "drive"]


@dataclass
class _Off:
    """Cells of a study, all predicted 10 % too high."""

    name: str

    def comparison(self) -> StudyComparison:
        study = load_study(self.name)
        cells = [
            Compared(cell, 1.1 * cell.measured, 1.0, cell.measured, 2.0 * cell.measured, "", "", None)
            for cell in study.all_cells
        ]
        return StudyComparison(study, None, tuple(cells))


def test_each_drive_of_a_study_is_a_row() -> None:
    """Protects a drive from being averaged away with others of the same report."""
    table = drive_table([_Off("shaojwa-2022").comparison(), _Off("wd-cdl-2023").comparison()])
    assert list(table.drives) == ["shaojwa-2022: hdd", "shaojwa-2022: nvme", "shaojwa-2022: ssd", "wd-cdl-2023"]
    assert table.drives["shaojwa-2022: hdd"].median_error_pct == {
        "rate": 9.5,
        "mean": 9.5,
        "p99": 9.5,
        "percentile": 9.5,
    }
    assert set(table.groups) == {"hard disks", "solid-state drives", "all"}
    assert table.groups["all"].n == sum(each.n for each in table.drives.values())
    assert table.studies == {"shaojwa-2022", "wd-cdl-2023"}


@pytest.mark.parametrize(("study", "kinds"), [("duzlov-2023", {"flush"}), ("wd-cdl-2023", {"rate", "p99"})])
def test_what_is_durable_counts_as_flush(study: str, kinds: set[str]) -> None:
    """A run that syncs each write is judged as flush, whatever its figure; without a sync nothing is."""
    compared = _Off(study).comparison()
    kind = figure_kinds(compared.study)
    assert {kind(each) for each in compared.cells} == kinds


def test_a_table_tells_what_moved() -> None:
    """A kind of figure that moved by more than 3 points, or is new, is told; smaller moves are not."""
    old = drive_table([_Off("wd-cdl-2023").comparison()])
    for rate, told in ((12.0, []), (20.0, ["wd-cdl-2023: rate: 9.5 % -> 20.0 %"])):
        line = DriveLine(n=12, median_error_pct={"rate": rate, "p99": 9.5}, inside_pct=100.0)
        assert old.differs(old.model_copy(update={"drives": {"wd-cdl-2023": line}})) == told


def test_the_kept_table_has_all_studies_of_drives() -> None:
    """Protects a study that is added from missing in the manual."""
    table = load_drive_table(DRIVES)
    assert table.studies == set(ON_DRIVES)
    assert len(drive_lines(table)) == 4 + len(table.drives) + len(table.groups)


@pytest.mark.parametrize("name", ON_DRIVES)
def test_few_figures_of_a_drive_calibrate(name: str) -> None:
    """Protects the aim: one to three figures of each drive are fitted to, and more are predicted."""
    study = load_study(name)
    machines = {study.runs[cell.run].machine for cell in study.all_cells}
    fitted, predicted = ([cell for cell in study.all_cells if cell.use == use] for use in ("calibrate", "predict"))
    assert len(fitted) <= 3 * len(machines)
    assert len(predicted) >= len(fitted)
