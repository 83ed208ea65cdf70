"""Figures of a run that come from its drives and from fio's submissions, and figures that are 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raidsim.api.tables.predict import study_answer
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.simulation.responses import Responses
from raidsim.calibration.study.figures import figure_value, figures_in, figures_of
from raidsim.calibration.study.study import StudySpec
from raidsim.cli.support.terminal import show
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.validation.prediction.cell_classes import cell_classes
from raidsim.validation.prediction.comparison import StudyComparison, compare, summary

LOAD = {"kind": "load", "pattern": "random", "read_share": "100%", "depth": 4, "warm_up": "100ms", "duration": "500ms"}
MIRROR = {"level": "raid1", "members": ["disk0", "disk1"]}
IDLE_SECOND = {**MIRROR, "write_mostly": ["disk1"]}


def study_of(cells: list[dict[str, Any]], array: dict[str, Any] = IDLE_SECOND, **changes: Any) -> StudySpec:
    """A study of random reads on a mirror whose second member is read only if it must be."""
    document = {
        "id": "small",
        "title": "a mirror that reads one of its drives",
        "source": {"author": "somebody", "date": "2026", "where": "here", "notes": "made up"},
        "machine": {"model": "server", "drives": {"model": "WD5000AAKS", "count": 2}},
        "arrays": {"md0": array},
        "runs": {"reads": {"kernel": "linux-6.1", "workload": {**LOAD, "targets": ["md0"]}}},
        "cells": [{"id": str(number), "use": "predict", "run": "reads", **cell} for number, cell in enumerate(cells)],
        **changes,
    }
    return validate(StudySpec, document)


def compared(cells: list[dict[str, Any]], array: dict[str, Any] = IDLE_SECOND, **changes: Any) -> StudyComparison:
    """The comparison of such a study."""
    with Evaluator(1) as evaluator:
        return compare(study_of(cells, array, **changes), None, evaluator)


def test_drives_are_what_iostat_shows() -> None:
    """Protects cells of iostat: commands of all members are those of the array, Little's law holds in each, and from
    6.10 on %util is the share of the time with a command, but for whole ticks.
    """
    sets = ["disks=2", "drive=WD5000AAKS", "kernel=linux-6.12"]
    document = document_from(f"{{workload: {LOAD}}}".replace("'", ""), sets=sets)
    found = simulate(document.changed({"layout": "raid0"}).spec())
    values = figures_in(found)
    assert 2 * values["drive_iops"] == pytest.approx(found.iops["read"], rel=0.05)
    for each, usage in zip(found.drives, [usage for usage in found.usages if usage.kind == "disk"], strict=True):
        assert each.iops * each.mean_s == pytest.approx(usage.mean_queue)
        assert each.utilization == pytest.approx(usage.utilization, abs=0.05)
    low, mean, high = (values[f"{which}drive_utilization"] for which in ("least_", "", "most_"))
    assert 0.5 < low <= mean <= high <= 1


def test_an_idle_drive_is_the_least() -> None:
    """Protects ranges over members from being the mean twice: a mirror that is read from one drive."""
    values = figures_in(simulate(document_for(IDLE_SECOND)))
    assert values["least_drive_iops"] == values["least_drive_utilization"] == 0.0
    assert values["most_drive_iops"] == pytest.approx(2 * values["drive_iops"])
    assert figures_in(simulate(document_for(MIRROR)))["least_drive_iops"] > 0


def document_for(array: dict[str, Any]) -> Any:
    """The scenario of random reads on an array of two drives."""
    text = f"{{workload: {LOAD}, arrays: {{md0: {array}}}}}".replace("'", "")
    return document_from(text, sets=["disks=2", "drive=WD5000AAKS"]).spec()


@pytest.mark.parametrize(("engine", "apart"), [("libaio", True), ("psync", False)])
def test_submissions_are_of_engines_that_complete_later(engine: str, apart: bool) -> None:
    """Protects fio's slat: an engine that waits inside the call has none, and all latency is its completion."""
    job = f"[a]\\nfilename=/dev/disk0\\nrw=randread\\nioengine={engine}\\ndirect=1\\ntime_based\\nruntime=1"
    text = f'{{workload: {{kind: fio, at_most: 300ms, job: "{job}"}}, arrays: {{}}}}'
    found = simulate(document_from(text, sets=["disks=1", "drive=WD5000AAKS"]).spec())
    values = found.figures
    assert ("a.read_submission_seconds" in values) == apart
    submitted = values.get("a.read_submission_seconds", 0.0)
    assert values["a.read_completion_seconds"] + submitted == pytest.approx(values["a.read_mean_seconds"], rel=1e-3)
    assert values["a.read_longest_seconds"] >= values["a.read_p999_seconds"] * 0.99


