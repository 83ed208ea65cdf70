"""The library: every scenario runs, says what it is, and means the same when it is written out in full."""

from __future__ import annotations

import re

import pytest

from raidsim.calibration.study.study import load_study
from raidsim.scenarios.description.programs import ProgramsSpec
from raidsim.scenarios.documents.document import document_from, read_document
from raidsim.scenarios.documents.library import LIBRARY, library_names, library_summary
from raidsim.scenarios.documents.machine_catalogue import cpu_names, machine_names
from raidsim.scenarios.documents.text import changed_text, plain_text
from raidsim.scenarios.documents.written import written
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate

REPORTS = ("gentoo-2004", "catalan-2005", "gateway-2005", "prinkey-2002", "freebsd-2007")
TODAY = (
    "home-nas",
    "database-server",
    "video-ingest",
    "mail-spool",
    "backup-target",
    "vm-host",
    "backup-and-vms",
    "shared-disks",
    "zfs-pool",
)
FLASH = ("nvme-raid10", "all-flash-database", "hybrid-mirror", "journaled-archive", "cached-database")
MIB = 1 << 20
SHORTER = {
    "catalan-2005": ("workload.steps.0.size=40MiB", "workload.steps.1.size=40MiB"),
    "gateway-2005": ("workload.steps.0.number=20", "workload.steps.0.transactions=20"),
    "prinkey-2002": ("workload.steps.0.size=40MiB", "workload.steps.1.size=40MiB"),
    "freebsd-2007": ("workload.steps.0.size=20MiB",),
    "nvme-raid10": ("duration=3ms",),
    "all-flash-database": ("duration=3ms",),
}


def test_the_library_has_what_it_promises() -> None:
    """Situations of today, some of them with flash, and the machines of the five reports."""
    assert set(library_names()) == {*REPORTS, *TODAY, *FLASH}


@pytest.mark.parametrize("name", [*REPORTS, *TODAY, *FLASH])
def test_every_scenario_runs(name: str) -> None:
    """Made short, each one moves data."""
    sets = SHORTER.get(name, () if name == "gentoo-2004" else ("duration=300ms", "warm_up=100ms"))
    spec = read_document(name, sets).spec()
    sample = Sample(read_bytes=8 * MIB, write_bytes=4 * MIB, cycles=1) if name == "gentoo-2004" else None
    prediction = simulate(spec, sample)
    assert prediction.figures
    assert isinstance(spec.workload, ProgramsSpec) or prediction.rate > 0


@pytest.mark.parametrize("name", REPORTS)
def test_machines_of_reports_are_those_of_the_studies(name: str) -> None:
    """Protects what `raidsim run` says of a report's machine: a study that learns more about it changes both files."""
    study = load_study(name)
    assert read_document(name).spec().machine == study.machine


@pytest.mark.parametrize("name", [*REPORTS, *TODAY, *FLASH])
def test_a_scenario_written_out_in_full_is_the_same(name: str) -> None:
    """Every default filled in and every quantity written with its unit, to the last bit."""
    spec = read_document(name).spec()
    assert document_from(plain_text(written(spec), "comment"), "full.yaml").spec() == spec


@pytest.mark.parametrize("name", [*REPORTS, *TODAY, *FLASH])
def test_what_comments_suggest_is_possible(name: str) -> None:
    """Every `--set` in a comment gives a scenario that is right."""
    text = (LIBRARY / f"{name}.yaml").read_text(encoding="utf-8")
    suggested = re.findall(r"# .*raidsim run \S+ --set (?:(\S+?)='([^']*)'|(\S+))", text)
    assert suggested
    for path, quoted, plain in suggested:
        read_document(name, [plain or f"{path}={quoted}"]).spec()


@pytest.mark.parametrize("name", [*REPORTS, *TODAY, *FLASH])
def test_a_changed_copy_is_the_changed_document(name: str) -> None:
    """The text with comments says the same as the document, and keeps every comment."""
    sets = ["seed=7", "machine.memory=16GiB", "name=mine"]
    text, document = changed_text(name, sets)
    assert document_from(text, "copy.yaml").data == document.data == read_document(name, sets).data
    before = (LIBRARY / f"{name}.yaml").read_text(encoding="utf-8")
    assert re.findall(r"#.*", text) == re.findall(r"#.*", before)


@pytest.mark.parametrize("name", [*REPORTS, *TODAY, *FLASH])
def test_a_scenario_says_what_it_is(name: str) -> None:
    """One line for the list."""
    assert 20 < len(library_summary(name)) < 130


@pytest.mark.parametrize("machine", machine_names())
@pytest.mark.parametrize("cpu", cpu_names())
def test_catalogue_machines_are_whole(machine: str, cpu: str) -> None:
    """Each machine of the catalogue runs with each core of the catalogue."""
    spec = document_from(f"machine: {{model: {machine}, cpu: {{model: {cpu}}}}}").spec()
    assert spec.machine.cpu.prices.source
    assert all(link.source for link in spec.machine.links.values())
