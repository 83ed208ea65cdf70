"""Studies of fio's own results: which job becomes which load and cell, what is left out, and whether a fit finds it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from raidsim.calibration.fio_study import study as fio_study
from raidsim.calibration.fio_study.flash import Seen, nearest, solid_state
from raidsim.calibration.fio_study.study import FioStudy, scenario_path
from raidsim.calibration.fit.choices import read_choices, with_choice
from raidsim.calibration.fit.fit import calibrate
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.study.study import StudySpec
from raidsim.model.core.errors import InputError
from raidsim.model.drives.catalogue import drive, hard_disk, hard_disk_names
from raidsim.model.files.description_errors import load_spec, validate
from raidsim.model.files.quantities import parse_frequency, parse_time
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.scenarios.description.fio_jobs import FioSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.machine_catalogue import cpu
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.calibration.fio_study.fio_reports import MACHINE, direction, job, measured_on_model, randread, report


def folder_of(tmp_path: Path, *texts: str, machine: str | None = MACHINE) -> Path:
    """A folder with these reports."""
    for number, text in enumerate(texts):
        (tmp_path / f"r{number}.json").write_text(text, encoding="utf-8")
    if machine is not None:
        (tmp_path / "machine.yaml").write_text(machine, encoding="utf-8")
    return tmp_path


def loads_of(study: StudySpec) -> dict[str, LoadSpec]:
    """The workloads of a study's runs."""
    return {name: run.workload for name, run in study.runs.items() if isinstance(run.workload, LoadSpec)}


def test_jobs_become_loads_and_cells(tmp_path: Path) -> None:
    """Protects the way from fio's numbers to cells: units, pattern, depth, span, and which of them are fitted."""
    mixed = job(
        "mix",
        {"rw": "randrw", "bs": "8k", "iodepth": 4, "numjobs": 2, "rwmixread": 70, "size": "1g", "offset": "1m"},
        read=direction(1400, 70.0, 8192, 0.03, 0.09),
        write=direction(600, 30.0, 8192, 0.02, 0.05),
    )
    large = job(
        "large", {"rw": "read", "bs": "1m", "filename": "/dev/sda"}, read=direction(500, 100.0, 1 << 20, 0.01, 0.012)
    )
    study = FioStudy(folder_of(tmp_path, report(randread(iodepth=16)), report(mixed), report(large))).study
    loads = loads_of(study)
    assert {name: (w.pattern, w.depth, w.jobs, w.block_size, w.read_share) for name, w in loads.items()} == {
        "r0": ("random", 16, 1, 4096, 1.0),
        "r1": ("random", 4, 2, 8192, 0.7),
        "r2": ("sequential", 1, 1, 1 << 20, 1.0),
    }
    assert [(w.start, w.span) for w in loads.values()] == [(0, 64 << 30), (1 << 20, 1 << 30), (0, None)]
    assert loads["r0"].duration == 30.0
    cells = {cell.id: (round(cell.value, 9), cell.use) for cell in study.all_cells}
    assert cells == {
        "r0 iops": (100.0, "calibrate"),
        "r0 read_mean_seconds": (0.01, "calibrate"),
        "r0 read_p99_seconds": (0.02, "calibrate"),
        "r1 iops": (100.0, "calibrate"),
        "r1 read_mean_seconds": (0.03, "calibrate"),
        "r1 read_p99_seconds": (0.09, "calibrate"),
        "r1 write_mean_seconds": (0.02, "calibrate"),
        "r1 write_p99_seconds": (0.05, "calibrate"),
        "r2 rate": (104.858e6, "calibrate"),
        "r2 read_mean_seconds": (0.01, "calibrate"),
        "r2 read_p99_seconds": (0.012, "predict"),  # of 500 I/Os
    }
    assert [parameter.name for parameter in study.parameters] == [
        "media rate",
        "seeks",
        "short seeks",
        "cached writes",
        "command order",
        "command overhead",
        "interface rate",
        "CPU price of a command",
    ]


