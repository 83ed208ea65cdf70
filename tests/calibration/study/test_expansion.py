"""Studies in short: grids, machines of the catalogue, jobs of fio, paths with ``*``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from raidsim.calibration.study.figures import figure_value
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.model.core.errors import InputError
from raidsim.scenarios.running.simulate import simulate

JOB = """\
[load]
filename=/dev/data
direct=1
ioengine=libaio
rw=randread
bs=4k
iodepth=${iodepth}
numjobs=${numjobs}
group_reporting
runtime=1
time_based
"""
STUDY: dict[str, Any] = {
    "id": "small",
    "title": "a grid on four drives of the catalogue",
    "source": {"author": "nobody", "date": "2026-01-01", "where": "here", "notes": "made up"},
    "machine": {"model": "server", "drives": {"model": "WD5000AAKS", "count": 4}},
    "arrays": {
        "data": {"level": "raid5", "members": ["disk0", "disk1", "disk2"]},
        "lost": {
            "level": "raid5",
            "members": ["disk0", "disk1", "disk2"],
            "failed": ["disk2"],
            "rebuilding": ["disk2"],
        },
    },
    "grids": {
        "fio": {
            "kernel": "linux-6.1",
            "workload": {"kind": "fio", "job": JOB, "at_most": "200ms"},
            "rows": {"iodepth": [1, 8]},
            "columns": {"numjobs": [1, 2]},
            "cells": [
                {
                    "figure": "load.read_iops",
                    "unit": "1/s",
                    "calibrate": [[1, 1]],
                    "measured": [[75, 140], [300, None]],
                },
                {"figure": "load.read_p99_seconds", "unit": "ms", "measured": [[20, 25], [60, 90]]},
            ],
        },
        "load": {
            "kernel": "linux-6.1",
            "workload": {"kind": "load", "targets": ["data"], "warm_up": "100ms", "duration": "300ms"},
            "rows": {"depth": [1, 4]},
            "cells": [{"figure": "iops", "unit": "k/s", "measured": [0.075, 0.2]}],
        },
    },
    "runs": {"sync": {"kernel": "linux-6.1", "workload": {"kind": "idle", "targets": ["lost"], "duration": "1s"}}},
    "cells": [
        {"id": "sync", "use": "predict", "run": "sync", "figure": "resync_rate", "measured": 60, "unit": "MiB/s"}
    ],
    "parameters": [
        {"name": "seek", "paths": ["machine.drives.*.seek_average"], "sd": "20%", "reason": "made up"},
    ],
}


def written(tmp_path: Path, document: dict[str, Any]) -> StudySpec:
    """The study of a file with this content."""
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return load_study(str(file))


def test_a_grid_is_its_runs_and_cells(tmp_path: Path) -> None:
    """Protects the table of a report from a shift: every number is at the run of its row and column."""
    study = written(tmp_path, STUDY)
    assert list(study.runs) == ["sync", "fio/1x1", "fio/1x2", "fio/8x1", "fio/8x2", "load/1", "load/4"]
    cells = {cell.id: cell for cell in study.all_cells}
    assert cells["fio/8x1/load.read_iops"].measured == 300
    assert cells["fio/1x2/load.read_p99_seconds"].value == pytest.approx(0.025)
    assert cells["load/4/iops"].value == 200
    assert "fio/8x2/load.read_iops" not in cells
    assert [cell.id for cell in study.calibrate_cells] == ["fio/1x1/load.read_iops"]
    assert study.runs["load/4"].workload.depth == 4  # type: ignore[union-attr]
    assert cells["sync"].value == 60 * 2**20


def test_every_cell_can_be_simulated(tmp_path: Path) -> None:
    """Protects a study that is accepted from a run without its figure; rows and columns reach fio."""
    study = written(tmp_path, STUDY)
    builder = RunBuilder(study, {})
    found = {run: simulate(builder.scenario(run)) for run in study.wanted_runs}
    values = {cell.id: figure_value(found[cell.run], cell.run, cell.figure) for cell in study.all_cells}
    assert values["fio/8x1/load.read_iops"] > 2 * values["fio/1x1/load.read_iops"]
    assert values["fio/1x2/load.read_iops"] > 1.5 * values["fio/1x1/load.read_iops"]
    assert values["load/4/iops"] > 2 * values["load/1/iops"]
    assert values["sync"] > 10e6


@pytest.mark.parametrize(("text", "value"), [("${target}", "/dev/data"), ("/dev/${target}", "data")])
def test_a_device_in_a_variable_is_found(tmp_path: Path, text: str, value: str) -> None:
    """Protects jobs that name their device as ``${target}``: it is renamed with its array, as in the job's text."""
    grid = STUDY["grids"]["fio"]
    job = JOB.replace("/dev/data", text)
    workload = {**grid["workload"], "job": job, "variables": {"target": value}}
    study = written(tmp_path, {**STUDY, "grids": {**STUDY["grids"], "fio": {**grid, "workload": workload}}})
    named, plain = (RunBuilder(each, {}).scenario("fio/8x2") for each in (study, written(tmp_path, STUDY)))
    assert named.workload.targets == plain.workload.targets == ("md0",)  # type: ignore[union-attr]
    assert simulate(named).figures == simulate(plain).figures


def test_a_path_with_a_star_means_all(tmp_path: Path) -> None:
    """Protects a parameter of all drives from being one of the first."""
    (parameter,) = written(tmp_path, STUDY).parameters
    assert parameter.paths == tuple(f"machine.drives.disk{n}.seek_average" for n in range(4))


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("grids", "load", "cells", 0, "measured"), [1.0], "1 numbers for 2 runs"),
        (("grids", "load", "rows"), {"depth": 3}, "one field of the workload"),
        (("grids", "load", "rows"), {}, "one field of the workload"),
        (("grids", "load", "cells", 0, "calibrate"), [[7]], r"no run \[7\]"),
        (("grids", "load", "cells", 0, "calibrate"), [[{"a": 1}]], r"no run \[\{'a': 1\}\]"),
        (("grids", "load", "rows"), {"depth": list(range(10_001))}, "more runs; expected: up to 10,000 in all grids"),
        (("grids", "load", "columns"), {"jobs": list(range(10_000))}, "more runs; expected: up to 10,000 in all grids"),
        (("grids", "load", "cells", 0, "unit"), "furlongs", r"grids.load.cells\[0\].unit: found 'furlongs'; expected"),
        (("grids", "load", "cells", 0, "calibrate"), "all", r"cells\[0\].calibrate: found 'all'; expected: a list"),
        (("grids", "load", "cells", 0), 7, r"grids.load.cells\[0\]: found 7; expected"),
        (("grids", "fio", "workload"), "nothing", "unknown workload 'nothing'"),
        (("grids",), [], "grids by name"),
        (("machine", "model"), "mainframe", "mainframe"),
        (("runs", "sync", "workload", "targets"), ["data"], "does nothing by itself|nothing that rebuilds|no array"),
        (("cells", 0, "figure"), "resync_time", "resync_time"),
        (("parameters", 0, "paths"), ["machine.drives.*.cache"] * 25_001, "more paths; expected: up to 100,000 of all"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, place: tuple[Any, ...], value: Any, told: str) -> None:
    """Protects a user from a traceback, or from a study that quietly says something else."""
    document = yaml.safe_load(yaml.safe_dump(STUDY))
    here = document
    for key in place[:-1]:
        here = here[key]
    here[place[-1]] = value
    with pytest.raises(InputError, match=told):
        written(tmp_path, document)
