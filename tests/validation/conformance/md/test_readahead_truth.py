"""Read-ahead beside the recorded runs of Linux 6.1."""

from __future__ import annotations

import copy
import json
from functools import partial
from typing import Any

import pytest

from raidsim.model.readahead import ReadAhead61, linux61
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.task_plug import PlugLimits
from raidsim.validation.conformance.base import KindResult, TruthFile
from raidsim.validation.conformance.md import readahead
from raidsim.validation.conformance.truth_files import DEFAULT_TRUTH

PATH = DEFAULT_TRUTH / "io" / "readahead.json"
CONTENT: dict[str, Any] = json.loads(PATH.read_text())
IO_FIELDS = ("md_bio_kib", "md_first_bios_kib", "member_bio_kib", "default_read_ahead_kb", "max_sectors_kb", "optimal")


def check(content: dict[str, Any]) -> KindResult:
    """The model beside `content`."""
    return readahead.check([TruthFile(PATH, content)], lambda case: None)


def only(array: str, *cases: str) -> dict[str, Any]:
    """A copy of the truth with the runs of `cases` on one array."""
    content = copy.deepcopy(CONTENT)
    content["arrays"] = [recorded for recorded in content["arrays"] if recorded["array"] == array]
    for recorded in content["arrays"]:
        recorded["runs"] = [run for run in recorded["runs"] if run["case"] in cases]
    return content


@pytest.fixture(scope="module")
def whole() -> KindResult:
    """The check of everything recorded."""
    return check(CONTENT)


def test_every_io_at_md_and_at_the_members_is_the_recorded_one(whole: KindResult) -> None:
    """Protects read-ahead, splitting and the defaults of an array: all I/O sizes of all 130 runs are exact."""
    assert whole.cases == 135
    assert [miss.case for miss in whole.misses if any(field in miss.difference for field in IO_FIELDS)] == []


def test_what_is_missed_is_the_choice_of_a_mirror(whole: KindResult) -> None:
    """Protects the rest: the members' shares differ only on RAID 10 with windows of 4 MiB, whose I/Os the recorded CPU
    takes longer to send than a member to serve.
    """
    assert {(miss.case.split()[0], miss.case.split()[2]) for miss in whole.misses} == {
        ("raid10f2_n4_c64", "read_ahead_kb=4096")
    }
    assert whole.matched >= 132


def test_a_plug_for_each_device_merges_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test of the task's plug: where a large request of one member does not flush those of the others,
    windows over several members become larger requests than the recorded ones.
    """
    monkeypatch.setattr(readahead, "Host", partial(Host, plug_limits=PlugLimits(flush_bytes=0)))
    result = check(only("raid0_n4_c512", "seq64k"))
    assert {miss.case.split()[2] for miss in result.misses} == {"read_ahead_kb=1024", "read_ahead_kb=4096"}


def test_a_changed_recording_is_a_readable_miss() -> None:
    """The counter-test of the comparison: one I/O more is found, with both numbers."""
    content = only("raid5_n4_c64", "seq4k")
    content["arrays"][0]["runs"][1]["md_bio_kib"]["128.0"] += 1
    content["arrays"][0]["optimal_io_size"] = 65536
    result = check(content)
    assert [miss.case for miss in result.misses] == ["raid5_n4_c64 defaults", "raid5_n4_c64 seq4k read_ahead_kb=128"]
    assert result.misses[0].difference == "optimal_io_size: recorded 65536, the model 196608"
    assert "'128.0': 18" in result.misses[1].difference
    assert "'128.0': 17" in result.misses[1].difference


def test_without_growth_the_ramp_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test of the ramp: with windows that keep their size nothing sequential matches but 0 and random."""
    monkeypatch.setattr(linux61, "_next_size", lambda size, most: size)
    result = check(only("single", "seq4k", "rand4k"))
    assert {miss.case for miss in result.misses} == {
        f"single seq4k read_ahead_kb={window}" for window in (128, 512, 1024, 4096)
    }


def test_without_the_device_s_limit_large_calls_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test of calls beyond the window: capped at the window, 1 MiB calls at 128 KiB do not match."""
    monkeypatch.setattr(readahead, "_read_ahead", lambda known, window, end, request: ReadAhead61(window, end, 0))
    result = check(only("single", "seq1024k"))
    assert {miss.case for miss in result.misses} == {f"single seq1024k read_ahead_kb={window}" for window in (128, 512)}


@pytest.mark.parametrize(("field", "value"), [("array", "raid5_4x64"), ("case", "backwards4k")])
def test_an_unknown_name_is_not_checked(field: str, value: str) -> None:
    """Protects from silence: an array or a case that the model cannot build is named and counted."""
    content = only("single", "rand4k")
    (content["arrays"][0] if field == "array" else content["arrays"][0]["runs"][0])[field] = value
    result = check(content)
    assert len(result.not_checked) == 1
    assert repr(value) in result.not_checked[0].reason
    assert not result.misses