def test_prices_are_as_uncertain_as_cores_of_one_clock_differ(tmp_path: Path) -> None:
    """Protects the prior of CPU prices, which are assumed by the clock: at the same clock the catalogue's cores of
    today differ by as much.
    """
    study = FioStudy(folder_of(tmp_path, report(randread(iodepth=16)))).study
    (prices,) = [each for each in study.parameters if each.name == "CPU price of a command"]
    cores = [cpu(name, "") for name in ("server-core", "nas-core")]

    def cycles(core: dict[str, Any], path: str) -> float:
        return parse_time(core["prices"][path.rpartition(".")[2]]) * parse_frequency(core["clock"])

    apart = [math.log(cycles(cores[1], path) / cycles(cores[0], path)) for path in prices.paths]
    assert sum(apart) / len(apart) == pytest.approx(prices.sd, rel=0.1)


def test_the_order_of_commands_is_fitted_where_jobs_tell_it(tmp_path: Path) -> None:
    """One or two reads at a time leave a drive no choice; a parameter that nothing tells would only wander."""
    for depth, told in ((2, False), (16, True)):
        folder = folder_of(tmp_path, report(randread(iodepth=depth)))
        study = FioStudy(folder, drive="Barracuda-7200.14-1TB").study
        orders = [parameter.paths for parameter in study.parameters if parameter.name == "command order"]
        assert orders == ([("machine.drives.sda.queue_effort",)] if told else [])


def test_of_a_drive_with_a_margin_that_is_fitted(tmp_path: Path) -> None:
    """Firmware that weighs all commands has nothing to weigh more; what bounds its gain is how far it trusts a seek."""
    study = FioStudy(folder_of(tmp_path, report(randread(iodepth=16))), drive="Exos-X16-16TB").study
    fitted = [path for parameter in study.parameters for path in parameter.paths]
    assert "machine.drives.sda.queue_margin" in fitted
    assert "machine.drives.sda.queue_effort" not in fitted


def test_the_machine_is_the_measured_one(tmp_path: Path) -> None:
    """Protects the base: CPU, memory, size and queue as measured; the drive nearest in media rate, or the one named."""
    large = job("large", {"rw": "read", "bs": "1m"}, read=direction(500, 80.0, 1 << 20, 0.0125, 0.02))
    folder = folder_of(tmp_path, report(large))
    machine = FioStudy(folder).study.machine
    spec = machine.drives["sda"].hard_disk()
    assert (machine.cpu.clock, machine.cpu.cores, machine.memory) == (2e9, 2, 1 << 30)
    assert (spec.capacity, spec.queue_depth, spec.rotation) == (500107862016, 32, 7200)
    assert abs(spec.outer_media_rate / (80 << 20) - 1) < 0.2
    named = FioStudy(folder, drive="wd5000aaks").study.machine.drives["sda"]
    assert named.spec().capacity == drive("WD5000AAKS").capacity
    with pytest.raises(InputError, match="none such"):
        FioStudy(folder, drive="none such")


def test_without_a_description_of_the_machine(tmp_path: Path) -> None:
    """Protects reports of any origin: a drive that holds what they use, on an assumed computer."""
    folder = folder_of(tmp_path, report(randread(size="15t", numjobs=10)), machine=None)
    own = FioStudy(folder)
    machine = own.study.machine
    assert machine.drives["sda"].spec().capacity > 15 << 40
    assert own.study.id == folder.name
    assert machine.cpu.cores == 10
    assert any("assumed: 10 cores like a server core" in note for note in own.notes)


def test_a_disk_of_no_known_rate_or_size_is_of_middling_size(tmp_path: Path) -> None:
    """Random reads of a small part tell neither, and the largest drive of the catalogue is the least likely one."""
    machine = FioStudy(folder_of(tmp_path, report(randread(size="1g")), machine=None)).study.machine
    capacities = sorted(spec.capacity for name in hard_disk_names() if (spec := hard_disk(name)).rotation == 7200)
    assert capacities[0] < machine.drives["sda"].spec().capacity < capacities[-1]


