"""The check of rebuilds against their recordings: what is compared, and that it comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.model.raid.mirrors import daemon
from raidsim.validation.conformance.base import KindResult, TruthFile
from raidsim.validation.conformance.rebuilds.rebuild import check, member_kind

PATH = Path(raidsim.__file__).parent / "validation" / "truth" / "rebuild"
FIFO, SORTED = "rebuild_fix4_fifo_6.1.json", "rebuild_seek_dl_6.1.json"


def recorded(file: str, case: str) -> dict[str, Any]:
    """A recording, cut to one case."""
    content: dict[str, Any] = json.loads((PATH / file).read_text())
    content["rebuilds"] = [each for each in content["rebuilds"] if each["name"] == case]
    assert content["rebuilds"]
    return content


def checked(file: str, content: dict[str, Any]) -> KindResult:
    """The result for a recording."""
    return check([TruthFile(PATH / file, content)], lambda name: None)


@pytest.mark.parametrize(
    ("file", "case"),
    [
        (FIFO, "fix4_fifo.r1.recover.rr1"),
        (FIFO, "fix4_fifo.r1.recover.poi20"),
        (FIFO, "fix4_fifo.r10.recover.poi20"),
        (FIFO, "fix4_fifo.r10.check.rr1"),
        (SORTED, "seek_dl.r1.recover.poi20"),
        (SORTED, "seek_dl.r5.recover.poi20"),
    ],
)
def test_a_rebuild_beside_a_load_is_as_recorded(file: str, case: str) -> None:
    """Protects rate, response time, and what the members do, with and without a scheduler."""
    result = checked(file, recorded(file, case))
    assert (result.cases, [miss.difference for miss in result.misses]) == (1, [])


def test_writes_that_do_not_merge_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test: without md's plug over its list, RAID 1 without a scheduler rebuilds at a fifth of the rate."""

    def alone(self: daemon.MirrorDaemon, work: daemon.Work, seconds: float = 0.0) -> None:
        work()
        self._submitter.end_range()
        self._submitter.rest()

    monkeypatch.setattr(daemon.MirrorDaemon, "add", alone)
    case = "fix4_fifo.r1.recover.poi20"
    (miss,) = checked(FIFO, recorded(FIFO, case)).misses
    assert "sync KiB/s: 81,337.0 recorded, 14," in miss.difference
    assert "requests/s" in miss.difference


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("settings", {"bitmap": "4"}, "setting bitmap"),
        ("op", "reshape", "op 'reshape'"),
        ("foreground", "mix", "foreground 'mix'"),
        ("array", "r7", "array 'r7'"),
    ],
)
def test_what_is_not_modeled_is_not_checked(field: str, value: object, said: str) -> None:
    """Protects from comparing another machine: an unknown word is named, and the case is no miss."""
    content = recorded(FIFO, "fix4_fifo.r1.recover.poi20")
    content["rebuilds"][0][field] = value
    result = checked(FIFO, content)
    assert (result.cases, result.cases_not_checked) == (0, 1)
    assert said in result.not_checked[0].reason


def test_members_are_read_from_their_description() -> None:
    """Protects the notation: times in ns, speed in KiB/s, the scheduler in brackets, "near" in the name."""
    member = recorded(SORTED, "seek_dl.r1.recover.poi20")["member"]
    kind = member_kind(member)
    assert kind.fixed_s + 195_312 * 1024 * kind.byte_s == pytest.approx(1.0001)
    assert (kind.holds, kind.scheduler_requests, kind.nearest) == (1, 64, False)
    assert member_kind(member | {"name": "seek_near", "scheduler": "mq-deadline [none]"}).nearest
