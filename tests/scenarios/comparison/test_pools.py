"""Rebuilds of pools and their risk: both go by the space that is in use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.comparison.rebuild_time import rebuild_time, rebuild_times, rebuilt_arrays, with_rebuild
from raidsim.scenarios.comparison.reliability import data_loss
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.rebuild_comparison import compare_rebuild
from raidsim.scenarios.running.simulate import simulate

_KNOWN = "WD-Red-Pro-20TB"
"""A drive with known failure and error rates."""


def _spec(vdevs: str, drives: int = 6, model: str = "Generic-20GB-ATA", **pool: Any) -> ScenarioSpec:
    content = {
        "name": "pool",
        "machine": {"drives": {"model": model, "count": drives}},
        "pools": {"tank": {"vdevs": vdevs, "datasets": {"vm": {"volume": "1GiB", "primarycache": "metadata"}}} | pool},
        "workload": {"kind": "load", "targets": ["tank/vm"], "iops": 20, "duration": "2s", "warm_up": "1s"},
    }
    return document_from(json.dumps(content)).spec()


def test_a_rebuild_takes_as_long_as_the_used_space() -> None:
    """Twice the used space takes twice the time of a resilver, and more as inner tracks are slower."""
    half, full = (rebuild_time(_spec("raidz1", used=used)) for used in (0.4, 0.8))
    assert half is not None
    assert full is not None
    assert 1.8 < full / half < 3.5


def test_the_last_member_is_rebuilt() -> None:
    """A rebuild is looked at in the scenario with all others at work, whatever has failed in it."""
    spec = with_rebuild(_spec("raidz2", failed=["disk0"], used=0.5), "tank", 0.25)
    pool = spec.pools["tank"]
    assert pool.failed == pool.rebuilding == ("disk5",)
    assert pool.scan is not None
    assert (pool.action, pool.scan.done) == ("resilver", 0.25)
    assert rebuilt_arrays(spec) == ["tank"]


def test_a_stripe_is_not_rebuilt() -> None:
    """Counter-test: a pool without redundancy has no rebuild, and is lost with a drive."""
    spec = _spec("stripe disk0 disk1", drives=2, model=_KNOWN)
    assert rebuild_times(spec) is None
    risk = data_loss(spec, None)
    assert risk is not None
    assert risk.from_failures > 0.5 * risk.afr


def test_a_load_slows_the_rebuild_and_the_rebuild_the_load() -> None:
    """A rebuild under a load is compared with the pool degraded and whole, as with arrays."""
    found = compare_rebuild(_spec("raidz1", rebuilding=1, used=0.5, scan={"done": 0.5}))
    assert found.rebuilding.latencies["read"]["mean_s"] > found.degraded.latencies["read"]["mean_s"]
    assert found.degraded.latencies["read"]["n"] > 0
    assert not found.whole.rebuilds
    (progress,) = found.rebuilding.rebuilds
    assert (progress.array, progress.action) == ("tank", "recover")
    assert progress.rate > 0
    assert found.duration_s == progress.duration_s


def test_more_redundancy_is_less_risk() -> None:
    """Of the same drives raidz2 is safer than raidz1, and distributed spares save the wait for a new drive."""
    risks = [
        data_loss(_spec(vdevs, model=_KNOWN, used=0.5), 3600.0) for vdevs in ("raidz1", "raidz2", "draid1:3d:6c:1s")
    ]
    raidz1, raidz2, draid = (each.over_life for each in risks if each is not None)
    assert raidz2 < draid < raidz1


def test_less_used_space_meets_fewer_unreadable_sectors() -> None:
    """A resilver reads only blocks in use, so an empty pool is safer than a full one."""
    empty, full = (data_loss(_spec("raidz1", model=_KNOWN, used=used), 3600.0) for used in (0.1, 0.9))
    assert empty is not None
    assert full is not None
    assert (empty.from_read_errors or 0) < (full.from_read_errors or 0)
    assert empty.from_failures == pytest.approx(full.from_failures, rel=0.1)


def test_synchronous_writes_go_on_during_a_resilver() -> None:
    """The log is in use: a write waits for its commit, and not for a transaction group with the resilver in it."""
    datasets = {"vm": {"volume": "1GiB", "sync": "always"}}
    spec = _spec("raidz1", rebuilding=1, used=0.5, scan={"done": 0.5}, datasets=datasets)
    workload = spec.workload.model_copy(update={"read_share": 0.0})
    found = simulate(spec.model_copy(update={"workload": workload}))
    assert 0 < found.latencies["write"]["mean_s"] < 0.5


def test_a_run_sees_the_pace_of_a_scan_that_has_just_begun() -> None:
    """Finding the first blocks takes seconds of hours; a run does not mistake them for a standstill."""
    begun, halfway = (
        simulate(_spec("raidz1", rebuilding=1, used=0.5, scan={"done": done})).rebuilds[0].rate for done in (0.0, 0.4)
    )
    assert begun == pytest.approx(halfway, rel=0.4)


def test_a_scrub_is_a_check() -> None:
    """A scrub of a pool is told like a check of an array; nothing is written."""
    (progress,) = simulate(_spec("mirror disk0 disk1", drives=2, scan={"action": "scrub", "done": 0.5})).rebuilds
    assert (progress.action, progress.rate > 0) == ("check", True)


def test_a_trim_discards_what_is_free() -> None:
    """Solid-state drives are told their free ranges, in less than the second of the warm-up."""
    spec = _spec("mirror disk0 disk1", drives=2, model="Samsung-PM9A3-3840GB", used=0.5, scan={"action": "trim"})
    (progress,) = simulate(spec).rebuilds
    assert progress.action == "trim"
    assert progress.total_bytes == pytest.approx(0.48 * 3.84e12, rel=0.1)
    assert progress.position == progress.total_bytes


@pytest.mark.parametrize(
    ("pool", "found"),
    [
        ({"rebuilding": ["disk0"], "failed": ["disk1"]}, "disk0 has not failed"),
        ({"scan": {"action": "resilver"}}, "a resilver without a member in rebuilding"),
        (
            {"rebuilding": ["disk5"], "vdevs": "mirror disk0 disk1 log mirror disk4 disk5"},
            "disk5, a log device",
        ),
        ({"scan": {"done": 0.5}}, "a scan without a member in rebuilding"),
        ({"rebuilding": 1, "scan": {"action": "scrub"}}, "a scrub with a member in rebuilding"),
        ({"rebuilding": 1, "scan": {"action": "rebuild"}}, "a rebuild of disk0"),
    ],
)
def test_scans_that_cannot_be(pool: dict[str, Any], found: str) -> None:
    """What ZFS would not do is refused in one sentence."""
    with pytest.raises(InputError, match=found):
        _spec(**({"vdevs": "raidz1"} | pool))