@pytest.mark.parametrize(("device", "interface"), [("nvme0n1", "PCIe"), ("sda", "S"), ("vda", "")])
def test_the_interface_is_known_by_the_devices_name(device: str, interface: str) -> None:
    """Among drives that were seen to do the same, one with that interface is taken; of a virtual disk any."""
    for rate in (300e6, 500e6):
        told = nearest(Seen(rate, 50e3, 120e-6), device)
        assert solid_state(told).interface.startswith(interface)
        assert solid_state(nearest(Seen(5e9, 500e3, 80e-6), device)).interface.startswith("PCIe")


def test_the_state_of_a_drive_can_be_chosen(tmp_path: Path) -> None:
    """What fits best is in the study and in the machine that is kept; a state that does not exist is refused."""
    fast = job("read", {"rw": "read", "bs": "1m"}, read=direction(2000, 3000.0, 1 << 20, 0.0003, 0.0004))
    own = FioStudy(folder_of(tmp_path, report(fast), machine=None))
    assert any("--choose state=sequential,steady,fresh" in note for note in own.notes)
    own.choose(with_choice(own.study, {"state": "steady"}))
    (instance,) = own.study.machine.drives.values()
    assert instance.state == "steady"
    (kept,) = own.scenario({each.name: 1.0 for each in own.study.parameters})["machine"]["drives"].values()
    assert kept["state"] == "steady"
    assert read_choices(["state=fresh,steady"]) == {"state": ["fresh", "steady"]}
    with pytest.raises(InputError, match="unknown state 'worn'; expected: fresh, sequential, steady"):
        with_choice(own.study, {"state": "worn"})


@pytest.mark.parametrize(
    ("options", "needs"),
    [
        ({"direct": "0"}, "direct=1: without it memory answers"),
        ({"rw": "randtrim"}, "another pattern than rw=randtrim"),
        ({"ioengine": "mmap"}, "past memory"),
        ({"numjobs": "many"}, "a job that raidsim fio runs: r1.json, numjobs: found 'many'"),
        ({"rw": "randwrite", "fdatasync": "often"}, "fdatasync: found 'often'"),
        ({"zonemode": "zbd"}, "a job that raidsim fio runs"),
    ],
)
def test_jobs_that_cannot_be_simulated_are_missing(tmp_path: Path, options: dict[str, str], needs: str) -> None:
    """Protects the fit from jobs that the model cannot run, and the reader from their silent absence."""
    study = FioStudy(folder_of(tmp_path, report(randread()), report(randread("other", **options)))).study
    assert list(study.runs) == ["r0"]
    (missing,) = study.missing
    assert needs in missing.needs
    assert missing.id.startswith("r1 ")


def test_counts_of_queue_and_jobs(tmp_path: Path) -> None:
    """Protects depth and number of jobs: synchronous engines have one I/O, and split reports of numjobs are added."""
    sync = randread("sync", ioengine="psync", iodepth=16, numjobs=4)
    split = [randread("split", numjobs=2, iodepth=2) for _ in range(2)]
    study = FioStudy(folder_of(tmp_path, report(sync), report(*split))).study
    assert [(load.depth, load.jobs) for load in loads_of(study).values()] == [(1, 4), (2, 2)]
    cells = {cell.id: round(cell.value, 9) for cell in study.all_cells}
    assert (cells["r1 iops"], cells["r1 read_mean_seconds"]) == (200.0, 0.01)
    assert "r1 read_p99_seconds" not in cells


