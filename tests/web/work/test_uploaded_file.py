"""Designs beside an uploaded file's: a disk that fails, mechanisms switched off, other values."""

from __future__ import annotations

from contextlib import suppress

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.document import Document, document_from
from raidsim.scenarios.running.simulate import simulate
from raidsim.web.form.limits import LONGEST_S
from raidsim.web.views.designs import course_words
from raidsim.web.work.explain import commands_per_io, effect
from raidsim.web.work.task import Progress
from raidsim.web.work.tasks import FailureTask
from raidsim.web.work.uploaded_file import DIFFERS, failing, file_variants, other

LOAD = "workload: {read_share: 0%, depth: 4, duration: 300ms, warm_up: 50ms}\n"
SMALL = f"machine: {{drives: {{model: WD2500JS, count: 5}}}}\narrays: {{md0: {{level: raid5, bitmap: none}}}}\n{LOAD}"


def read(text: str) -> tuple[Document, ScenarioSpec]:
    """A file as the page has it."""
    document = document_from(text, "upload.yaml")
    return document, document.spec()


def test_mechanisms_of_a_file_are_switched_off() -> None:
    """Protects the explanation of files: without parity a small write is one command, and it says what parity costs."""
    document, spec = read(SMALL)
    found = {variant.name: (variant, without) for variant, without in file_variants(document, spec)}
    assert set(found) == {"parity", "positioning", "queueing"}
    variant, without = found["parity"]
    base, plain = simulate(spec), simulate(without.spec)
    assert commands_per_io(base) == pytest.approx(4.0, abs=0.3)
    assert commands_per_io(plain) == pytest.approx(1.0, abs=0.1)
    assert effect(variant, base, plain, is_open=False).words.startswith("Parity costs")


def test_what_a_file_does_not_have_is_not_switched_off() -> None:
    """Protects from explaining what is not there: a stripe read in order by one has neither parity nor queues."""
    text = "machine: {drives: {model: WD2500JS, count: 3}}\narrays: {md0: raid0}\nworkload: {pattern: sequential}\n"
    assert file_variants(*read(text)) == []


def test_networks_bitmaps_and_lost_disks_of_a_file_are_switched_off() -> None:
    """Protects the rest of the list: each is named for a file that has it."""
    text = (
        "machine: {drives: {model: WD2500JS, count: 4}}\nnetwork: {protocol: nfs4, port: 10GbE}\n"
        f"arrays: {{md0: {{level: raid10, failed: 1, bitmap: 64MiB}}}}\n{LOAD}"
    )
    names = {variant.name for variant, _ in file_variants(*read(text))}
    assert {"mirroring", "the lost disk", "the network", "the write-intent bitmap"} <= names


def test_a_failure_of_a_file_without_times_is_within_its_run() -> None:
    """Protects files that are measured until known: their ten minutes at most are no place for a failure."""
    for timeless in ("{read_share: 0%, depth: 4}", "{read_share: 0%, depth: 4, precision: 5%}"):
        document, spec = read(SMALL.replace(LOAD, f"workload: {timeless}\n"))
        made, _ = failing(document, spec, 50)
        load = made.spec.workload
        assert isinstance(load, LoadSpec)
        assert load.precision is None
        assert load.duration <= LONGEST_S
        assert load.warm_up < made.spec.failures[0].at < load.warm_up + load.duration


def test_a_disk_of_a_file_fails() -> None:
    """Protects the failure of files: the next disk that the array survives is lost at the slider's time."""
    document, spec = read(SMALL)
    shown, member = failing(document, spec, 50)
    assert member == "disk0"
    assert shown.spec.failures[0].at == pytest.approx(0.05 + 0.15)
    assert "before the failure" in course_words(FailureTask(shown).perform(Progress()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SMALL.replace("raid5", "raid0"), "no array that survives"),
        (SMALL.replace("level: raid5", "level: raid5, failed: 1"), "no array that survives"),
        (f"{SMALL}failures: [{{member: disk1, at: 100ms}}]\n", "failures of its own"),
        (SMALL.replace(LOAD, "workload: {kind: dd, direction: read, size: 1GiB}\n"), "this workload"),
    ],
)
def test_a_file_whose_disks_may_not_fail_is_told_so(text: str, said: str) -> None:
    """Protects from a run that could only end in lost data."""
    with pytest.raises(InputError, match=said):
        failing(*read(text), 30)


def test_all_that_may_differ_means_something() -> None:
    """Protects the comparison of files: every value that is offered makes a design, or is refused in words."""
    document, _ = read(SMALL)
    made = 0
    for name, (_, values) in DIFFERS.items():
        for value in values:
            with suppress(InputError):
                other(document, {name: value})
                made += 1
    assert made > 20


def test_a_long_run_is_refused_here_too() -> None:
    """Protects the server: other values may not make a run longer than a file itself may be."""
    document, _ = read(SMALL)
    with pytest.raises(InputError, match=r"workload\.duration"):
        other(document, {"workload.duration": "10h"})
