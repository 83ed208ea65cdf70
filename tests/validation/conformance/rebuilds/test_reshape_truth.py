"""The conformance check of reshape: what it takes, and that it notices what differs."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.kernels import kernel
from raidsim.validation.conformance.base import KindResult, TruthFile
from raidsim.validation.conformance.rebuilds import reshape
from raidsim.validation.conformance.truth_files import load_truth

NAME = "serial1ms64k.raid5_n3to4.reshape"
OFFSETS = "2048/1664"


def recorded() -> dict[str, Any]:
    """The first recorded run, alone in its file."""
    file = load_truth().by_kind["reshape"][0]
    content: dict[str, Any] = copy.deepcopy(file.content)
    content["runs"] = content["runs"][:1]
    return content


def checked(content: dict[str, Any]) -> KindResult:
    """What the check says of a file."""
    return reshape.check([TruthFile(Path("mine.json"), content)], lambda _: None)


def test_the_beginning_is_exact_until_the_stripe_cache_is_full() -> None:
    """Protects window, superblocks, rows and merging: the first 300 requests after the preparation are the same."""
    content = recorded()
    content["runs"][0]["start"] = content["runs"][0]["start"][: 18 + 300]
    result = checked(content)
    assert (result.cases, result.matched, result.misses) == (3, 3, [])


def test_other_rates_sectors_and_bytes_are_noticed() -> None:
    """Counter-test: each of the three cases can fail."""
    content = recorded()
    run = content["runs"][0]
    run["start"] = [[at, member, kind, sector + 8, size] for at, member, kind, sector, size in run["start"][:300]]
    run["member_KBs"] = [[2 * read, 2 * written] for read, written in run["member_KBs"]]
    run["whole"]["member_delta"][0]["read_KiB"] *= 1.1
    assert Counter(miss.case.rsplit(" ", 1)[-1] for miss in checked(content).misses) == {
        "rate": 1,
        "requests": 1,
        "whole": 1,
    }


@pytest.mark.parametrize(
    ("name", "state", "levels"),
    [
        ("raid5_n4to6.reshape", "layout 2 chunk 65536 disks 6 (4) offsets 2048/1408", ("raid5", "raid5")),
        ("raid10n2_n4to6.reshape", "layout 258 chunk 65536 disks 6 (4) offsets 2048/1920", ("raid10", "raid10")),
        ("raid10_n4to6.reshape", "layout 258 chunk 65536 disks 6 (4) offsets 2048/1920", ("raid10", "raid10")),
        ("raid5to6_n4to5.reshape", "layout 2 (18) chunk 65536 disks 5 offsets 2048/1024", ("raid5", "raid6")),
        ("raid5_n4.reshape_level6", "layout 2 (18) chunk 65536 disks 5 offsets 2048/1024", ("raid5", "raid6")),
        ("raid5_n4to5.reshape", "layout 2 (18) chunk 65536 disks 5 offsets 2048/1024", ("raid5", "raid6")),
        ("raid5_n4to4.reshape", "layout 2 chunk 131072 (65536) disks 4 offsets 2048/1024", ("raid5", "raid5")),
    ],
)
def test_other_reshapes_are_played(name: str, state: str, levels: tuple[str, str]) -> None:
    """Protects recordings of one's own: other counts, levels and chunks, in the words of sysfs."""
    content = recorded()
    run = content["runs"][0]
    run["name"], run["state"] = f"serial1ms64k.{name}", f"position 0 {state}"
    bench = reshape.Bench("mine.json", run, kernel("linux-6.1"))
    geometry = bench.array.geometry
    assert (geometry.old.level, geometry.new.level) == levels
    bench.engine.run(until=0.2)
    assert bench.array.progress > 0


def test_what_the_model_does_not_do_is_not_checked() -> None:
    """A reshape backwards is told apart from a miss."""
    content = recorded()
    content["runs"][0]["state"] = content["runs"][0]["state"].replace(OFFSETS, "1664/2048")
    result = checked(content)
    assert (result.cases, result.cases_not_checked) == (0, 3)