@pytest.mark.parametrize(
    "options",
    [
        {"bssplit": "4k/50:8k/50"},
        {"rate_iops": "100"},
        {"random_distribution": "zipf:1.1"},
        {"rw": "read", "numjobs": "2"},
        {"size": "10%"},
        {"bs": "4k,8k"},
        {"rw": "randwrite", "fsync": "1", "fdatasync": "1"},
        {"thinktime": "1ms", "ramp_time": "10s", "runtime": "60s"},
    ],
)
def test_jobs_unlike_any_load_are_run_as_fio_ran_them(tmp_path: Path, options: dict[str, str]) -> None:
    """Protects what a job asks for: all of its options but where it ran, and how long."""
    study = FioStudy(folder_of(tmp_path, report(randread()), report(randread("other", **options)))).study
    assert not study.missing
    workload = study.runs["r1"].workload
    assert isinstance(workload, FioSpec)
    (section,) = workload.sections()
    said = {name: option.value for name, option in section.options.items()}
    asked = {name: value for name, value in options.items() if not name.endswith("time") or name == "thinktime"}
    assert asked.items() <= said.items()
    assert (said["filename"], said["ramp_time"], said["runtime"]) == ("/dev/sda", "3000000us", "30000000us")
    figures = {cell.figure for cell in study.all_cells if cell.run == "r1"}
    speed = "read_rate" if options.get("rw") == "read" else "read_iops"
    assert figures == {f"job1.{speed}", "job1.read_mean_seconds", "job1.read_p99_seconds"}


def test_jobs_at_the_same_time_are_one_run(tmp_path: Path) -> None:
    """Protects jobs that disturbed each other; after a stonewall they are groups of their own."""
    writer = job(
        "b", {"rw": "write", "bs": "64k", "filename": "/dev/sda"}, write=direction(2000, 50.0, 1 << 16, 0.01, 0.02)
    )
    together = report(randread("a"), writer)
    apart = report(randread("a"), {**randread("b"), "groupid": 1})
    study = FioStudy(folder_of(tmp_path, together, apart)).study
    assert list(study.runs) == ["r0/a", "r1/a", "r1/b"]
    workload = study.runs["r0/a"].workload
    assert isinstance(workload, FioSpec)
    assert [section.options["rw"].value for section in workload.sections()] == ["randread", "write"]
    assert {cell.id: cell.figure for cell in study.all_cells if cell.run == "r0/a"}.items() >= {
        "r0/a read_iops": "job1.read_iops",
        "r0/b write_rate": "job2.write_rate",
    }.items()
    assert set(loads_of(study)) == {"r1/a", "r1/b"}


def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate each job for a fraction of the time."""
    monkeypatch.setattr(fio_study, "_IOS", 500)
    monkeypatch.setattr(fio_study, "_SHORTEST_S", 0.02)
    monkeypatch.setattr(fio_study, "_LEAST_WARM_UP_S", 0.02)


def fit(own: FioStudy, folder: Path) -> ScenarioSpec:
    """The fitted machine, from the file that is written."""
    with Evaluator(1) as evaluator:
        factors = calibrate(own.study, evaluator).factors
    path = scenario_path(folder / "disk.yaml")
    own.save_scenario(path, factors)
    return load_spec(ScenarioSpec, path)


TRUTH = """\
name: truth
kernel: linux-6.1
machine:
  name: truth
  memory: 1GiB
  cpu:
    name: a core
    clock: 2GHz
    cores: 2
    prices: {write_call: 1us, read_call: 1us, page: 1us, bio: 1us, command: 5us, switch: 2us, clone: 1us, stripe: 1us,
             copy_rate: 4GB/s, xor_rate: 5GB/s, source: made up}
  links: {}
  channels: {port: {kind: sata, rate: 600MB/s, source: made up}}
  drives: {sda: {model: IronWolf-Pro-20TB, channel: port}}
