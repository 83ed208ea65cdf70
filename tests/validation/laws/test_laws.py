"""Each law by itself: a scenario that keeps it, and where it has nothing to say."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import drive
from raidsim.validation.laws.laws import LAWS
from raidsim.validation.laws.symmetry import slower
from raidsim.validation.laws.trial import Trial

LOAD: dict[str, Any] = {
    "kind": "load",
    "targets": ["md0"],
    "block_size": "16KiB",
    "pattern": "random",
    "read_share": "100%",
    "depth": 16,
    "engine": "libaio",
    "warm_up": "5ms",
    "duration": "20ms",
}


def trial(array: dict[str, Any] | None = None, model: str = "Samsung-PM9A3-3840GB", **load: Any) -> Trial:
    """A load on an array of four flash drives, or on the first of them."""
    scenario: dict[str, Any] = {"kernel": "linux-6.12", "machine": {"model": "server"}}
    scenario["machine"]["drives"] = {"model": model, "count": 4, "state": "sequential"}
    if drive(model).rotational:
        del scenario["machine"]["drives"]["state"]
    if array is not None:
        scenario["arrays"] = {"md0": array}
    else:
        load = {"targets": ["disk0"], **load}
    return Trial({**scenario, "workload": {**LOAD, **load}})


FOUR = [f"disk{number}" for number in range(4)]
RAID0 = {"level": "raid0", "members": FOUR}
RAID5 = {"level": "raid5", "members": FOUR, "bitmap": "none"}
DEGRADED = {**RAID5, "failed": ["disk1"]}
CASES = {
    "block-step": trial(),
    "chunk-step": trial(RAID0),
    "conservation": trial({**RAID5, "level": "raid10"}, read_share="0%"),
    "destaged": trial(model="IronWolf-8TB", read_share="0%", warm_up="0.2s", duration="1s"),
    "endings": trial(DEGRADED, read_share="70%"),
    "swapped": trial(RAID0),
    "slower": trial(RAID0),
    "many-drives": trial(),
    "degraded": trial(DEGRADED),
    "beside-resync": trial({**RAID5, "resync": {"action": "check"}}),
    "fewer-reads": trial(RAID5),
    "cpu-time": trial(),
    "cpu-grows": trial(),
    "power": trial(),
    "fio": trial(),
    "replay": trial(RAID0),
    "compare": trial(RAID5),
    "curve": trial(RAID0, read_share="0%"),
    "waits": trial({**RAID5, "bitmap": "64MiB"}, read_share="50%"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_machine_that_keeps_the_law(name: str) -> None:
    """Protects the laws from false alarms: it is about the scenario, and has nothing to say against it."""
    law, case = LAWS[name], CASES[name]
    assert law.where(case)
    assert list(law.check(case)) == []


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("block-step", trial(read_share="0%")),
        ("chunk-step", trial()),
        ("conservation", trial(DEGRADED, read_share="0%")),
        ("destaged", trial(read_share="0%")),
        ("swapped", trial()),
        ("many-drives", trial(RAID0)),
        ("degraded", trial(RAID5)),
        ("beside-resync", trial(RAID5)),
        ("fewer-reads", trial({**RAID5, "level": "raid10"})),
        ("fio", trial(locality="zipf")),
    ],
)
def test_a_machine_that_the_law_is_not_about(name: str, other: Trial) -> None:
    """Protects scenarios for which the statement makes no sense."""
    assert not LAWS[name].where(other)


def test_conservation_counts_parity() -> None:
    """Random writes of whole pages on RAID 5: between a row's share of parity and a block of it for each block."""
    law = LAWS["conservation"]
    small = trial(RAID5, read_share="0%", warm_up="10ms", duration="60ms")
    assert law.where(small)
    assert list(law.check(small)) == []
    assert not law.where(trial(RAID5, read_share="0%", block_size="512B"))


@pytest.mark.parametrize("name", ["IronWolf-8TB", "Samsung-PM9A3-3840GB"])
def test_a_slower_drive_takes_twice_the_time(name: str) -> None:
    """Every time of the description doubles, and every rate halves; the drive stays one that is accepted."""
    spec = drive(name)
    changed = spec.with_values(**slower(spec))
    assert changed.read_overhead == pytest.approx(2 * spec.read_overhead)
    assert changed.interface_rate == pytest.approx(spec.interface_rate / 2)
    if isinstance(spec, DriveSpec):
        assert isinstance(changed, DriveSpec)
        assert changed.rotation == pytest.approx(spec.rotation / 2)
