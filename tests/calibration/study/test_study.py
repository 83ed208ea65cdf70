"""Studies as data: every cell of the report is there, and what cannot be used is refused with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from raidsim.calibration.study import study as study_module
from raidsim.calibration.study.cell import unit_value
from raidsim.calibration.study.document import Conventions
from raidsim.calibration.study.figures import figures_of
from raidsim.calibration.study.parameters import ONLY, ChangedParts, value_at
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, load_study, study_names
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.programs import ProgramsSpec
from raidsim.tests.calibration.study import small_study as small

SOURCE = Path(study_module.__file__).parents[1] / "studies" / "gentoo-2004.yaml"
RAID5 = "raid5: {level: raid5, members: [hde, hdg, hdi], chunk: 32KiB}"


@pytest.fixture(scope="module")
def gentoo() -> StudySpec:
    """The Gentoo study."""
    return load_study("gentoo-2004")


def test_every_cell_of_the_raw_device_tables_is_a_case(gentoo: StudySpec) -> None:
    """10 + 14 + 11 rows of two cells, and one row (hda) that was only read."""
    by_kernel = dict.fromkeys(("linux-2.4.26", "linux-2.6.8", "linux-2.6.7"), 0)
    for case in gentoo.cases:
        by_kernel[case.kernel] += 1
    assert by_kernel == {"linux-2.4.26": 20, "linux-2.6.8": 28, "linux-2.6.7": 23}


def test_the_other_tables_are_there_too(gentoo: StudySpec) -> None:
    """13 file-system cells, 8 of the crypto comparison and all 44 of the chunk-size tables."""
    kinds = [cell.id.split("/")[1].split("-")[0] for cell in gentoo.cells]
    assert kinds.count("tar") == 13
    assert kinds.count("crypto") == 8
    assert kinds.count("chunk") == 44
    assert len(kinds) == 65


def test_seconds_and_rates_agree(gentoo: StudySpec) -> None:
    """Each MB/s of the report is 5 GiB a drive over its seconds, with MB = 2^20, to the digits printed."""
    for case in gentoo.cases:
        assert case.rate == pytest.approx(5120 * len(case.targets) / case.seconds, rel=2e-3), case.id


def test_only_single_drives_and_one_pair_are_calibrated_on(gentoo: StudySpec) -> None:
    """No array, no triple and no other pair may be fitted: they are what the prediction is judged by."""
    for case in gentoo.cases:
        plain = case.array is None and (len(case.targets) == 1 or case.targets == ("hde", "hdg"))
        assert (case.use == "calibrate") == plain, case.id


def test_a_factor_reaches_what_its_path_names(gentoo: StudySpec) -> None:
    """Machine values, fields of one drive and a kernel's path length move by their factor; nothing else does."""
    case = "2.4.26/hde+hdg/read"
    plain = RunBuilder(gentoo, {}).scenario(case)
    moved = RunBuilder(gentoo, {"PCI rate": 1.1, "media rate hde": 0.9, "kernel 2.4.26": 1.2}).scenario(case)
    assert moved.machine.links["pci"].rate == pytest.approx(1.1 * plain.machine.links["pci"].rate)
    rate = value_at(gentoo, "machine.drives.hde.outer_media_rate")
    assert moved.machine.drives["hde"].hard_disk().outer_media_rate == pytest.approx(0.9 * rate)
    assert moved.machine.drives["hdg"].spec() == plain.machine.drives["hdg"].spec()
    assert (plain.path_length, moved.path_length) == (1.0, 1.2)


def test_factors_on_one_value_multiply(gentoo: StudySpec) -> None:
    """Two parameters may act on the same value, as a bus and its chip set do; neither overwrites the other."""
    twice = gentoo.model_copy(
        update={"parameters": (*gentoo.parameters, gentoo.parameters[4].model_copy(update={"name": "again"}))}
    )
    scenario = RunBuilder(twice, {"PCI rate": 1.1, "again": 1.2}).scenario(twice.cases[0].id)
    assert scenario.machine.links["pci"].rate == pytest.approx(1.32 * 120e6)