workload: {kind: load, targets: [sda], span: 64GiB, warm_up: 0.03s, duration: 12s}
"""
LOADS: dict[str, dict[str, Any]] = {
    "read-1m": {"pattern": "sequential", "block_size": 1 << 20, "depth": 1, "duration": 0.5},
    "read-4k": {"pattern": "sequential", "block_size": 4096, "depth": 1, "duration": 0.04},
    "read-4k-qd8": {"pattern": "sequential", "block_size": 4096, "depth": 8, "duration": 0.04},
    "randread-4k-qd1": {"pattern": "random", "block_size": 4096, "depth": 1},
}


def test_a_fit_finds_the_drive_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the whole way: what is measured on a drive of other rates and overheads gives these, within 10 %."""
    shorter(monkeypatch)
    path = tmp_path / "truth.yaml"
    path.write_text(TRUTH, encoding="utf-8")
    scenario = load_spec(ScenarioSpec, path)
    instance = scenario.machine.drives["sda"]
    spec = instance.hard_disk()
    true = {
        "outer_media_rate": 0.87 * spec.outer_media_rate,
        "inner_media_rate": 0.87 * spec.inner_media_rate,
        "read_overhead": 2 * spec.read_overhead,
        "write_overhead": 2 * spec.write_overhead,
        "hit_overhead": 2 * spec.hit_overhead,
    }
    changed = instance.model_copy(update={"overrides": true})
    machine = scenario.machine.model_copy(update={"drives": {"sda": changed}})
    measured_on_model(tmp_path / "fio", scenario.model_copy(update={"machine": machine}), LOADS)
    found = fit(FioStudy(tmp_path / "fio", machine=path), tmp_path).machine.drives["sda"].hard_disk()
    assert found.outer_media_rate == pytest.approx(true["outer_media_rate"], rel=0.1)
    assert found.hit_overhead == pytest.approx(true["hit_overhead"], rel=0.1)


FLASH_LOADS: dict[str, dict[str, Any]] = {
    "read-1m": {"pattern": "sequential", "block_size": 1 << 20, "depth": 1, "duration": 0.05},
    "randread-4k-qd1": {"pattern": "random", "block_size": 4096, "depth": 1, "duration": 0.05},
    "randread-4k-qd32": {"pattern": "random", "block_size": 4096, "depth": 32, "duration": 0.02},
    "randread-128k-qd4": {"pattern": "random", "block_size": 1 << 17, "depth": 4, "duration": 0.05},
}


def measured_flash(
    folder: Path, model: str = "Samsung-PM9A3-3840GB", loads: dict[str, dict[str, Any]] | None = None, **changes: Any
) -> ScenarioSpec:
    """What fio would have said of a drive with these fields different; its machine with another load."""
    path = folder / "truth.yaml"
    text = TRUTH.replace("model: IronWolf-Pro-20TB", f"model: {model}, state: sequential")
    text = text.replace("kind: sata, rate: 600MB/s", "kind: pcie, rate: 7.1GB/s").replace("0.03s", "0.005s")
    text = text.replace("span: 64GiB", "span: 64GiB, engine: libaio")
    path.write_text(text, encoding="utf-8")
    scenario = load_spec(ScenarioSpec, path)
    instance = scenario.machine.drives["sda"].model_copy(update={"overrides": changes})
    machine = scenario.machine.model_copy(update={"drives": {"sda": instance}})
    scenario = scenario.model_copy(update={"machine": machine})
    measured_on_model(folder / "fio", scenario, FLASH_LOADS if loads is None else loads)
    assert isinstance(scenario.workload, LoadSpec)
    other = {"pattern": "random", "block_size": 16384, "depth": 4, "duration": 0.05}
    return scenario.model_copy(update={"workload": scenario.workload.model_copy(update=other)})


