"""Studies of modern arrays: their marks, their numbers against each other, and a run of each."""

from __future__ import annotations

import re
from functools import cache

import pytest

from raidsim.calibration.study.figures import figure_value, figures_of
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, chosen_studies, load_study, study_names
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.fio_jobs import FioSpec
from raidsim.scenarios.description.programs import ProgramsSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import DdSpec
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate

CALIBRATED = {
    "asr5805-2009": set(),
    "broadcom-2019": {"balanced/1"},
    "capik-2022": {"drive/read", "drive/write"},
    "coolcold-2023": {"sync-write/drive"},
    "davidtg-2022": {"slice", "mirror"},
    "derrick-2022": {"case1/drive", "case3/drive"},
    "dragan-2024": {"none/read", "single/buffered", "single/direct"},
    "finlayson-2021": {"raw-9", "raw-12", "raw-12-5.14"},
    "flashcache-2012": set(),
    "galofri-2021": {"drive"},
    "gavriliuk-2025": {"first", "second", "single"},
    "hg2ecz-2023": set(),
    "hickey-2023": {"disk"},
    "ignalina-2023": {"drive"},
    "jinpuwang-2019": {"5.4"},
    "lowrey-2022": {"twenty/dd"},
    "menzel-2021": set(),
    "oberstet-2017": {"devices", "p3700", "s3700"},
    "p408i-2020": set(),
    "paszkiewicz-2020": set(),
    "paszkiewicz-2024": set(),
    "perc6-2008": set(),
    "radiasoft-2018": set(),
    "rosenstein-2019": {"drive/write"},
    "rostecki-2021": {"disk", "solid"},
    "sartor-2024": {"sata/drive"},
    "seastar-2020": {"md/read", "md/write", "md/read-in-order", "md/write-in-order"},
    "toms-2007": set(),
    "toms-2013": set(),
    "volaski-2006": {"alone"},
    "wanat-2021": set(),
    "warner-2021": set(),
    "xiaoni-2025": set(),
    "yufenyu-2020": set(),
    "yukuai-2022": {"kunpeng-bound/after", "xeon/after"},
    "yukuai-2026": set(),
}
"""Runs that calibrate cells are of, or what comes before a "/" in them: single drives, or one level."""
BY_FIGURE = {"gavriliuk-2025": "read_submission_seconds"}
"""Studies whose runs have both marks: this figure of a run calibrates, its other figures are predicted."""
MODERN = sorted(CALIBRATED)
CHEAP = {
    "asr5805-2009": "raid0/large",
    "broadcom-2019": "balanced/1",
    "capik-2022": "drive/read",
    "coolcold-2023": "resync/n2-16",
    "davidtg-2022": "mirror/1Mx128",
    "derrick-2022": "case1/raid1",
    "dragan-2024": "raid0-64k/direct/64k",
    "finlayson-2021": "raw-9",
    "flashcache-2012": "random",
    "galofri-2021": "nvme/before/random",
    "gavriliuk-2025": "first/block/6.14",
    "hg2ecz-2023": "sata",
    "hickey-2023": "shifted",
    "ignalina-2023": "io_uring",
    "jinpuwang-2019": "5.4",
    "lowrey-2022": "six/before",
    "oberstet-2017": "md/psyncx512",
    "p408i-2020": "read",
    "paszkiewicz-2020": "with",
    "paszkiewicz-2024": "after",
    "perc6-2008": "read",
    "radiasoft-2018": "h310/each",
    "rosenstein-2019": "drive/write",
    "rostecki-2021": "solid",
    "sartor-2024": "sata/raid10",
    "seastar-2020": "perc/read",
    "toms-2007": "write",
    "toms-2013": "order-read/4",
    "volaski-2006": "100",
    "wanat-2021": "nvme/17",
    "warner-2021": "device",
    "xiaoni-2025": "original/32/read",
    "yufenyu-2020": "stripe-4K/randwrite",
    "yukuai-2022": "kunpeng/before",
    "yukuai-2026": "before",
}
"""A run of each study that has runs, on an array where it has one."""
SHORT = Sample(read_bytes=8 << 20, write_bytes=8 << 20, cycles=1)


@cache
def study_of(name: str) -> StudySpec:
    """A study, read once."""
    return load_study(name)


def test_these_are_the_modern_studies() -> None:
    """Protects a study that is added from being in none of the tests below."""
    assert [study.id for study in chosen_studies((), True) if study.report == "modern"] == MODERN
    assert sorted(CHEAP) == [name for name in MODERN if study_of(name).runs]


