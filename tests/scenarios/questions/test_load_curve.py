"""Load curves: the knee, saturation, and how points are chosen."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.questions.load_curve import CurvePoint, LoadCurve, at_rate, knee, load_curve
from raidsim.scenarios.running.full_load import as_much_as_it_takes
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.workers.task_pool import TaskPool
from raidsim.tests.scenarios.advice.sample_designs import design


def point(offered: float, mean: float, saturated: bool = False) -> CurvePoint:
    """A point at which all that comes is done."""
    return CurvePoint(offered, offered, mean, 3 * mean, {}, saturated)


def test_knee_of_mm1_is_at_half_the_load() -> None:
    """Kleinrock: with R = 1 / (mu - X), X / R is largest at mu / 2."""
    curve = [point(load, 1 / (100 - load)) for load in range(5, 100, 5)]
    found = knee(curve)
    assert found is not None
    assert found.offered_iops == 50


def test_knee_of_a_constant_response_time_is_the_largest_load_that_settles() -> None:
    """Without queueing more load costs nothing, until it is too much."""
    curve = [*(point(load, 0.01) for load in range(10, 100, 10)), point(100, 0.01, saturated=True)]
    found = knee(curve)
    assert found is not None
    assert found.offered_iops == 90
    assert knee([point(10, 1.0, saturated=True)]) is None


@pytest.fixture(scope="module")
def mirror() -> LoadCurve:
    """The curve of a mirror of two."""
    return load_curve(design("raid1", 2, workload={"duration": "2s", "precision": "20%"}), points=8)


def test_response_time_rises_with_the_load(mirror: LoadCurve) -> None:
    """The curve rises and ends near the saturation; what comes is done."""
    loads = [point.offered_iops for point in mirror.points]
    assert len(loads) == 8
    assert loads == sorted(loads)
    assert 0.9 * mirror.saturation_iops < loads[-1] <= mirror.saturation_iops
    means = [point.mean_s for point in mirror.points]
    assert means[-1] > 2 * means[0]
    assert all(point.p99_s > point.mean_s for point in mirror.points)
    assert not mirror.points[0].saturated
    assert all(point.iops == pytest.approx(point.offered_iops, rel=0.15) for point in mirror.points[:-1])


def test_points_are_where_the_knee_is(mirror: LoadCurve) -> None:
    """Points that were not there from the beginning stand beside the one with the largest power."""
    assert mirror.knee in mirror.points
    assert mirror.knee is not None
    assert mirror.knee.power == max(point.power for point in mirror.points)
    knee_at = mirror.knee.offered_iops / mirror.saturation_iops
    shares = [point.offered_iops / mirror.saturation_iops for point in mirror.points]
    assert len([share for share in shares if abs(share - knee_at) < 0.11]) >= 3


def test_what_never_settles_is_no_knee() -> None:
    """A load that is too much is marked, and the saturation is no higher than that."""
    spec = design("raid1", 2, workload={"duration": "3s"})
    most = simulate(as_much_as_it_takes(spec))
    over = simulate(at_rate(spec, 3 * sum(most.iops.values())))
    assert over.saturated
    assert not most.saturated


def test_users_do_not_wait_for_the_bitmap_writes_of_others() -> None:
    """RAID 10 with md's bitmap saturates above a rate that it serves, and users who think get almost as far.

    Counter-test: one thread, which sleeps for each write of the bitmap, gets a tenth; without the bitmap it gets nearly
    all.
    """

    def served(bitmap: str, **workload: object) -> float:
        given = {"read_share": 0.7, "warm_up": "400ms", "duration": "600ms", **workload}
        spec = design("raid10", 8, workload=given, bitmap=bitmap)
        return sum(simulate(spec if workload else as_much_as_it_takes(spec)).iops.values())

    assert 1100 < served("64MiB", total_iops=1200) < served("64MiB")
    assert served("64MiB", depth=256, think_time="1ms") > 1200
    assert served("64MiB", depth=256, think_time="1ms", independent=False, duration="6s") < 300
    assert served("none", depth=256, think_time="1ms", independent=False) > 2000


def test_only_loads_have_curves() -> None:
    """A dd is as fast as it is."""
    spec = design("raid1", 2)
    dd = spec.model_dump(mode="json")["workload"]["targets"]
    dumped = type(spec).model_validate(
        {**spec.model_dump(), "kernel": "linux-2.6.8", "workload": {"direction": "read", "size": "1GB", "targets": dd}}
    )
    with pytest.raises(InputError, match="--curve: a workload of kind dd"):
        load_curve(dumped)


def test_offered_loads() -> None:
    """Any load becomes an open one at a rate, and one with enough outstanding for all drives."""
    spec = design("raid5", 4, workload={"depth": 3, "jobs": 2, "think_time": "1ms"})
    opened, filled = at_rate(spec, 50.0).workload, as_much_as_it_takes(spec).workload
    assert isinstance(opened, LoadSpec)
    assert isinstance(filled, LoadSpec)
    assert (opened.total_iops, opened.depth, opened.think_time) == (50.0, 1, 0.0)
    assert opened.duration == 60.0  # 3,000 I/Os
    assert filled.depth * filled.jobs >= 32 * 4
    assert (filled.total_iops, filled.think_time) == (None, 0.0)


def _square(number: int) -> int:
    return number * number


@pytest.mark.slow
def test_pool_keeps_the_order() -> None:
    """Results come in the order of what they are of, with one process and with two."""
    for workers in (1, 2):
        with TaskPool(workers) as pool:
            assert pool.run(_square, range(10)) == [number**2 for number in range(10)]
            assert pool.run(_square, []) == []
            assert pool.done == 10