def test_a_solid_state_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the way from a measured drive of flash to what was not measured of it: 16 KiB at depth 4, within 10 %.

    The disk says that it turns. The drive begun with, the catalogue's nearest, would be off by more.
    """
    monkeypatch.setattr(fio_study, "_FLASH_IOS", 400)
    truth = measured_flash(tmp_path, read_time=90e-6, read_overhead=20e-6, command_rate=150e3)
    study = FioStudy(tmp_path / "fio")
    spec = study.study.machine.drives["sda"].spec()
    assert not study.base.turns
    assert not spec.rotational
    assert spec.capacity == 500107862016 // 4096 * 4096
    assert not study.study.missing
    assert {cell.use for cell in study.study.all_cells if "p99" in cell.figure} == {"predict"}
    assert not {"media rate", "seeks", "flash program"} & {parameter.name for parameter in study.study.parameters}
    load = truth.workload
    true = simulate(truth).figures["iops"]
    begun = simulate(validate(ScenarioSpec, study.scenario({each.name: 1.0 for each in study.study.parameters})))
    assert begun.figures["iops"] < 0.9 * true
    fitted = fit(study, tmp_path).model_copy(update={"workload": load})
    assert simulate(fitted).figures["iops"] == pytest.approx(true, rel=0.1)


def test_fsync_of_a_file_is_missing(tmp_path: Path) -> None:
    """fsync of a file writes the journal of its file system too; fdatasync of data that are overwritten does not."""
    jobs = [randread("other", filename="a.file"), randread(filename="a.file", rw="randwrite", fsync=1)]
    study = FioStudy(folder_of(tmp_path, *(report(each) for each in jobs))).study
    (missing,) = study.missing
    assert "fsync on a device, or fdatasync" in missing.needs


SYNCED: dict[str, Any] = {
    "pattern": "random",
    "block_size": 4096,
    "depth": 1,
    "read_share": 0.0,
    "engine": "psync",
    "duration": 0.2,
    "fsync": 1,
}
"""fio's randwrite with fsync=1."""


def test_the_cost_of_a_flush_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the fit from a job with fsync: a drive that flushes in 0.4 ms, where the catalogue has 1 ms.

    Without such a job nothing tells it, and it is not fitted.
    """
    monkeypatch.setattr(fio_study, "_FLASH_IOS", 150)
    model = "Samsung-980-PRO-1TB"
    loads = {"randread-4k-qd1": FLASH_LOADS["randread-4k-qd1"], "randwrite-4k-fsync": SYNCED}
    measured_flash(tmp_path, model, loads, flush_time=400e-6)
    own = FioStudy(tmp_path / "fio", drive=model)
    synced = own.study.runs["randwrite-4k-fsync"].workload
    assert isinstance(synced, FioSpec)
    assert "fsync=1" in synced.job
    assert "flush" in {parameter.name for parameter in own.study.parameters}
    (drive_of,) = fit(own, tmp_path).machine.drives.values()
    spec = drive_of.spec()
    assert isinstance(spec, SolidStateSpec)
    assert spec.flush_time == pytest.approx(400e-6, rel=0.1)
    (tmp_path / "fio" / "randwrite-4k-fsync.json").unlink()
    without = FioStudy(tmp_path / "fio", drive=model).study
    assert "flush" not in {parameter.name for parameter in without.parameters}


def test_an_unknown_drive_begins_with_the_flush_that_was_seen(tmp_path: Path) -> None:
    """Protects the begin of a fit: what a write takes more with a flush, whatever the nearest drive has."""
    loads = {"randread-4k-qd1": FLASH_LOADS["randread-4k-qd1"], "randwrite-4k-fsync": SYNCED}
    measured_flash(tmp_path, loads=loads, flush_time=700e-6)
    (drive_of,) = FioStudy(tmp_path / "fio").study.machine.drives.values()
    spec = drive_of.spec()
    assert isinstance(spec, SolidStateSpec)
    assert spec.flush_time == pytest.approx(700e-6, rel=0.1)


def test_a_known_solid_state_drive(tmp_path: Path) -> None:
    """Protects ``--drive`` with a solid-state drive: its size, flash and cable are the catalogue's."""
    measured_flash(tmp_path)
    (drive_of,) = FioStudy(tmp_path / "fio", drive="WD-SN570-1TB").study.machine.drives.values()
    assert (drive_of.spec().model, drive_of.overrides) == (drive("WD-SN570-1TB").model, {})
