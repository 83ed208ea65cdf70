"""Arrays that are being reshaped: what a scenario may say, and what is refused."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from

DISKS = "machine: {model: server, drives: {model: WD800JB, count: 6}}"


def scenario(array: str, kernel: str = "linux-6.1") -> ScenarioSpec:
    """A scenario with one array."""
    text = f"kernel: {kernel}\n{DISKS}\narrays: {{md0: {array}}}\n"
    return document_from(text).spec()


def test_a_state_says_the_old_layout_and_the_share() -> None:
    """`state` is short for what `resync` says; there is no bitmap."""
    short = scenario("{level: raid5, members: 4, state: {reshaping: {from: {members: 3}, at: 40%, speed_max: 10MB/s}}}")
    long = scenario(
        "{level: raid5, members: 4, bitmap: none, "
        "resync: {action: reshape, old: {members: 3}, at: 40%, speed_max: 10MB/s}}"
    )
    assert short == long


def test_explicit_settings_apply_to_a_state() -> None:
    """`resync` next to `state` is for that resync: what it says is not lost (--set arrays.md0.resync.speed_max)."""
    state = "state: {reshaping: {from: {members: 3}, at: 40%, speed_min: 1MB/s}}"
    spec = scenario(f"{{level: raid5, members: 4, {state}, resync: {{speed_max: 2MB/s, at: 50%}}}}")
    resync = spec.arrays["md0"].resync
    assert resync is not None
    assert resync.old is not None
    assert (resync.speed_max, resync.speed_min, resync.at) == (2e6, 1e6, 0.5)


@pytest.mark.parametrize(
    ("array", "smaller"),
    [
        ("{level: raid5, members: 4, state: {reshaping: {from: {members: 3}}}}", "{level: raid5, members: 3}"),
        (
            "{level: raid6, members: 5, state: {reshaping: {from: {level: raid5, members: 4}}}}",
            "{level: raid5, members: 4}",
        ),
        ("{level: raid10, members: 6, state: {reshaping: {from: {members: 4}}}}", "{level: raid10, members: 4}"),
        ("{level: raid5, members: 4, state: {reshaping: {from: {chunk: 64KiB}}}}", "{level: raid5, members: 4}"),
    ],
)
def test_the_array_has_the_size_of_the_smaller_layout(array: str, smaller: str) -> None:
    """Until the reshape is over the array does not grow, and a little goes to the move of the data offset."""
    size, least = (scenario(each).capacity("md0") for each in (array, smaller))
    assert 0.999 * least < size <= least


@pytest.mark.parametrize(
    ("array", "kernel", "said"),
    [
        ("{level: raid5, members: 3, state: {reshaping: {from: {members: 4}}}}", "linux-6.1", "4 of 3 members"),
        ("{level: raid5, members: 4, state: {reshaping: {from: {level: raid10}}}}", "linux-6.1", "raid10 into raid5"),
        ("{level: raid1, members: 3, state: {reshaping: {from: {members: 2}}}}", "linux-6.1", "raid1 into raid1"),
        (
            "{level: raid5, members: 4, bitmap: 64MiB, resync: {action: reshape, old: {members: 3}}}",
            "linux-6.1",
            "bitmap",
        ),
        ("{level: raid5, members: 4, bitmap: none, resync: {action: reshape}}", "linux-6.1", "without old"),
        (
            "{level: raid5, members: 4, bitmap: none, resync: {action: check, old: {members: 3}}}",
            "linux-6.1",
            "with old",
        ),
        ("{level: raid5, members: 4, resync: {action: check, at: 10%, position: 1GB}}", "linux-6.1", "one of them"),
        ("{level: raid5, members: 4, state: {reshaping: {from: {members: 3}}}}", "linux-2.6.8", "Linux 4.4 or later"),
        (
            "{level: raid10, members: 5, state: {reshaping: {from: {members: 4}, backup: disk5}}}",
            "linux-6.1",
            "data offset always moves",
        ),
        (
            "{level: raid5, members: 4, state: {reshaping: {from: {members: 3}, backup: disk0}}}",
            "linux-6.1",
            "disk0 is part of md0 already",
        ),
        (
            "{level: raid5, members: 4, state: {reshaping: {from: {members: 3}, backup: tape}}}",
            "linux-6.1",
            "'tape' is no drive",
        ),
        ("{level: raid5, members: 4, resync: {action: check, frozen: true}}", "linux-6.1", "with a reshape"),
        ("{level: raid5, members: 4, state: growing}", "linux-6.1", "whole, degraded, rebuilding"),
        ("{level: raid5, members: 4, state: {growing: {}}}", "linux-6.1", "whole, degraded, rebuilding"),
    ],
)
def test_what_md_does_not_do_is_refused(array: str, kernel: str, said: str) -> None:
    """One message each, which says what is allowed."""
    with pytest.raises(InputError, match=said):
        scenario(array, kernel).capacity("md0")
