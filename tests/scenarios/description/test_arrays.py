"""Arrays as data: what they mean, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.arrays import ArraySpec


@pytest.mark.parametrize(
    ("array", "words"),
    [
        ({"members": ["a", "a", "b"]}, ["a, a, b", "each device once"]),
        ({"failed": ["x"]}, ["failed: x is not a member", "a, b, c, d"]),
        ({"rebuilding": ["x"]}, ["rebuilding: x is not a member"]),
        ({"rebuilding": ["a"]}, ["rebuilding: a has not failed", "none"]),
        ({"failed": ["b"], "rebuilding": ["a"]}, ["rebuilding: a has not failed", "expected: b"]),
        ({"resync": {"speed_max": "1MB/s"}}, ["resync without a member being rebuilt"]),
        ({"level": "raid6", "members": ["a", "b", "c"]}, ["3"]),
        ({"algorithm": "sideways"}, ["sideways", "left-symmetric"]),
        ({"level": "raid9"}, ["raid9", "raid5"]),
        ({"level": "raid0", "bitmap": "64MiB"}, ["bitmap", "raid0", "raid1"]),
        ({"level": "raid1", "journal": "e"}, ["journal of raid1", "raid5"]),
        ({"balance": "md-2.6"}, ["balance of raid5", "raid1"]),
        ({"level": "raid1", "balance": "best"}, ["'best'", "md-2.6"]),
        ({"level": "raid1", "write_mostly": ["x"]}, ["write_mostly: x is not a member"]),
        ({"level": "raid1", "prefer": "a"}, ["prefer", "write it as balance: {name: gmirror-prefer, prefer: ...}"]),
        ({"level": "raid1", "slice": "4KiB"}, ["slice", "write it as balance: {name: gmirror-split, slice: ...}"]),
        ({"level": "raid1", "balance": {"name": "gmirror-load", "slice": "4KiB"}}, ["balance.slice", "unknown"]),
        ({"level": "raid1", "balance": {"name": "gmirror-split", "slice": 0}}, ["balance.slice", "0"]),
        ({"level": "raid1", "balance": ["md-2.6"]}, ["balance", "['md-2.6']", "a policy's name"]),
        ({"level": "raid1", "balance": {"slice": "4KiB"}}, ["balance", "name"]),
        ({"level": "raid1", "balance": {"name": "gmirror-prefer", "prefer": "x"}}, ["prefer: x is not a member"]),
        ({"level": "raid01", "balance": {"name": "gmirror-prefer", "prefer": "a"}}, ["a is not a member", "a mirror"]),
        ({"rmw_level": 3}, ["rmw_level", "3"]),
        ({"round_robin": True}, ["round_robin of raid5", "raid3"]),
        ({"resync": {"action": "check"}, "failed": ["a"], "rebuilding": ["a"]}, ["a check", "recover"]),
        ({"level": "raid3", "resync": {"action": "check"}}, ["resync.action", "a check of raid3", "recover"]),
        ({"bitmap": "5000B"}, ["bitmap", "power of two of at least 4 KiB"]),
        ({"level": "raid1", "balance": "ataraid"}, ["balance", "ataraid on a mirror of 4"]),
        ({"level": "raid10", "balance": "gmirror-split"}, ["balance", "gmirror-split on md's RAID 10"]),
        ({"level": "raid01", "write_mostly": ["a"]}, ["write_mostly of raid01", "raid1"]),
        ({"copies": 2}, ["copies", "raid10"]),
        ({"level": "raid50"}, ["raid50 of 4 disks"]),
        ({"level": "raid10", "members": ["a", "b", "c"], "algorithm": "striped-mirrors"}, ["striped mirrors of 2"]),
    ],
)
def test_what_an_array_cannot_be(array: dict[str, Any], words: list[str]) -> None:
    """Protects from arrays that do not exist, each with its own words."""
    document = {"level": "raid5", "members": ["a", "b", "c", "d"], **array}
    with pytest.raises(InputError) as caught:
        validate(ArraySpec, document)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_an_array_that_is_rebuilding() -> None:
    """The counter-test: a failed member that is rebuilt, with limits set by hand, is fine."""
    array = validate(
        ArraySpec,
        {
            "level": "raid5",
            "members": ["a", "b", "c", "d"],
            "failed": ["b"],
            "rebuilding": ["b"],
            "resync": {"speed_max": "10MB/s", "position": "1GiB"},
        },
    )
    assert array.resync is not None
    assert array.resync.speed_max == pytest.approx(10e6)
    assert array.layout([1 << 30] * 4).capacity == 3 << 30


def test_unequal_members_are_used_to_the_end_of_the_smallest() -> None:
    """Protects mixed members: a mirror or RAID 5 has the smallest member's size, linear has all of each."""
    sizes = [1 << 30, 3 << 30, 2 << 30]
    members = ["a", "b", "c"]
    capacities = {
        level: validate(ArraySpec, {"level": level, "members": members}).layout(sizes).capacity
        for level in ("raid1", "raid5", "linear")
    }
    assert capacities == {"raid1": 1 << 30, "raid5": 2 << 30, "linear": 6 << 30}