def test_a_zero_ends_no_study() -> None:
    """Protects a study from its cells of 0: each is said to agree or to be missed, and the others are compared."""
    found = compared(
        [
            {"figure": "least_drive_utilization", "measured": 0, "unit": "%", "within": 0.5},
            {"figure": "most_drive_utilization", "measured": 0, "unit": "%", "within": 0.5},
            {"figure": "least_drive_utilization", "measured": 12, "unit": "%"},
            {"figure": "iops", "measured": 100, "unit": "1/s"},
        ]
    )
    assert [(each.cell.id, each.missed) for each in found.zeros] == [("2", True), ("0", False), ("1", True)]
    assert found.zeros[2].predicted == pytest.approx(100, abs=15)
    assert [each.cell.id for each in found.cells] == ["3"]
    assert summary([found])["zeros"] == {"n": 3, "missed": 2}
    assert [each["missed"] for each in found.document()["zeros"]] == [True, False, True]


def test_a_zero_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the reader of the tables from zeros that are left out silently."""
    found = compared([{"figure": "least_drive_iops", "measured": 3, "unit": "1/s"}])
    show(study_answer(found))
    told = capsys.readouterr().out
    assert "1 of 1 missed" in told
    assert "0 is predicted to be 0 1/s" in told


def test_a_ratio_over_zero_holds_no_upper_bound() -> None:
    """Protects claims from ending a study: a ratio over a 0 is infinite, and that of two zeros is in no bounds."""
    claim = {"gist": "", "where": ""}
    claims = [
        {**claim, "id": "over", "left": "reads:iops", "right": "reads:least_drive_iops", "ratio": [2, None]},
        {**claim, "id": "up to", "left": "reads:iops", "right": "reads:least_drive_iops", "ratio": [None, 2]},
        {
            **claim,
            "id": "none",
            "left": "reads:least_drive_iops",
            "right": "reads:least_drive_iops",
            "ratio": [0, None],
        },
    ]
    found = compared([], claims=claims)
    assert [each.holds for each in found.claims] == [True, False, False]
    assert [each.document()["value"] for each in found.claims] == [None, None, None]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"measured": 0}, "a measured 0 without within"),
        ({"measured": 0, "within": 0.5, "use": "calibrate"}, "calibrate of a measured 0"),
        ({"measured": 3, "within": 0.5}, "within beside a measured 3"),
        ({"measured": -1}, "greater than or equal to 0"),
    ],
)
def test_a_zero_says_how_far_it_goes(changes: dict[str, Any], told: str) -> None:
    """Protects a printed 0 from being compared with no tolerance, or fitted to."""
    with pytest.raises(InputError, match=told):
        study_of([{"figure": "drive_utilization", "unit": "%", **changes}])


def test_only_a_fitted_cell_must_not_be_zero() -> None:
    """Protects a fit from ending at a predicted cell of 0; a cell that it is fitted to refuses that machine."""
    cells = [{"figure": "least_drive_iops", "measured": 3, "unit": "1/s"}]
    study = study_of(cells)
    with Evaluator(1) as evaluator:
        (logs,) = Responses(study, evaluator, lambda done, total: None).at([np.zeros(0)], study.all_cells, Sample())
        assert not isinstance(logs, InputError)
        assert np.isfinite(logs).all()
        fitted = study_of([{**cells[0], "use": "calibrate"}])
        (refused,) = Responses(fitted, evaluator, lambda done, total: None).at(
            [np.zeros(0)], fitted.all_cells, Sample()
        )
    assert isinstance(refused, InputError)


def test_figures_of_drives_are_known_before_a_run() -> None:
    """Protects the check of a study: a run gives all figures that its workload is said to have."""
    study = study_of([])
    found = simulate(document_for(MIRROR))
    for figure in figures_of(study.runs["reads"].workload):
        if figure != "resync_rate":
            assert figure_value(found, "reads", figure) >= 0


def read_by_two(targets: list[str]) -> dict[str, float]:
    """Figures of a dd on each of two drives, the second of which is slower."""
    machine = "drives: {model: WD5000AAKS, count: 2, disk1: {overrides: {outer_media_rate: 60MB/s}}}"
    text = f"{{machine: {{{machine}}}, workload: {{kind: dd, direction: read, block_size: 64KiB, targets: {targets}}}}}"
    return simulate(document_from(text, sets=["kernel=linux-2.6.8"]).spec(), Sample(read_bytes=8 << 20)).figures


def test_each_dd_has_a_rate_of_its_own() -> None:
    """Protects cells of one target of several: each process is as fast as its own drive, in the targets' order."""
    both, turned = read_by_two(["disk0", "disk1"]), read_by_two(["disk1", "disk0"])
    assert both["dd2.rate"] == pytest.approx(60e6, rel=0.05)
    assert both["dd1.rate"] > 1.1 * both["dd2.rate"]
    assert turned["dd1.rate"] == pytest.approx(both["dd2.rate"], rel=0.02)
    assert both["rate"] == pytest.approx(2 * both["dd2.rate"], rel=0.02)  # the slower one ends the run
    assert "dd1.rate" not in read_by_two(["disk0"])


