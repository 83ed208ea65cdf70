"""Discards as users meet them: trims of fio, discards of a trace, and the switches that let them pass."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, TRIM, WRITE
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.traces.formats.record import TraceRecord, columns_of
from raidsim.scenarios.traces.replay.replay import ReplayOptions, replay

from ...fio.fio_runs import only

MIB = 1 << 20
DRIVES = """
name: solid-state drives
machine: {model: nvme-server, drives: {model: Samsung-PM9A3-3840GB, count: 6}}
workload: {kind: load, targets: [md0]}
"""
SAFE = "devices_handle_discard_safely: true"
TRIM_JOB = "[a] direct=1 filename=/dev/md0 rw=trim bs=64m size=1g io_size=256m"


def on(array: str, more: str = "") -> str:
    """The drives as an array."""
    return f"{DRIVES}arrays: {{md0: {{{array}}}}}\n{more}"


def spec(array: str, more: str = "") -> ScenarioSpec:
    """The same as a scenario."""
    return document_from(on(array, more)).spec()


@pytest.mark.parametrize(
    "array", ["level: raid0", "level: raid1", "level: raid10", f"level: raid5, {SAFE}", f"level: raid50, {SAFE}"]
)
def test_fio_trims_arrays(array: str) -> None:
    """rw=trim: four trims, which fio waits for one by one, and no read or write of them."""
    found = only(TRIM_JOB, on(array))
    assert (found.trim.total_ios, found.trim.io_bytes) == (4, 256 * MIB)
    assert (found.read.total_ios, found.write.total_ios, found.error) == (0, 0, 0)


def test_fio_trims_before_it_writes_through_encryption() -> None:
    """rw=trimwrite on dm-crypt with allow_discards: as many trims as writes."""
    secret = "encrypted: {secret: {on: md0, cipher: aes-xts, allow_discards: true}}"
    job = "[a] direct=1 filename=/dev/secret rw=randtrimwrite bs=64k size=1g io_size=2m"
    found = only(job, on("level: raid10", secret))
    assert found.trim.total_ios == found.write.total_ios == 32


@pytest.mark.parametrize(
    ("array", "more", "name", "why"),
    [
        ("level: raid5", "", "md0", "devices_handle_discard_safely, which is off"),
        ("level: raid1", "encrypted: {c: {on: md0, cipher: aes-xts}}", "c", "allow_discards, which is off"),
        ("level: raid0", "kernel: linux-2.6.8", "md0", "a block layer that passes no discards on"),
    ],
)
def test_fio_fails_where_nothing_is_freed(array: str, more: str, name: str, why: str) -> None:
    """EOPNOTSUPP, as fio would have it, with the device and the reason."""
    with pytest.raises(InputError, match=rf"trims on {name}, where fio fails with EOPNOTSUPP .*{why}"):
        only(TRIM_JOB.replace("md0", name), on(array, more))


def records() -> list[TraceRecord]:
    """A write, a discard and a read, three times."""
    ops = (WRITE, TRIM, READ) * 3
    return [TraceRecord(number * 1e-3, op, number * MIB, MIB // 2, "a") for number, op in enumerate(ops)]


@pytest.mark.parametrize("depth", [None, 2])
def test_discards_of_a_trace_are_replayed(depth: int | None) -> None:
    """Nine I/Os, of which three discards, which are no data; at their times as well as one after the other."""
    done = replay(spec("level: raid10"), lambda: columns_of(records()), ReplayOptions(depth=depth))
    assert (done.survey.records, done.survey.discards, done.completed) == (9, 3, 9)
    assert done.survey.bytes == 6 * MIB // 2
    assert "discards: 3 of the I/Os" in done.notes
    assert {name: values["n"] for name, values in done.prediction.latencies.items()} == {"read": 3, "write": 3}


def test_discards_of_a_trace_are_left_out_where_they_cannot_be() -> None:
    """On RAID 5 as it usually is: counted, with the reason, and the rest is replayed."""
    done = replay(spec("level: raid5"), lambda: columns_of(records()), ReplayOptions())
    assert (done.survey.records, done.survey.discards, done.completed) == (6, 0, 6)
    assert any(note.startswith("discards left out: 3; md0 passes discards on only with") for note in done.notes)
    with pytest.raises(InputError, match="discards and nothing else"):
        replay(spec("level: raid10"), lambda: columns_of(records()[1:2]), ReplayOptions())


@pytest.mark.parametrize(
    ("array", "more", "words"),
    [
        (f"level: raid10, {SAFE}", "", "devices_handle_discard_safely of raid10"),
        (f"level: raid5, {SAFE}", "kernel: linux-2.6.8", "devices_handle_discard_safely on linux-2.6.8.*3.7"),
        ("level: raid5", "encrypted: {c: {on: md0, kind: cryptoloop, %s}}", "allow_discards of cryptoloop"),
        ("level: raid5", "encrypted: {c: {on: md0, %s}}\nkernel: linux-2.6.8", "allow_discards on linux-2.6.8.*3.1"),
    ],
)
def test_switches_of_others_are_refused(array: str, more: str, words: str) -> None:
    """One message with the field: other levels, older kernels, loop devices."""
    rate: Any = "rate: 1GB/s, source: made up, allow_discards: true"
    with pytest.raises(InputError, match=words):
        spec(array, more % rate if "%s" in more else more)
