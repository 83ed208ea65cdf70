"""Arrays on partitions of the same drives share their time; logical volumes are maps over what they are on."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.supply import supply
from raidsim.scenarios.running.simulate import simulate

SECOND = {"warm_up": "100ms", "duration": "1s"}
RANDOM = {"kind": "load", "pattern": "random", "depth": 8, **SECOND}
IN_ORDER = {"kind": "load", "pattern": "sequential", "block_size": "1MiB", **SECOND}
DRIVES = ("disk0", "disk1", "disk2", "disk3")


def simulated(workload: dict[str, Any], arrays: dict[str, Any], drives: int = 4, **more: Any) -> Prediction:
    """What such a load gives."""
    text: dict[str, Any] = {"workload": workload, "arrays": arrays, **more}
    return simulate(document_from(repr(text), sets=[f"disks={drives}", "drive=WD5000AAKS"]).spec())


def sliced(parts: int, drives: int = 4) -> dict[str, Any]:
    """Each drive in so many equal partitions."""
    return {f"disk{number}": parts for number in range(drives)}


def of_slice(number: int, level: str = "raid5", **more: Any) -> dict[str, Any]:
    """An array of the partitions of a number."""
    return {"level": level, "members": [f"{drive}p{number}" for drive in DRIVES], "bitmap": "none", **more}


def total(found: Prediction) -> float:
    """I/Os per second."""
    return sum(found.iops.values())


def test_arrays_on_slices_share_the_time_of_their_drives() -> None:
    """Two arrays on slices of four drives do what one does; two arrays on drives of their own do twice that."""
    arrays = {"a": of_slice(1), "b": of_slice(2)}
    one = simulated({**RANDOM, "targets": ["a"]}, arrays, volumes=sliced(2))
    both = simulated({**RANDOM, "targets": ["a", "b"]}, arrays, volumes=sliced(2))
    apart = simulated(
        {**RANDOM, "targets": ["a", "b"]},
        {
            "a": {"level": "raid5", "members": [f"disk{number}p1" for number in range(4)], "bitmap": "none"},
            "b": {"level": "raid5", "members": [f"disk{number}p1" for number in range(4, 8)], "bitmap": "none"},
        },
        drives=8,
        volumes=sliced(2, 8),
    )
    assert 0.9 * total(one) < total(both) < 1.5 * total(one)  # a longer queue is sorted better
    assert total(apart) > 1.7 * total(one)
    assert both.member_ios == pytest.approx(total(both) * both.measured_s, rel=0.05)
    assert all(each.utilization <= 1 for each in both.drives)


@pytest.mark.parametrize("level", ["raid0", "raid1", "raid5", "raid10"])
@pytest.mark.parametrize(
    "workload", [RANDOM, IN_ORDER, {**RANDOM, "read_share": "0%"}], ids=["random", "in order", "write"]
)
def test_a_partition_costs_nothing(level: str, workload: dict[str, Any]) -> None:
    """A partition only gives I/O another offset: the first one of a drive serves as the drive does, to the last bit."""
    load = {**workload, "span": "8GiB", "duration": "300ms", "targets": ["a"]}
    array = {"level": level, "members": list(DRIVES), "chunk": "64KiB", "bitmap": "none"}
    if level == "raid1":
        del array["chunk"]
    whole = simulated(load, {"a": array})
    slice_ = simulated(load, {"a": {**array, "members": [f"{drive}p1" for drive in DRIVES]}}, volumes=sliced(2))
    assert (slice_.iops, slice_.latencies) == (whole.iops, whole.latencies)


def test_inner_slices_are_slower() -> None:
    """A hard disk's last slice lies on its inner tracks."""
    arrays = {"a": of_slice(1), "b": of_slice(6)}
    rates = [simulated({**IN_ORDER, "depth": 4, "targets": [name]}, arrays, volumes=sliced(6)).rate for name in "ab"]
    assert 0.5 * rates[0] < rates[1] < 0.85 * rates[0]  # it begins at five sixths of the disk


