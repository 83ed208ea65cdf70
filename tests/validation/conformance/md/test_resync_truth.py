"""The check of resync against its recording: what is compared, and how much of it comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.validation.conformance.base import TruthFile
from raidsim.validation.conformance.md.resync import check

PATH = Path(raidsim.__file__).parent / "validation" / "truth" / "io" / "resync.json"


def recorded(*names: str) -> TruthFile:
    """The recording, cut to the runs of these names."""
    content = json.loads(PATH.read_text())
    content["runs"] = [run for run in content["runs"] if run["name"] in names]
    return TruthFile(PATH, content)


def checked(file: TruthFile) -> Any:
    """The result for one file."""
    return check([file], lambda name: None)


@pytest.mark.parametrize("array", ["raid1_n2", "raid10f2_n4", "raid5_n4"])
def test_the_maximum_is_the_recorded_one(array: str) -> None:
    """Protects sync_speed_max of 20,000 KB/s on every level."""
    result = checked(recorded(f"serial1ms64k.{array}.check_max20000"))
    assert (result.cases, result.matched) == (1, 1)


@pytest.mark.parametrize("array", ["raid1_n2", "raid10f2_n4", "raid5_n4"])
def test_an_idle_check_waits_for_the_cpu(array: str) -> None:
    """Protects the CPU's part of an unlimited check: pages cleared and compared while a tag is held."""
    assert not checked(recorded(f"serial1ms64k.{array}.check_unlimited")).misses


@pytest.mark.parametrize("array", ["raid1_n2", "raid10f2_n4", "raid5_n4"])
def test_a_recovery_is_as_fast_as_recorded(array: str) -> None:
    """Protects what a member being rebuilt receives a second."""
    assert not checked(recorded(f"serial1ms64k.{array}.recover")).misses


def test_a_reader_keeps_the_resync_from_a_tag() -> None:
    """Protects the shares of one random reader and of a check of RAID 1, which depend on who is woken first."""
    assert not checked(recorded("serial1ms64k.raid1_n2.check_min1000_randread4k_q1")).misses


@pytest.mark.parametrize("load", ["randread4k_q16", "seqread64k_q4"])
def test_a_share_under_load_is_the_recorded_one(load: str) -> None:
    """Protects how far from its minimum RAID 10 stays under load: one jiffy of sleep for each block."""
    result = checked(recorded(f"serial1ms64k.raid10f2_n4.check_min1000_{load}"))
    assert not result.misses


def test_request_sizes_are_compared() -> None:
    """Protects the blocks of RAID 10's resync: 64 KiB and never merged."""
    assert not checked(recorded("ssd100us.raid10f2_n4.check")).misses


def test_another_speed_is_a_miss() -> None:
    """Counter-test: against a recording of twice the speed the same run is a miss that shows both numbers."""
    file = recorded("serial1ms64k.raid1_n2.check_max20000")
    (run,) = file.content["runs"]
    run["member_KBs"] = {member: [2 * read, write] for member, (read, write) in run["member_KBs"].items()}
    (miss,) = checked(file).misses
    assert "37314 recorded" in miss.difference


def test_runs_without_a_rate_are_not_cases() -> None:
    """Protects the count: mismatch counters and recoveries without sizes are not checked."""
    file = recorded("ssd100us.raid1_n2.mismatch_cnt", "ssd100us.raid10f2_n4.recover")
    assert len(file.content["runs"]) == 2
    result = checked(file)
    assert (result.cases, result.cases_not_checked) == (0, 2)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("serial1ms64k.weird", "MEMBER.ARRAY.RUN"),
        ("serial1ms64k.raid5_n4.verify", "expected: check, repair and recover"),
        ("serial1ms64k.raid1_n2.check_min1000_trim4k", "load 'trim4k'"),
    ],
)
def test_an_unknown_run_is_not_checked(name: str, words: str) -> None:
    """Protects from a wrong comparison: the name says member, array and run, and is counted if one is not known."""
    file = recorded("serial1ms64k.raid1_n2.check_max20000")
    file.content["runs"][0]["name"] = name
    [left] = checked(file).not_checked
    assert left.case == name
    assert words in left.reason
