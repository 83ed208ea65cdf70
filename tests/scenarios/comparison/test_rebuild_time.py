"""How long a rebuild takes, from three places of the drive."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import cast

import pytest

from raidsim.scenarios.comparison import rebuild_time as module
from raidsim.scenarios.comparison.rebuild_time import (
    RebuildTimes,
    _Known,
    _Paced,
    member_bytes,
    rebuild_time,
    rebuild_times,
    rebuilt_arrays,
    with_rebuild,
)
from raidsim.scenarios.running.base.prediction import RebuildProgress
from raidsim.scenarios.running.base.run import Run
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.advice.sample_designs import design

LIGHT = {"iops": 0.1}
SLOW = {"action": "check", "speed_max": "8MB/s"}
"""A limit that keeps the simulation short."""


def test_an_idle_mirror_is_copied_at_the_drive_s_rate() -> None:
    """With hardly any load and no limit in the way the drive sets the time, and inner tracks take longer."""
    spec = design("raid1", 2, drive="Generic-20GB-ATA", workload={"iops": 5})
    drive = spec.machine.drives["d0"].hard_disk()
    outer, inner = (simulate(with_rebuild(spec, "md0", share)).rebuilds[0].duration_s for share in (0.02, 0.95))
    found = rebuild_time(spec)
    assert found is not None
    assert drive.capacity / drive.outer_media_rate < outer < found < inner


YOUNG = {"stripe_heads": 256}
"""Of a rebuild that has just begun: its stripe cache has not grown yet."""


def test_load_slows_it_down() -> None:
    """md gives way to a load; without one the rebuild is faster."""
    light, heavy = (
        rebuild_time(design("raid5", 3, drive="Generic-20GB-ATA", workload=load, resync={"action": "check", **YOUNG}))
        for load in (LIGHT, {"depth": 8})
    )
    assert light is not None
    assert heavy is not None
    assert heavy > 2 * light


def paced(load: Mapping[str, object], **limits: str) -> RebuildTimes:
    """The rebuild of a RAID 5 of three small drives, with limits of md's speed."""
    resync = {"action": "check", **YOUNG, **limits}
    found = rebuild_times(design("raid5", 3, drive="Generic-20GB-ATA", workload=dict(load), resync=resync))
    assert found is not None
    return found


def test_what_sets_the_pace_is_named() -> None:
    """md's limits by name where they do; otherwise the drives without a load, and the load where there is one.

    The idle rebuild keeps its floors: the drive's media rate, and speed_limit_max.
    """
    drive = design("raid1", 2, drive="Generic-20GB-ATA").machine.drives["d0"].hard_disk()
    loaded = paced({"depth": 2}, speed_min="1MB/s")
    assert loaded.idle_s > drive.capacity / drive.outer_media_rate
    assert "disk" in loaded.idle_limit
    assert loaded.loaded_s > 1.2 * loaded.idle_s
    assert loaded.loaded_limit == "the load"
    limited = paced(LIGHT, speed_max="8MB/s")
    assert limited.idle_limit == limited.loaded_limit == "speed_limit_max (7.63 MiB/s)"
    assert limited.idle_s == pytest.approx(drive.capacity / 8e6, rel=0.3)
    assert limited.loaded_s == pytest.approx(limited.idle_s, rel=0.05)


def test_a_rebuild_that_a_saturated_array_starves_is_no_time() -> None:
    """Below the least that md grants a rebuild the load takes all; with hardly any load there is enough."""
    starved = paced({"depth": 64, "read_share": 0.0}, speed_min="20MB/s")
    assert starved.starves
    assert starved.loaded_limit == "the load: less than speed_limit_min (19.1 MiB/s) is left"
    assert not paced(LIGHT, speed_min="5MB/s").starves


@pytest.mark.parametrize(("system", "named"), [("linux-3.10", True), ("linux-6.1", False)])
def test_only_a_kernel_that_naps_slows_a_rebuild_to_its_minimum(
    monkeypatch: pytest.MonkeyPatch, system: str, named: bool
) -> None:
    """A pace near speed_limit_min is a coincidence where md only waits for its own I/O (Linux 4.2 and later)."""
    spec = design("raid1", 2).model_copy(update={"kernel": system})
    least_s = member_bytes(spec, "md0") / 1024e3
    times = iter([_Paced(3600.0, "disks"), _Paced(least_s, "disks")])
    monkeypatch.setattr(module, "_time", lambda *_: next(times))
    found = rebuild_times(spec)
    assert found is not None
    assert found.loaded_limit.startswith("speed_limit_min") is named
    assert named or found.loaded_limit == "the load"


def test_a_rebuild_tells_how_long_reads_take_meanwhile() -> None:
    """Protects the latencies: about those of a run with the rebuild half way, and more than of the whole array.

    Counter-test: a load that is too much has none.
    """
    spec = design("raid1", 2, drive="Generic-20GB-ATA", workload={"iops": 20, "warm_up": "1s", "duration": "4s"})
    found = rebuild_times(spec)
    assert found is not None
    assert set(found.means_s) == {"read"}
    rebuilding = simulate(with_rebuild(spec, "md0", 0.5)).latencies["read"]["mean_s"]
    assert found.means_s["read"] == pytest.approx(rebuilding, rel=0.3)
    assert found.means_s["read"] > 1.2 * simulate(spec).latencies["read"]["mean_s"]
    much = rebuild_times(design("raid1", 2, drive="Generic-20GB-ATA", workload={"iops": 5000}))
    assert much is not None
    assert much.means_s == {}


