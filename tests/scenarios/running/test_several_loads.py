"""Several loads at the same time."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.comparison import rebuild_time
from raidsim.scenarios.comparison.rebuild_time import rebuild_times
from raidsim.scenarios.description.any_workload import LoadsSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.load_curve import curve_steps
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.running.watched_load import LEAST_IOS

MACHINE = """
machine: {model: server, drives: {model: Exos-15E900-900GB, count: 4}}
arrays: {md0: {level: raid10, bitmap: none}}
"""
READER = "{name: reader, total_iops: 100, block_size: 4KiB}"
STREAM = "{name: stream, pattern: sequential, block_size: 1MiB, read_share: 0%, depth: 4}"


def run(*loads: str, duration: str = "1s", **sets: Any) -> Prediction:
    """The loads on a RAID 10 of four."""
    text = f"{MACHINE}workloads: [{', '.join(loads)}]\nworkload: {{warm_up: 300ms, duration: {duration}}}"
    return simulate(document_from(text, sets=[f"{name}={value}" for name, value in sets.items()]).spec())


def test_each_load_has_its_results_and_all_add_up() -> None:
    """Rates and I/Os of the loads are those of the machine; the reader waits for the stream, and alone it does not."""
    both, alone = run(READER, STREAM), run(READER)
    assert list(both.loads) == ["reader", "stream"]
    reader, stream = both.loads.values()
    assert both.rate == pytest.approx(reader.rate + stream.rate)
    assert sum(both.iops.values()) == pytest.approx(sum(reader.iops.values()) + sum(stream.iops.values()))
    assert list(reader.iops) == ["read"]
    assert list(stream.iops) == ["write"]
    assert reader.iops["read"] == pytest.approx(100, rel=0.25)
    assert both.figures["stream.rate"] == stream.rate
    assert both.estimates["reader.read_mean_seconds"].mean == pytest.approx(reader.latencies["read"]["mean_s"])
    assert reader.latencies["read"]["mean_s"] > 2 * alone.latencies["read"]["mean_s"]
    assert alone.loads["reader"].latencies == alone.latencies


def test_one_of_several_is_the_load_alone() -> None:
    """Protects from a second model of a load: a list of one sends what a workload alone sends, but for its name."""
    listed = run("{name: load, depth: 8, read_share: 50%}")
    text = f"{MACHINE}workload: {{depth: 8, read_share: 50%, warm_up: 300ms, duration: 1s}}"
    assert listed.iops == simulate(document_from(text).spec()).iops


def test_a_load_is_there_from_its_beginning_to_its_end() -> None:
    """A load of half of the time sends half of the I/Os, at the rate that it says while it is there."""
    found = run("{name: early, total_iops: 200, end: 1s}", "{name: late, total_iops: 200, begin: 1s}", duration="2s")
    for load in found.loads.values():
        assert load.seconds == 1.0
        assert load.iops["read"] == pytest.approx(200, rel=0.2)
    assert found.iops["read"] == pytest.approx(200, rel=0.15)


def test_a_load_that_is_too_much_is_saturated_and_the_other_is_not() -> None:
    """Who sends more than its own drive takes is told; the load on another drive is not touched by it."""
    machine = "machine: {model: server, drives: {model: Exos-15E900-900GB, count: 2}}\n"
    loads = "[{name: much, targets: disk0, total_iops: 3000}, {name: little, targets: disk1, total_iops: 50}]"
    text = f"{machine}workloads: {loads}\nworkload: {{warm_up: 300ms, duration: 1s}}"
    found = simulate(document_from(text).spec())
    assert found.saturated
    assert {name: load.saturated for name, load in found.loads.items()} == {"much": True, "little": False}


def test_a_rebuild_goes_on_beside_all_of_them() -> None:
    """Rebuild times are those beside all loads, also where one begins after the moment that is looked at."""
    small = "machine: {model: server, drives: {model: Generic-20GB-ATA, count: 2}}\narrays: {md0: {level: raid1}}\n"
    few, many = "{name: few, total_iops: 5, read_share: 0%}", "{name: many, depth: 8, read_share: 0%, begin: 5s}"
    alone, both = (
        rebuild_times(document_from(f"{small}workloads: [{', '.join(loads)}]").spec()) for loads in ([few], [few, many])
    )
    assert alone is not None
    assert both is not None
    assert both.idle_s == alone.idle_s
    assert both.loaded_s > 1.3 * alone.loaded_s


@pytest.mark.parametrize(
    ("loads", "said"),
    [
        ("[{depth: 1}]", r"<text>:4: field workloads\[0\].name: .*missing"),
        ("[{name: a}, {name: a}]", r"<text>:4: field workloads\[1\].name: found a twice; expected: each name once"),
        ("[{name: a, duration: 5s}]", "found duration of one of several loads; expected: in workload, for all loads"),
        ("[{name: a, begin: 9s, end: 8s}]", "found a load from 9 s to 8 s .* expected: an end after its beginning"),
        ("[{name: a, begin: 20s}]", "found a load from 20 s to 10 s of a measurement of 10 s"),
        ("[{name: a, targets: md7}]", r"<text>:4: field workloads\[0\].targets.*: found unknown target 'md7'"),
        ("[{name: a, block_size: 1000B}]", r"field workloads\[0\].block_size: found 1000 bytes"),
        (
            "[{name: a}]\nworkload: {depth: 4}",
            "found depth of a workload next to workloads; expected: warm_up, duration",
        ),
        ("{a: {depth: 1}}", "<text>:4: field workloads: found a mapping; expected: a list"),
    ],
)
def test_nonsense_is_refused_with_its_place(loads: str, said: str) -> None:
    """The message names the load and the field, what was found and what is expected."""
    with pytest.raises(InputError, match=said):
        document_from(f"{MACHINE}workloads: {loads}").spec()


def test_each_load_is_measured_to_the_precision() -> None:
    """The run ends when both loads are known so well; the slower one, which needs longer, decides."""
    machine = "machine: {model: server, drives: {model: Exos-15E900-900GB, count: 2}}\n"
    loads = "[{name: fast, targets: disk0, depth: 4}, {name: slow, targets: disk1, block_size: 256KiB}]"
    found = simulate(document_from(f"{machine}workloads: {loads}\nworkload: {{precision: 3%}}").spec())
    relative = {name: each.estimates["iops"].relative for name, each in found.loads.items()}
    assert found.precision_reached == max(relative.values()) <= 0.03
    for load in found.loads.values():
        assert load.estimates["iops"].mean == pytest.approx(sum(load.iops.values()))
        assert load.seconds == pytest.approx(found.seconds)
        assert found.seconds < 100
        assert load.latencies["read"]["n"] >= LEAST_IOS


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ("{name: late, begin: 1s}", "begin of a load that is measured to a precision; expected: loads that are there"),
        ("{name: own, duration: 1s}", "duration of one of several loads; expected: in workload, for all loads"),
        ("{name: own, precision: 1%, duration: 10s}", "duration of one of several loads|precision of one of several"),
    ],
)
def test_what_a_precision_of_several_loads_cannot_be(load: str, words: str) -> None:
    """One message each, with what is expected."""
    with pytest.raises(InputError, match=words):
        document_from(f"{MACHINE}workloads: [{READER}, {load}]\nworkload: {{precision: 5%}}").spec()


def test_hopeless_loads_end_the_run_and_their_capacity_is_found() -> None:
    """A load of which a fifth is served is seen after a moment; the figures are those of users who keep all busy."""
    much = "{name: much, total_iops: 200000, block_size: 4KiB}"
    found = run(much, STREAM)
    assert found.notes == ("the figures are those of users with the I/Os of much who keep everything busy",)
    assert found.loads["much"].offered_iops == 200_000
    assert {name: load.saturated for name, load in found.loads.items()} == {"much": True, "stream": False}
    users = run("{name: much, depth: 256, independent: true, block_size: 4KiB}", STREAM)
    assert found.loads["much"].iops["read"] == pytest.approx(users.loads["much"].iops["read"], rel=0.05)
    assert found.events < 0.5 * 200_000
    assert not run(READER, STREAM).notes


def test_a_warm_up_may_end_where_the_last_look_for_hopeless_loads_is() -> None:
    """Twelve looks of 50 ms are over at 0.6000000000000001 s, and the measurement begins then."""
    found = run(READER, duration="100ms", **{"workload.warm_up": f"{12 * 0.05}s"})
    assert found.measured_s == pytest.approx(0.1)


def test_a_rebuild_beside_hopeless_loads_is_that_beside_busy_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backlog is not simulated: the rebuild's rate is that beside users who keep everything busy."""
    monkeypatch.setattr(rebuild_time, "_PLACES", ((0.5, 1.0),))
    small = "machine: {model: server, drives: {model: Generic-20GB-ATA, count: 2}}\narrays: {md0: {level: raid1}}\n"
    ways = ["workload: {kind: load, total_iops: 300000}", "workloads: [{name: load, total_iops: 300000}]"]
    ways += ["workload: {kind: load, depth: 128, independent: true}"]
    found = [rebuild_times(document_from(small + way).spec()) for way in ways]
    assert None not in found
    assert len({each.loaded_s for each in found if each is not None}) == 1


