"""Studies as data: every cell of the report is there, and what cannot be used is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.calibration import study as study_module
from raidsim.calibration.study import StudySpec, load_study, study_names
from raidsim.calibration.study_parameters import value_at
from raidsim.calibration.study_runs import RunBuilder
from raidsim.model.errors import InputError

SOURCE = Path(study_module.__file__).parent / "studies" / "gentoo-2004.yaml"
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
    assert moved.machine.drives["hde"].spec().outer_media_rate == pytest.approx(0.9 * rate)
    assert moved.machine.drives["hdg"].spec() == plain.machine.drives["hdg"].spec()
    assert (plain.path_length, moved.path_length) == (1.0, 1.2)


def test_factors_on_one_value_multiply(gentoo: StudySpec) -> None:
    """Two parameters may act on the same value, as a bus and its chip set do; neither overwrites the other."""
    twice = gentoo.model_copy(
        update={"parameters": (*gentoo.parameters, gentoo.parameters[4].model_copy(update={"name": "again"}))}
    )
    scenario = RunBuilder(twice, {"PCI rate": 1.1, "again": 1.2}).scenario(twice.cases[0].id)
    assert scenario.machine.links["pci"].rate == pytest.approx(1.32 * 120e6)


def test_a_case_does_not_depend_on_prices_it_never_pays(gentoo: StudySpec) -> None:
    """A single read is the same scenario whatever a mirror's clone costs, so it is not simulated again for it."""
    builder, plain = RunBuilder(gentoo, {"mirror clone": 2.0}), RunBuilder(gentoo, {})
    assert builder.scenario("2.6.8/hde/read") == plain.scenario("2.6.8/hde/read")
    assert builder.scenario("2.6.8/raid1/write") != plain.scenario("2.6.8/raid1/write")


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