def test_nothing_to_rebuild_without_redundancy() -> None:
    """RAID 0 and a drive alone have no rebuild."""
    assert rebuild_time(design("raid0", 2)) is None
    assert rebuild_time(design("raid0", 2, arrays={})) is None


def test_the_state_of_the_scenario_makes_no_difference() -> None:
    """A degraded array's rebuild is that of the whole one; limits set by hand stay."""
    whole = design("raid1", 2, workload=LIGHT, resync=SLOW)
    fresh = {**SLOW, "action": "recover", "position": "10GB"}
    degraded = design("raid1", 2, workload=LIGHT, failed=["d0"], rebuilding=["d0"], resync=fresh)
    found = rebuild_time(whole)
    assert found == rebuild_time(degraded)
    assert found == pytest.approx(whole.machine.drives["d0"].spec().capacity / 8e6, rel=0.05)


def test_a_load_of_an_io_a_minute_is_no_obstacle() -> None:
    """That none of the load's I/Os comes while the rebuild is looked at is no reason not to say how long it takes."""
    assert rebuild_time(design("raid1", 2, workload={"iops": 1e-3}, resync=SLOW)) is not None


def test_members_and_arrays_that_are_rebuilt() -> None:
    """The innermost array with redundancy: mirrors of stripes rebuild a stripe, stripes of mirrors a drive."""
    assert member_bytes(design("raid01", 4), "md0") == pytest.approx(2 * 900e9, rel=0.01)
    assert member_bytes(design("raid10", 4), "md0") == pytest.approx(900e9, rel=0.01)
    assert member_bytes(design("raid10", 4, algorithm="far"), "md0") == pytest.approx(900e9, rel=0.01)
    assert member_bytes(design("raid60", 8), "md0") == pytest.approx(900e9, rel=0.01)
    stack = {
        "a": {"level": "raid1", "members": ["d0", "d1"]},
        "b": {"level": "raid1", "members": ["d2", "d3"]},
        "md0": {"level": "raid5", "members": ["a", "b", "d4"]},
    }
    assert rebuilt_arrays(design("raid5", 5, arrays=stack)) == ["a", "b"]


@pytest.mark.parametrize(
    ("moved", "ios", "known"),
    [
        ([100.0] * 12, 20_000, True),
        ([100.0, 101.0] * 6, 20_000, True),
        ([100.0] * 11, 20_000, False),
        ([100.0] * 12, 19_999, False),
        ([*[100.0] * 6, 0.0, *[100.0] * 6], 20_000, False),
        ([100.0, 50.0, 180.0, 20.0] * 3, 20_000, False),
    ],
)
def test_an_even_pace_beside_many_requests_is_known_early(moved: list[float], ios: int, known: bool) -> None:
    """Not after few windows or I/Os, not if the thread napped, and not while the pace scatters."""
    look = _Known()
    answers, done = [], 0.0
    for number, each in enumerate(moved, 1):
        done += each
        progress = RebuildProgress("md0", "recover", done / number, 10**9, 0)
        load = SimpleNamespace(reads=ios // 2, writes=ios - ios // 2)
        machine = SimpleNamespace(engine=SimpleNamespace(now=1.0 + number), loads=[load])
        answers.append(look(cast(Run, SimpleNamespace(began=1.0, machine=machine, rebuilds=[progress].copy))))
    assert answers[-1] is known
    assert not any(answers[:11])


def test_what_is_left_of_a_reshape() -> None:
    """Protects `compare` of an array that grows: a rebuild as of an array at rest, and what is left of the reshape.

    Behind two thirds there are no old data, and zeros are written four times as fast. Counter-test: an array at rest,
    or an interrupted reshape, has none.
    """
    old = {"action": "reshape", "old": {"members": 3}, **YOUNG}
    found = {
        at: rebuild_times(design("raid5", 4, drive="Generic-20GB-ATA", workload=LIGHT, resync={**old, "at": at}))
        for at in (0.2, 2 / 3)
    }
    early, late = found[0.2], found[2 / 3]
    assert early is not None
    assert late is not None
    assert early.reshape_s is not None
    assert late.reshape_s is not None
    assert late.reshape_s == pytest.approx(20e9 / 3 / 25e6, rel=0.15)
    assert early.reshape_s - late.reshape_s == pytest.approx((2 / 3 - 0.2) * 20e9 / 6.5e6, rel=0.15)
    assert early.loaded_s == pytest.approx(late.loaded_s, rel=0.05)
    assert paced(LIGHT).reshape_s is None
    frozen = rebuild_times(
        design("raid5", 4, drive="Generic-20GB-ATA", workload=LIGHT, resync={**old, "at": 0.2, "frozen": True})
    )
    assert frozen is not None
    assert frozen.reshape_s is None