def test_a_curve_raises_the_first_load_beside_the_others() -> None:
    """Only the first load's rate is raised, and the points are what it gets."""
    text = f"{MACHINE}workloads: [{READER}, {STREAM}]\nworkload: {{warm_up: 100ms, duration: 300ms}}"
    given = document_from(text).spec()
    assert isinstance(given.workload, LoadsSpec)
    steps = curve_steps(given, 6)
    (full,) = next(steps)
    most = simulate(full)
    asked = steps.send([most])
    saturation = sum(most.loads["reader"].iops.values())
    for spec, share in zip(asked, (0.1, 0.3, 0.5, 0.7, 0.85, 0.95), strict=True):
        assert isinstance(spec.workload, LoadsSpec)
        reader, stream = spec.workload.loads
        assert reader.total_iops == pytest.approx(share * saturation)
        assert stream == given.workload.loads[1]
        assert spec.workload.duration == pytest.approx(3 * LEAST_IOS / (share * saturation))
    with pytest.raises(StopIteration) as end:
        steps.send([most] * 6)
    assert {point.iops for point in end.value.value.points} == {saturation}
    late = f"{MACHINE}workloads: [{{name: late, begin: 500ms}}]\nworkload: {{duration: 1s}}"
    with pytest.raises(InputError, match="--curve: late, whose rate is raised, is there only for a part of the time"):
        next(curve_steps(document_from(late).spec(), 6))