def test_two_programs_on_two_file_systems_share_what_they_share() -> None:
    """Two fio jobs at once on two file systems are slower on partitions of one drive than on drives of their own."""
    job = "".join(
        f"[{name}]\\nfilename=/{name}/file\\nrw=randread\\ndirect=1\\nsize=1g\\ntime_based\\nruntime=9\\n"
        for name in "ab"
    )
    workload = f'workload: {{kind: fio, at_most: 1s, job: "{job}"}}'

    def figures(volumes: str, on: tuple[str, str]) -> dict[str, float]:
        mounted = f"file_systems: {{/a: {{kind: ext4, on: {on[0]}}}, /b: {{kind: ext4, on: {on[1]}}}}}"
        text = f"{{volumes: {volumes}, {mounted}, {workload}}}"
        return simulate(document_from(text, sets=["disks=2", "drive=WD5000AAKS"]).spec()).figures

    apart = figures("{}", ("disk0", "disk1"))
    shared = figures("{disk0: 2}", ("disk0p1", "disk0p2"))
    for name in "ab":
        assert 0 < shared[f"{name}.read_iops"] < 0.75 * apart[f"{name}.read_iops"]


def test_a_drive_of_programs_has_a_class() -> None:
    """Protects the report on a study from a cell of iostat beside programs, which is no figure of any of them."""
    steps = [{"program": "dd", "size": "64MiB"}]
    run = {
        "kernel": "linux-6.1",
        "file_systems": {"/a": {"kind": "ext4", "on": "md0"}},
        "workload": {"kind": "programs", "steps": steps},
    }
    study = study_of([{"figure": "drive_utilization", "measured": 9, "unit": "%"}], runs={"reads": run})
    (found,) = cell_classes(study).values()
    assert (found.kind.name, found.level, found.kind.mix) == ("drives of the array", "RAID 1", {})