@pytest.mark.parametrize("wanted", [0.2, 0.6, 1.0, 1.4, 1.6, 2.0, 3.3])
def test_a_count_with_a_factor_stays_a_count(gentoo: StudySpec, wanted: float) -> None:
    """A count becomes the nearest whole number, and at least 1; a rate becomes any value."""
    counted, rate = "machine.drives.hde.segments", "machine.drives.hde.outer_media_rate"
    parameter = gentoo.parameters[0].model_copy(update={"name": "it", "paths": (counted, rate)})
    study = gentoo.model_copy(update={"parameters": (parameter,)})
    factor = wanted / value_at(study, counted)
    changed = ChangedParts(study, {"it": factor}).machines[ONLY]["drives"]["hde"]["overrides"]
    assert changed["segments"] == max(1, round(wanted))
    assert changed["outer_media_rate"] == factor * value_at(study, rate)


BAD = {
    "RAID 5 of two disks": (RAID5, RAID5.replace(", hdi", ""), r":\d+: field arrays.raid5: .*needs at least 3"),
    "chunk of 3 KiB": (RAID5, RAID5.replace("32KiB", "3KiB"), r":\d+: field arrays.raid5: .*power of two"),
    "ambiguous chunk": (RAID5, RAID5.replace("32KiB", "32K"), r"arrays.raid5.chunk: .*ambiguous"),
    "unknown drive": ("hdg: {model: WD2500JB,", "hdg: {model: WD2500XX,", r"drives.hdg.model: .*'WD2500XX'"),
    "typo in a key": ("memory: 1GiB", "memmory: 1GiB", r":\d+: field machine.memmory: .*did you mean 'memory'"),
    "negative rate": ("rate: 120MB/s", "rate: -120MB/s", r"machine.links.pci.rate: .*negative"),
    "NaN": ("rate: 120MB/s", "rate: .nan", r"machine.links.pci.rate: .*nan"),
    "no unit": ("rate: 120MB/s", "rate: 120", r"machine.links.pci.rate: .*unit"),
    "NaN seconds": ("seconds: 449.77", "seconds: .nan", r"cases\[0\].seconds"),
    "seconds that contradict the rate": ("seconds: 449.77", "seconds: 499.77", r"cases\[0\]: .*within 2 %"),
    "unknown kernel": ("kernel: linux-2.4.26, d", "kernel: linux-2.4.27, d", r"cases\[0\].kernel: .*linux-2.4.27"),
    "unknown target": ("targets: [hde],", "targets: [hdx],", r"cases\[0\].targets: .*hdx"),
    "neither use": ("use: calibrate, kernel", "use: tune, kernel", r"cases\[0\].use: .*calibrate, predict"),
    "a case twice": ("2.4.26/hdg/write", "2.4.26/hde/write", r"cases: .*twice"),
    "all mirrors failed": ("hdg], failed: [hdg]}", "hdg], failed: [hdg, hde]}", r"arrays.raid1-failed.failed"),
    "two of RAID 5 failed": ("32KiB, failed: [hdi]}", "32KiB, failed: [hdi, hde]}", r"arrays.raid5-failed.failed"),
    "a path to nothing": ("machine.links.pci.rate", "machine.links.pcx.rate", r"parameters\[4\].paths: .*pcx"),
    "a field no drive has": ("ide3, major: 34}", "ide3, major: 34, overrides: {rpm: 1}}", r"drives.hdg.overrides"),
    "more than the disk": ("size: 5GiB", "size: 500GiB", r"targets: .*within the device|within 2 %"),
    "not YAML": ("arrays:\n", "arrays: [\n", r":\d+: not YAML"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_study_is_refused_with_its_place(what: str, tmp_path: Path) -> None:
    """One message that names the file, the line and the field, for everything a person may get wrong."""
    old, new, message = BAD[what]
    text = SOURCE.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "study.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        load_study(str(path))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


BAD_RUNS: dict[str, tuple[str, Any, str]] = {
    "unknown workload": ("runs.both.workload", "pairs", r"runs.both.workload: .*'pairs'; expected: pair, random"),
    "a bad workload of its own": ("runs.one.workload.size", "1", r"runs.one.workload.size: .*512"),
    "a bad named workload": ("workloads.random.depth", 0, r"workloads.random.depth"),
    "unknown kernel": ("runs.one.kernel", "linux-2.4", r"runs.one.kernel"),
    "unknown device": ("runs.one.workload.targets", ["sdc"], r"runs.one.workload.targets: .*'sdc'.*sda, sdb, stripe"),
    "unknown device below a file system": (
        "runs.one.file_systems",
        {"/a": {"kind": "ext2", "on": "sdc"}},
        r"runs.one.file_systems./a.on: .*'sdc'",
    ),
    "unknown file system": ("runs.one.file_systems", {"/a": {"kind": "ext9", "on": "sda"}}, r"/a.kind: .*'ext9'"),
    "too much for the device": ("runs.one.workload.size", "999GB", r"runs.one.workload.size: .*in the run one"),
    "a machine where there is one": ("runs.one.machine", "m", r"runs.one.machine: .*only one"),
    "processes of dd": ("runs.one.processes", 2, r"runs.one.processes: .*kind programs"),
    "an unknown run before": ("runs.one.after", ["two"], r"runs.one.after: .*'two'; expected: one, both"),
    "dd before dd": ("runs.one.after", ["both"], r"runs.one.after: .*not the same tiobench.*expected: runs of one tio"),
    "a run before itself": ("runs.one.after", ["one"], r"runs.one.after: found one a second time"),
    "a key no run has": ("runs.one.cash", 1, r"runs.one.cash: .*unknown key"),
    "an array of nothing": ("arrays.stripe.members", ["sda", "sdx"], r"arrays.stripe.members: .*'sdx'"),
    "unknown run": ("cells.0.run", "two", r"cells\[0\].run: .*'two'; expected: one, both, stripe, load"),
    "unknown figure": (
        "cells.0.figure",
        "iops",
        r"cells\[0\].figure: .*'iops' of the run one; expected: rate, seconds",
    ),
    "a rate in seconds": ("cells.1.unit", "s", r"cells\[1\].unit: .*bytes per second; expected: MB/s, KB/s"),
    "seconds as a rate": ("cells.0.unit", "MB/s", r"cells\[0\].unit: .*seconds; expected: s"),
    "a unit nobody has": ("cells.0.unit", "days", r"cells\[0\].unit: .*'days'"),
    "a unit of unknown size": ("conventions", {"MB": 1000000}, r"cells\[1\].unit: .*expected: conventions.KB"),
    "nothing measured": ("cells.0.measured", 0, r"cells\[0\].within"),
    "a cell twice": ("cells.1.id", "one", r"cells: .*one stands there twice"),
    "a claim of an unknown run": ("claims.0.left", "raid9:rate", r"claims\[0\].left: .*'raid9:rate'.*runs one, both"),
    "a claim of an unknown figure": ("claims.0.right", "one:speed", r"claims\[0\].right: .*'speed'.*rate, seconds"),
    "a claim without a figure": ("claims.0.right", "one", r"claims\[0\].right: .*no RUN:FIGURE"),
    "a claim of two kinds": ("claims.0.right", "one:seconds", r"claims\[0\]: .*figures of one kind"),
    "a claim of unequal lists": ("claims.0.right", ["one:rate", "both:rate"], r"claims\[0\]: .*as many of both"),
    "a claim against an unknown run": (
        "claims.0.against",
        {"left": "raid9:rate", "right": "one:rate"},
        r"claims\[0\].against.left: .*'raid9:rate'.*runs one, both",
    ),
    "a claim against two kinds": (
        "claims.0.against",
        {"left": "both:rate", "right": "one:seconds"},
        r"claims\[0\]: .*figures of one kind",
    ),
    "a claim against unequal lists": (
        "claims.0.against",
        {"left": ["one:rate", "both:rate"], "right": "one:rate"},
        r"claims\[0\].against: .*2 on the left and 1 on the right",
    ),
    "a claim against another that is fitted": (
        "claims.0",
        {
            "id": "beats",
            "gist": "",
            "where": "",
            "left": "both:rate",
            "right": "one:rate",
            "ratio": [1.0, None],
            "against": {"left": "both:rate", "right": "one:rate"},
            "use": "calibrate",
        },
        r"claims\[0\].use: .*beside against",
    ),
    "a claim without bounds": ("claims.0.ratio", [None, None], r"claims\[0\].ratio: .*no bound"),
    "a claim of nothing possible": ("claims.0.ratio", [2.0, 1.0], r"claims\[0\].ratio: .*no smaller"),
    "a suspect of an unknown claim": ("suspects.0.claims", ["x"], r"suspects\[0\].claims: .*'x'"),
    "a suspect of an unknown cell": ("suspects.0.cells", ["x"], r"suspects\[0\].cells: .*'x'"),
    "a suspect of nothing": ("suspects.0.claims", [], r"suspects\[0\]: .*nothing"),
    "a path to an unknown file system": ("parameters.0.paths", ["file_systems.ext2.block"], r"paths: .*ext2.block"),
    "a path to words": ("parameters.0.paths", ["machine.cpu.name"], r"parameters\[0\].paths: .*machine.cpu.name"),
    "a path to a price of nothing": ("parameters.0.paths", ["machine.cpu.prices.putc"], r"paths: .*putc"),
    "a path into nothing": ("parameters.0.paths", ["machine.drives.sda"], r"paths: .*machine.drives.sda"),
    "a path to a kernel that no run has": (
        "parameters.0.paths",
        ["kernels.linux-6.1.path_length"],
        r"parameters\[0\].paths: found kernels.linux-6.1.path_length, which no run has; expected: kernels.linux-2",
    ),
    "neither seed nor further": ("report", "third", r"report: .*seed, further"),
}


@pytest.mark.parametrize("what", BAD_RUNS)
def test_a_bad_run_cell_or_claim_is_refused_with_its_place(what: str, tmp_path: Path) -> None:
    """The same for studies of runs: what does not exist, and what does not fit together."""
    path, value, message = BAD_RUNS[what]
    document = small.runs_document()
    here: Any = document
    *keys, last = path.split(".")
    for key in keys:
        here = here[int(key) if isinstance(here, list) else key]
    here[int(last) if isinstance(here, list) else last] = value
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        load_study(str(file))
    assert str(caught.value).startswith(f"{file}:")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", ["name", "memory", "cpu", "links", "channels", "drives"])
def test_nothing_that_every_machine_has_can_be_removed(part: str) -> None:
    """Protects from a traceback: null removes a key of the catalogue's machine, but no machine goes without these."""
    study = {**small.runs_document(), "machine": {"model": "nvme-server", part: None}}
    with pytest.raises(InputError, match=f"machine.{part}: found null; expected: a value, or no such key"):
        validate(StudySpec, study)


def test_a_study_that_only_misses_numbers_needs_no_machine() -> None:
    """A report of which nothing can be simulated yet is a study; without runs and missing numbers it is refused."""
    document = {key: small.runs_document()[key] for key in ("id", "title", "source")}
    missing = [{"id": "a", "measured": 1.0, "unit": "s", "needs": "another mechanism"}]
    study = validate(StudySpec, {**document, "missing": missing})
    assert (study.all_cells, study.wanted_runs, len(study.missing)) == ((), [], 1)
    with_runs = {**small.runs_document(), "missing": missing}
    del with_runs["machine"]
    for refused in (document, with_runs):
        with pytest.raises(InputError, match="found no machine; expected: machine, or machines"):
            validate(StudySpec, refused)


def test_a_study_of_several_machines_names_one_in_every_run() -> None:
    """A run is on the machine that it names; without a name, or with an unknown one, it is refused."""
    document = small.runs_document()
    other = {**document["machine"], "name": "half the bus"}
    other["links"] = {"pci": {"rate": "57.5MB/s", "source": "made up"}}
    document["machines"] = {"fast": document.pop("machine"), "slow": other}
    document["parameters"] = [
        {"name": "bus", "paths": ["machines.slow.links.pci.rate"], "sd": "20%", "reason": "bursts"}
    ]
    with pytest.raises(InputError, match=r"runs.one.machine: found no machine; expected: one of fast, slow"):
        validate(StudySpec, document)
    for run in document["runs"].values():
        run["machine"] = "fast"
    document["runs"]["both"]["machine"] = "slow"
    builder = RunBuilder(validate(StudySpec, document), {"bus": 2.0})
    assert builder.scenario("both").machine.links["pci"].rate == pytest.approx(115e6)
    assert builder.scenario("stripe").machine.links["pci"].rate == pytest.approx(115e6)
    unused = {**document, "machines": {**document["machines"], "spare": other}}
    unused["parameters"] = [{**document["parameters"][0], "paths": ["machines.spare.links.pci.rate"]}]
    with pytest.raises(InputError, match=r"found machines.spare.\S+, which no run has; expected: machines.fast"):
        validate(StudySpec, unused)
    with pytest.raises(InputError, match=r"machines: found machine and machines"):
        validate(StudySpec, {**document, "machine": other})
    document["runs"]["one"]["machine"] = "medium"
    with pytest.raises(InputError, match=r"runs.one.machine: .*'medium'; expected: fast, slow"):
        validate(StudySpec, document)


def test_cells_are_in_si_units() -> None:
    """Numbers of the report are converted with its own units; rates of cases, seconds and percentages alike."""
    document = small.runs_document({"one": 12.5, "both": 2000.0})
    document["conventions"] = {"MB": 1 << 20, "KB": 1 << 10}
    cells = {cell.id: cell for cell in validate(StudySpec, document).all_cells}
    assert cells["one"].value == 12.5
    assert cells["both"].value == 2000 * 1024
    assert cells["stripe"].value == 100 * 2**20
    assert cells["load"].value == 100.0
    assert unit_value("%", Conventions()) == 0.01


def test_a_run_holds_only_what_it_uses() -> None:
    """Other drives, arrays and links stay out, so that parameters which act on them do not make it another run."""
    study = validate(StudySpec, small.runs_document())
    scenario = RunBuilder(study, {}).scenario("one")
    assert list(scenario.machine.drives) == ["sda"]
    assert list(scenario.machine.channels) == ["a"]
    assert not scenario.arrays
    assert list(RunBuilder(study, {}).scenario("stripe").arrays) == ["md0"]


def test_mirrors_that_differ_in_name_and_chunk_are_one_run() -> None:
    """RAID 1 has no chunks: tables over chunk sizes are simulated once. A stripe of another chunk is another run."""
    document = small.runs_document()
    for chunk in ("4KiB", "1MiB"):
        for array, level in (("mirror", "raid1"), ("stripe", "raid0")):
            name = f"{array}-{chunk}"
            document["arrays"][name] = {"level": level, "members": ["sda", "sdb"], "chunk": chunk}
            workload = {"kind": "dd", "direction": "read", "size": "1GiB", "targets": [name]}
            document["runs"][name] = {"kernel": "linux-2.6.8", "workload": workload}
    builder = RunBuilder(validate(StudySpec, document), {})

    def content(run: str) -> str:
        return builder.scenario(run).model_dump_json(exclude={"name"})

    assert content("mirror-4KiB") == content("mirror-1MiB")
    assert content("stripe-4KiB") != content("stripe-1MiB")


PROGRAMS = {
    "kind": "programs",
    "steps": [{"program": "bonnie", "size": "512MiB"}, {"program": "tar-x", "name": "unpack"}, {"program": "remount"}],
}


def test_runs_of_programs_have_the_figures_of_their_steps() -> None:
    """A named workload is taken over by several runs, each with its number of processes, file systems and read-ahead;
    figures are called after the steps.
    """
    document = small.runs_document()
    document["workloads"]["script"] = PROGRAMS
    for processes in (1, 2):
        document["runs"][f"files/{processes}"] = {
            "kernel": "linux-2.6.8",
            "file_systems": {"/raid": {"kind": "reiserfs", "on": "stripe"}},
            "workload": "script",
            "processes": processes,
            "read_ahead": "2MiB",
        }
    document["machine"]["cpu"]["prices"] = {**document["machine"]["cpu"]["prices"], "putc": "20ns", "getc": "10ns"}
    paths = ["file_systems.reiserfs.create_cycles", "machine.cpu.prices.putc"]
    document["parameters"] = [{"name": "code", "paths": paths, "sd": "50%", "reason": "unknown"}]
    study = validate(StudySpec, document)
    plain, slow = RunBuilder(study, {}), RunBuilder(study, {"code": 2.0})
    scenario = slow.scenario("files/2")
    assert isinstance(scenario.workload, ProgramsSpec)
    assert scenario.workload.processes == 2
    assert scenario.read_ahead == 2 << 20
    before = plain.scenario("files/2").file_systems["/raid"].settings().create_cycles
    assert scenario.file_systems["/raid"].settings().create_cycles == pytest.approx(2 * before)
    assert scenario.machine.cpu.prices.putc == pytest.approx(40e-9)
    assert {"bonnie.putc_rate", "bonnie.seeks_rate", "unpack.seconds"} <= set(figures_of(scenario.workload))
    assert not any(figure.startswith("remount") for figure in figures_of(scenario.workload))


def test_a_study_is_found_by_name_or_path(tmp_path: Path) -> None:
    """A name from the catalogue and a copy of its file give the same study; anything else names what there is."""
    copy = tmp_path / "copy.yaml"
    copy.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    assert load_study(str(copy)) == load_study("gentoo-2004")
    assert "gentoo-2004" in study_names()
    with pytest.raises(InputError, match=r"neither a study nor a file.*gentoo-2004"):
        load_study("gento")
    with pytest.raises(InputError, match="no such file"):
        load_study(str(tmp_path / "missing.yaml"))
