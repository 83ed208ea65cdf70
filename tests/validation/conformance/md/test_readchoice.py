"""Which mirror serves a read, beside the recordings of real arrays; and that the check notices a wrong model."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.raid.read_balance import Md61, PrimaryOnly
from raidsim.validation.conformance.base import KindResult, TruthFile
from raidsim.validation.conformance.md import kernels as recorded_kernels
from raidsim.validation.conformance.md import readbalance, readchoice

IO = Path(readchoice.__file__).parents[2] / "truth" / "io"
KNOWN_MISS = "readseq_raid10_n2_n3_rot0 three_streams"
"""One of its 48 reads went to the second copy: md had not yet counted the read before as complete."""


def load(name: str) -> TruthFile:
    """A recorded file."""
    path = IO / name
    return TruthFile(path, json.loads(path.read_text()))


def checked(*files: TruthFile) -> KindResult:
    """The result for some files."""
    return readchoice.check(files, lambda _: None)


def runs_of(file: TruthFile, member: str, array: str, changed: dict[str, Any] | None = None) -> TruthFile:
    """Only the runs of one array on one kind of member, with some fields changed."""
    runs = [
        {**run, **(changed or {})} for run in file.content["runs"] if (run["member"], run["array"]) == (member, array)
    ]
    return TruthFile(file.path, {**file.content, "runs": runs})


def test_every_read_goes_where_it_went() -> None:
    """Protects the read balance of RAID 1 and RAID 10: all 64 recorded cases but one, read by read."""
    result = checked(load("readchoice_raid1.json"), load("readchoice_raid10.json"))
    assert result.cases == 64
    assert [miss.case for miss in result.misses] == [KNOWN_MISS]
    assert result.misses[0].difference.startswith("1 of 48 reads differ\nread 37: recorded member 2, sector 20096")


def test_another_policy_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the check itself: if the first mirror served every read, the first random read would differ."""
    monkeypatch.setattr(recorded_kernels, "_balance", lambda name, turns, *_: PrimaryOnly(len(turns)))
    result = checked(load("readchoice_raid1.json"))
    assert [miss.case.split()[1] for miss in result.misses] == ["random_x32"] * 2


def test_a_changed_recording_is_noticed() -> None:
    """Protects the comparison: a member, a sector or a read that is not there makes its case a miss."""
    file = load("readchoice_raid1.json")
    content = copy.deepcopy(file.content)
    cases = content["arrays"][0]["cases"]
    cases[0]["served_by"][3][0] = 1
    cases[1]["served_by"][3][1] += 8
    cases[2]["served_by"].pop()
    result = checked(TruthFile(file.path, content))
    assert len(result.misses) == 3
    assert "model member 0" in result.misses[0].difference
    assert "recorded none" in result.misses[2].difference


def test_an_array_without_mirrors_is_not_checked() -> None:
    """Protects from a meaningless comparison: a recording of RAID 0 is named, and its cases are counted."""
    file = load("readchoice_raid1.json")
    content = copy.deepcopy(file.content)
    content["arrays"][0]["cmd"] = content["arrays"][0]["cmd"].replace("--level=1 ", "--level=0 ")
    [left] = checked(TruthFile(file.path, content)).not_checked
    assert (left.case, left.cases) == (content["arrays"][0]["name"], len(content["arrays"][0]["cases"]))
    assert left.reason.startswith("level raid0")


def test_the_first_shares_of_a_mirror_of_flash() -> None:
    """Protects the shares under load: one and two readers of the recorded array, in order; the first wraps around."""
    file = runs_of(load("readbalance.json"), "ssd100us", "raid1_n3")
    file.content["runs"] = [run for run in file.content["runs"] if run["workload"] in ("seq64k.j1", "rand4k.j1")]
    result = readbalance.check([file], lambda _: None)
    assert (result.cases, result.matched) == (2, 2)


def test_shares_of_another_policy_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the tolerance: if all reads went to the first mirror, the shares would be far off."""
    monkeypatch.setattr(Md61, "choose", PrimaryOnly.choose)
    file = runs_of(load("readbalance.json"), "ssd100us", "raid1_n3")
    file.content["runs"] = [run for run in file.content["runs"] if run["workload"] == "seq64k.j1"]
    result = readbalance.check([file], lambda _: None)
    assert result.misses[0].difference == "recorded 0.0 / 82.1 / 17.8, model 100.0 / 0.0 / 0.0 % of the bytes"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"member": "tape"}, "member 'tape'"),
        ({"array": "raid5_n3"}, "array 'raid5_n3'"),
        ({"cmd": "fio --rw=read --bs=4k --size=1g"}, "no --runtime"),
        ({"cmd": "fio --rw=write --bs=4k --size=1g --runtime=1s"}, "rw=write"),
    ],
)
def test_a_run_that_cannot_be_played_is_not_checked(change: dict[str, str], found: str) -> None:
    """Protects from a traceback: an unknown member, array or job is named with what is allowed."""
    file = runs_of(load("readbalance.json"), "ssd100us", "raid1_n3", change)
    result = readbalance.check([file], lambda _: None)
    assert (result.cases, len(result.not_checked)) == (0, len(file.content["runs"]))
    assert result.not_checked[0].reason.startswith(found)


@pytest.mark.slow
def test_all_recorded_shares() -> None:
    """Protects the shares of every run: within 5 points but for two, which hang on when the readers started."""
    result = readbalance.check([load("readbalance.json")], lambda _: None)
    assert result.cases == 144
    assert {miss.case for miss in result.misses} <= {
        "raid1_n3 on ssd100us seq64k.j2",
        "raid1_n3 on ssd100us seq64k.j6",
    }
