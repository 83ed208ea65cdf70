"""A study begun from fio's reports: what ran and what was measured come over whole."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from raidsim.calibration.fio_study.skeleton import skeleton
from raidsim.calibration.study.figures import figure_value
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.output.json_document import json_document, json_text
from raidsim.scenarios.fio.run import FioOptions, run_fio
from raidsim.scenarios.running.simulate import simulate

JOBS = """\
[global]
direct=1
ioengine=libaio
filename=/dev/{target}
runtime=2
time_based
[one]
rw=randread
bs=4k
iodepth=1
[many]
stonewall
rw=randrw
rwmixread=70
bs=8k
iodepth=4
numjobs=2
group_reporting
[log]
stonewall
rw=write
bs=4k
size=64k
fsync=1
"""
MODEL = "WD5000AAKS"


def reported(folder: Path, name: str, machine: str, target: str) -> Path:
    """fio's report in JSON of the jobs on a machine."""
    spec = document_from(f"{machine}\nworkload: {{}}\n").spec()
    ran = run_fio(spec, sections(JOBS.format(target=target)), FioOptions())
    path = folder / f"{name}.json"
    path.write_text(json_text(json_document(ran, False)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Of one drive and of RAID 5 of three."""
    folder = tmp_path_factory.mktemp("reports")
    drive = reported(folder, "drive", f"machine: {{drives: {{model: {MODEL}, count: 1}}}}", "disk0")
    array = reported(
        folder,
        "array",
        f"machine: {{drives: {{model: {MODEL}, count: 3}}}}\n"
        "arrays: {md0: {level: raid5, chunk: 512KiB, bitmap: none}}",
        "md0",
    )
    return drive, array


def written(text: str, folder: Path) -> StudySpec:
    """The study of a text."""
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return load_study(str(path))


def test_the_machine_that_made_the_reports_is_predicted_exactly(reports: tuple[Path, Path], tmp_path: Path) -> None:
    """Protects every option and figure on its way: flags that fio's report leaves out, groups, clones, fsync."""
    drive, array = reports
    study = written(skeleton("own", [drive], [array], MODEL, 3, "raid5", "linux-6.1"), tmp_path)
    builder = RunBuilder(study, {})
    found = {run: simulate(builder.scenario(run)) for run in study.wanted_runs}
    assert {cell.use for cell in study.all_cells if cell.run == "drive/drive"} == {"calibrate"}
    assert {cell.use for cell in study.all_cells if cell.run == "array/array"} == {"predict"}
    assert len(study.all_cells) >= 16
    for cell in study.all_cells:
        assert figure_value(found[cell.run], cell.run, cell.figure) == pytest.approx(cell.value, rel=0.002), cell.id


def test_every_section_is_explained(reports: tuple[Path, Path]) -> None:
    """Protects a person who writes a study for the first time: each part says what belongs there."""
    text = skeleton("own", [reports[0]], [], MODEL, 1, "linear", "linux-6.1")
    lines = text.splitlines()
    for section in ("machine:", "arrays:", "runs:", "cells:", "parameters:"):
        assert lines[lines.index(section) - 1].startswith("# ")
    assert text.count("TODO") >= 4
    assert [each["name"] for each in yaml.safe_load(text)["parameters"]] == ["media rate", "seeks", "command order"]


@pytest.mark.parametrize(
    ("content", "told"),
    [("{}", "drive.json"), ("Version 1.03e ------Sequential", "drive.json"), ('{"fio version": "fio-3.33"}', "jobs")],
)
def test_what_is_no_report_of_fio_is_refused(tmp_path: Path, content: str, told: str) -> None:
    """Protects a user from a traceback."""
    path = tmp_path / "drive.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        skeleton("own", [path], [], MODEL, 1, "linear", "linux-6.1")


def test_without_a_report_nothing_is_begun() -> None:
    """Protects against a study of nothing."""
    with pytest.raises(InputError, match="--on-drive"):
        skeleton("own", [], [], MODEL, 1, "linear", "linux-6.1")