def test_a_stripe_over_slices_makes_disks_seek() -> None:
    """A reader of RAID 0 over arrays on slices of the same disks is slower than one of them; on other disks, faster."""
    inner = {"a": of_slice(1), "b": of_slice(4)}
    outer = {"level": "raid0", "members": ["a", "b"], "chunk": "512KiB"}
    load = {**IN_ORDER, "block_size": "4MiB"}
    one = simulated({**load, "targets": ["a"]}, inner, volumes=sliced(4))
    stripe = simulated({**load, "targets": ["both"]}, {**inner, "both": outer}, volumes=sliced(4))
    others = [f"disk{number}p1" for number in range(4, 8)]
    elsewhere = {**inner, "b": {**inner["b"], "members": others}, "both": outer}
    apart = simulated({**load, "targets": ["both"]}, elsewhere, drives=8, volumes=sliced(4, 8))
    assert stripe.rate < 0.8 * one.rate
    assert apart.rate > 1.2 * one.rate


def test_a_logical_volume_reads_where_its_array_does() -> None:
    """A linear volume on one array is that array, but for the CPU time of a clone of each I/O."""
    array = {"level": "raid5", "members": list(DRIVES), "chunk": "64KiB", "bitmap": "none"}
    load = {**RANDOM, "span": "8GiB"}
    plain = simulated({**load, "targets": ["a"]}, {"a": array})
    volume = {"lv": {"kind": "linear", "on": "a"}}
    linear = simulated({**load, "targets": ["lv"]}, {"a": array}, volumes=volume)
    assert linear.rate == pytest.approx(plain.rate, rel=0.02)
    cpu = [next(usage.utilization for usage in found.usages if usage.kind == "cpu") for found in (plain, linear)]
    assert cpu[1] > 1.05 * cpu[0]


def test_a_striped_volume_is_a_stripe() -> None:
    """A volume that is striped over drives reads as fast as RAID 0 with the same chunk; a linear one as one drive."""
    load = {**IN_ORDER, "depth": 4, "duration": "500ms"}
    stripe = {"kind": "striped", "on": list(DRIVES), "stripe": "64KiB"}
    striped = simulated({**load, "targets": ["lv"]}, {}, volumes={"lv": stripe})
    raid0 = simulated({**load, "targets": ["a"]}, {"a": {"level": "raid0", "members": list(DRIVES), "chunk": "64KiB"}})
    linear = simulated({**load, "targets": ["lv"]}, {}, volumes={"lv": {"kind": "linear", "on": list(DRIVES)}})
    assert striped.rate == pytest.approx(raid0.rate, rel=0.05)
    assert linear.rate < 0.4 * striped.rate


def test_resyncs_of_slices_wait_for_each_other() -> None:
    """md resyncs one array of a disk at a time: the second one waits for the first; on other disks neither waits."""
    check: dict[str, Any] = {"resync": {"action": "check"}}
    idle = {"kind": "idle", "warm_up": "100ms", "duration": "400ms"}
    shared = simulated(idle, {"a": of_slice(1, **check), "b": of_slice(2, **check)}, volumes=sliced(2))
    assert [each.array for each in shared.rebuilds] == ["a"]
    others = [f"disk{number}p2" for number in range(4, 8)]
    apart = simulated(
        idle,
        {"a": of_slice(1, **check), "b": of_slice(2, **check) | {"members": others}},
        drives=8,
        volumes=sliced(2, 8),
    )
    assert [each.array for each in apart.rebuilds] == ["a", "b"]
    assert all(each.rate > 10e6 for each in apart.rebuilds)
    tiny = {f"{drive}p{n}": {"on": drive, "start": f"{n * 4}MiB", "size": "4MiB"} for drive in DRIVES for n in (1, 2)}
    in_turn = simulated(idle, {"a": of_slice(1, **check), "b": of_slice(2, **check)}, volumes=tiny)
    assert [each.array for each in in_turn.rebuilds] == ["a", "b"]
    assert all(each.position == each.total_bytes for each in in_turn.rebuilds)


def test_a_drive_supplies_its_slices_once() -> None:
    """The most that arrays on slices can give together is what their drives give, however many arrays there are."""
    arrays = {name: of_slice(number, "raid0") for number, name in enumerate("abc", start=1)}
    text: dict[str, Any] = {"workload": {**RANDOM, "targets": ["a"]}, "arrays": arrays, "volumes": sliced(3)}
    spec = document_from(repr(text), sets=["disks=4", "drive=WD5000AAKS"]).spec()
    one, three = (supply(spec, names, "read") for names in (["a"], ["a", "b", "c"]))
    assert three == one
    assert supply(spec, [*DRIVES], "read").rate == one.rate