def test_modern_studies_are_taken_when_asked() -> None:
    """Protects the time of `make predict`: without names the modern studies are left out, unless all are asked for."""
    usual, every = ([study.id for study in chosen_studies((), every)] for every in (False, True))
    assert every == study_names()
    assert [name for name in every if load_study(name).report not in ("modern", "drive")] == usual
    assert set(usual) < set(every)
    (named,) = chosen_studies(["galofri-2021"], False)
    assert named.report == "modern"
    with pytest.raises(InputError, match="--all: found the studies gentoo-2004 too; expected: one of the two"):
        chosen_studies(["gentoo-2004"], True)


@pytest.mark.parametrize("name", MODERN)
def test_single_drives_or_one_level_calibrate(name: str) -> None:
    """Protects predictions from being fitted to what they predict: marks as decided before anything was run."""
    study = study_of(name)
    marked = {use: {cell.run for cell in study.all_cells if cell.use == use} for use in ("calibrate", "predict")}
    both = marked["calibrate"] & marked["predict"]
    fitted = {cell.figure.rpartition(".")[2] for cell in study.calibrate_cells if cell.run in both}
    assert fitted - {"drive_mean_seconds"} == ({BY_FIGURE[name]} if name in BY_FIGURE else set())
    wanted = CALIBRATED[name]
    found = {next((each for each in wanted if f"{run}/".startswith(f"{each}/")), run) for run in marked["calibrate"]}
    assert found == wanted
    for cell in study.missing:
        assert cell.measured is not None, cell.id


@pytest.mark.parametrize("name", MODERN)
def test_more_numbers_than_parameters(name: str) -> None:
    """A fit needs a number for each parameter; a study without calibrate cells has no parameter."""
    study = study_of(name)
    assert len(study.parameters) <= len(study.calibrate_cells)


def _outstanding(workload: FioSpec) -> int:
    return sum(workload.outstanding(job) for job in workload.job_names)


@pytest.mark.parametrize(
    "name", ["broadcom-2019", "finlayson-2021", "ignalina-2023", "oberstet-2017", "paszkiewicz-2020"]
)
def test_latencies_and_rates_obey_littles_law(name: str) -> None:
    """Protects against misread digits: I/Os a second times their mean latency is the number outstanding."""
    study = study_of(name)
    values = {cell.id: cell.value for cell in study.all_cells}
    checked = 0
    for cell in study.all_cells:
        row, _, last = cell.id.rpartition("/")
        if last != "iops" or f"{row}/mean" not in values:
            continue
        workload = study.runs[cell.run].workload
        if isinstance(workload, FioSpec):
            outstanding = _outstanding(workload)
        else:
            assert not isinstance(workload, (ProgramsSpec, DdSpec))
            outstanding = len(workload.targets) * workload.depth  # type: ignore[union-attr]
        assert values[cell.id] * values[f"{row}/mean"] == pytest.approx(outstanding, rel=0.05), cell.id
        checked += 1
    assert checked


def _shortened(scenario: ScenarioSpec) -> ScenarioSpec:
    """The same run for a moment only."""
    workload = scenario.workload
    if isinstance(workload, FioSpec):
        job = re.sub(r"ramp_time=\S+", "ramp_time=100us", workload.job)
        variables = {name: "100us" if name == "ramp" else value for name, value in workload.variables.items()}
        at_most = 0.2 if scenario.busy_arrays else 4e-3 if "iodepth=256" in job else 1e-3
        workload = workload.model_copy(update={"at_most": at_most, "job": job, "variables": variables})
    elif not isinstance(workload, (ProgramsSpec, DdSpec)):
        workload = workload.model_copy(update={"warm_up": 0.01, "duration": 0.02})
    return scenario.model_copy(update={"workload": workload})


@pytest.mark.parametrize("name", sorted(CHEAP))
def test_a_run_gives_its_figures(name: str) -> None:
    """Protects studies from runs that are accepted and then fail, or lack the figure of a cell."""
    study, run = study_of(name), CHEAP[name]
    found = simulate(_shortened(RunBuilder(study, {}).scenario(run)), SHORT)
    cells = [cell for cell in study.all_cells if cell.run == run]
    assert cells
    for cell in cells:
        assert cell.figure in figures_of(study.runs[run].workload)
        # Nothing may have reached the drives within so short a run, nor a resync with a grown cache have completed.
        assert figure_value(found, run, cell.figure) > 0 or any(each in cell.figure for each in ("drive_", "resync_"))
