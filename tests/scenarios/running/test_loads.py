"""Loads described by what they do: what may stand in a file, and what the jobs then send."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ
from raidsim.model.files.description_errors import changed, validate
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.direct_load import DirectLoad
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.loads.thinking_load import ThinkingLoad
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.full_load import as_much_as_it_takes
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import scenario_document

KIB = 1 << 10
GIB = 1 << 30
BASE: dict[str, Any] = {"kind": "load", "targets": ["sda"]}


def load(**fields: Any) -> LoadSpec:
    """A load as a file has it."""
    return validate(LoadSpec, {**BASE, **fields})


def on_drive(seed: int = 1, **fields: Any) -> ScenarioSpec:
    """A load on one drive."""
    document = scenario_document(kernel="linux-6.1", seed=seed)
    return validate(ScenarioSpec, {**document, "workload": {**BASE, **fields}})


def jobs(**fields: Any) -> list[DirectLoad]:
    """The jobs of a load on one drive."""
    return BuiltMachine(on_drive(**fields)).loads


def sent(job: DirectLoad, count: int = 2000) -> list[tuple[int, int, int]]:
    """The first I/Os of a job."""
    return list(islice(job._ios, count))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"block_size": {"4KiB": "60%", "64KiB": "30%"}}, "field block_size: found shares of 90 % in all; .* 100 %"),
        ({"block_size": {"4KiB": "60%", "1000B": "40%"}}, "field block_size.1000B: found 1000 bytes; .* 512 bytes"),
        ({"block_size": {}}, "field block_size: found shares of 0 % in all"),
        ({"read_size": "1000B"}, "field read_size: found 1000 bytes"),
        ({"align": "100B"}, "field align: found 100 bytes"),
        ({"arrivals": "bursty"}, "field arrivals: found bursty arrivals without a rate; .* iops or total_iops"),
        ({"arrivals": "burst", "iops": 9}, "field arrivals: found the kind 'burst'; did you mean 'bursty'"),
        ({"arrivals": {"kind": "bursty", "burst_factor": 11}, "iops": 9}, r"arrivals.burst_factor: .* up to 10,"),
        ({"arrivals": {"kind": "bursty", "burst_share": "100%"}, "iops": 9}, "arrivals.burst_share: .* between 0"),
        ({"arrivals": {"kind": "histogram"}}, "field arrivals: found neither gaps nor times"),
        ({"arrivals": {"kind": "histogram", "gaps": {"1ms": "99%"}}}, "field arrivals.gaps: found shares of 99 %"),
        ({"arrivals": {"kind": "histogram", "gaps": {"1": "100%"}}}, "field arrivals.gaps.1: found '1' has no unit"),
        ({"arrivals": {"kind": "histogram", "times": ["0s"]}}, "field arrivals.times: found no time above 0"),
        ({"iops": 9, "total_iops": 9}, "field total_iops: found iops and total_iops; expected: one of the two"),
        ({"total_iops": 9, "depth": 2}, "field total_iops: found total_iops with a depth of 2"),
        ({"iops": 9, "think_time": "1ms"}, "field iops: found iops with a think_time"),
        ({"think_time": "1"}, "field think_time: found '1' has no unit"),
        ({"pattern": "sequential", "locality": "zipf"}, "field locality: found a locality of sequential I/Os"),
        ({"run_length": 4}, "field run_length: found run_length with pattern random; expected: with pattern mixed"),
        ({"pattern": "mixed", "run_length": 1}, "field run_length: found 1; .* greater than or equal to 2"),
        ({"locality": {"kind": "hot", "of": "0%"}}, "field locality.of: found 0; .* between 0 and 100 %"),
        ({"locality": {"kind": "zipf", "theta": 6}}, "field locality.theta: found 6"),
        ({"locality": {"kind": "zip"}}, "field locality: found the kind 'zip'; did you mean 'zipf'"),
        ({"block_size": {"4KiB": "50%", "1MiB": "50%"}, "span": "512KiB"}, "field span: found 524288 bytes"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_field(fields: dict[str, Any], said: str) -> None:
    """Protects files from loads that cannot be, with the field's name and what is expected."""
    with pytest.raises(InputError, match=said):
        load(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"block_size": {"4KiB": "60%", "64KiB": "40%"}, "write_size": "8KiB", "align": "4KiB"},
        {"iops": 9, "arrivals": "bursty"},
        {"arrivals": {"kind": "histogram", "gaps": {"1ms": "60%", "20ms": "40%"}}},
        {"arrivals": {"kind": "histogram", "times": ["1ms", "0s"]}},
        {"pattern": "mixed", "sequential_share": "40%", "run_length": 16, "locality": "hot"},
        {"locality": {"kind": "normal", "around": "10%"}, "think_time": "5ms", "depth": 4},
    ],
)
def test_a_description_survives_its_own_fields(fields: dict[str, Any]) -> None:
    """Protects what changes a load: from its own values the same load is made, also with a field changed."""
    spec = load(**fields)
    assert LoadSpec.model_validate(spec.model_dump()) == spec
    assert LoadSpec.model_validate_json(spec.model_dump_json(exclude_defaults=True)) == spec
    assert changed(spec, {"read_share": "10%"}, units_required=True).read_share == 0.1


def test_a_plain_load_is_said_to_be_plain() -> None:
    """Protects loads of before, which draw from one stream: only what is new is drawn in the new way."""
    for same in ({"locality": "uniform"}, {"read_size": "4KiB"}, {"block_size": {"4KiB": "100%"}}):
        assert load(**same).plain
        assert sent(jobs(**same)[0]) == sent(jobs()[0])
    for other in ({"total_iops": 9}, {"think_time": "1ms"}, {"iops": 9, "arrivals": "poisson"}):
        assert not load(**other).plain
    for other in ({"locality": "hot"}, {"read_size": "8KiB"}, {"align": "8KiB"}, {"pattern": "mixed"}):
        assert not load(**other).plain


def test_sizes_are_those_of_reads_and_of_writes() -> None:
    """`read_size` and `write_size` come before `block_size`."""
    spec = load(block_size={"4KiB": "50%", "8KiB": "50%"}, write_size="64KiB", read_share="70%")
    assert spec.sizes == ({4096: 0.5, 8192: 0.5}, {65536: 1.0})
    assert spec.mean_size == pytest.approx(0.7 * 6144 + 0.3 * 65536)
    for op, offset, size in sent(jobs(**spec.model_dump(mode="json", include={"block_size", "write_size"}))[0]):
        assert size in spec.sizes[op]
        assert offset % size == 0


def test_a_rate_for_all_jobs_is_shared_by_them() -> None:
    """600 a second on three jobs of two targets: 100 each; `iops` is each job's own."""
    document = {"targets": ["sda", "sdb"], "jobs": 3}
    assert load(**document, total_iops=600).job_iops == 100
    assert load(**document, iops=600).job_iops == 600
    assert load().job_iops is None
    assert load(arrivals={"kind": "histogram", "gaps": {"2ms": "50%", "4ms": "50%"}}).job_iops == pytest.approx(500)


@pytest.mark.parametrize(
    "arrivals",
    [
        "poisson",
        "constant",
        {"kind": "bursty", "burst_length": "10ms"},
        {"kind": "histogram", "gaps": {"1ms": "50%", "30ms": "50%"}},
        {"kind": "histogram", "times": ["1ms", "30ms"]},
    ],
)
def test_every_kind_of_arrivals_keeps_the_rate(arrivals: Any) -> None:
    """300 a second of two jobs, whatever the kind; those of a histogram without a rate come at its own."""
    spec = on_drive(total_iops=300, jobs=2, arrivals=arrivals)
    machine = BuiltMachine(spec)
    assert all(isinstance(job, OpenLoad) for job in machine.loads)
    arrived = 0.0
    for job in machine.loads:
        assert isinstance(job, OpenLoad)
        arrived += 20_000 / sum(islice(job._pauses, 20_000))
    assert arrived == pytest.approx(300, rel=0.06)


def test_constant_arrivals_of_several_jobs_take_turns() -> None:
    """Four jobs of 100 a second: one I/O every 2.5 ms, not four every 10 ms."""
    machine = BuiltMachine(on_drive(iops=100, jobs=4, arrivals="constant"))
    firsts = [at for at in machine.engine.pending() if at > 0][:4]
    assert firsts == pytest.approx([0.0025, 0.005, 0.0075, 0.01])


def test_thinking_makes_another_load() -> None:
    """Users think if there is a time for it."""
    assert isinstance(jobs(think_time="1ms")[0], ThinkingLoad)
    assert isinstance(jobs(think_time="1ms", think_distribution="exponential")[0], ThinkingLoad)
    assert type(jobs()[0]) is ClosedLoad


def test_thinking_users_ask_less_of_a_drive() -> None:
    """Four users who think for 100 ms leave the drive time; the answer comes sooner than without thinking."""
    busy = simulate(on_drive(depth=4, duration="5s"))
    thoughtful = simulate(on_drive(depth=4, think_time="100ms", think_distribution="exponential", duration="20s"))
    assert thoughtful.figures["read_mean_seconds"] < 0.6 * busy.figures["read_mean_seconds"]
    users = thoughtful.figures["iops"] * (0.1 + thoughtful.figures["read_mean_seconds"])
    assert users == pytest.approx(4, rel=0.06)


def test_hot_places_near_each_other_are_served_faster() -> None:
    """All I/Os within a fiftieth of the drive seek less; scattered over all of it they seek as far as any."""
    near = simulate(on_drive(locality={"kind": "hot", "share": "100%", "of": "2%", "clustered": True}))
    far = simulate(on_drive(locality={"kind": "hot", "share": "100%", "of": "2%"}))
    anywhere = simulate(on_drive())
    assert near.figures["iops"] > 1.3 * anywhere.figures["iops"]
    assert far.figures["iops"] == pytest.approx(anywhere.figures["iops"], rel=0.06)


def test_runs_are_served_faster_than_single_ios() -> None:
    """90 % in runs of 32 are several times as many I/Os a second."""
    runs = simulate(on_drive(pattern="mixed", sequential_share="90%", run_length=32))
    assert runs.figures["iops"] > 3 * simulate(on_drive(pattern="mixed", sequential_share="0%")).figures["iops"]


def test_jobs_of_one_target_share_their_favourites_and_nothing_else() -> None:
    """Zipf's most popular block is the same for all jobs; their I/Os are not."""
    first, second = jobs(jobs=2, locality={"kind": "zipf", "theta": 1.2})

    def favourite(job: DirectLoad) -> int:
        places = [offset for _, offset, _ in sent(job, 5000)]
        return max(set(places), key=places.count)

    assert sent(first) != sent(second)
    assert favourite(first) == favourite(second)


def test_a_load_from_a_place_on_reaches_the_end() -> None:
    """Protects `start` without `span`: I/Os go to all that is behind it, and to nothing else; with a span up to the end
    they are the same, and with a longer one there are none.
    """
    fields: dict[str, Any] = {"start": "249GB", "block_size": {"4KiB": "50%", "12KiB": "50%"}}
    machine = BuiltMachine(on_drive(**fields))
    (job,), capacity, first = machine.loads, machine.disks["sda"].capacity, 249 * 10**9
    begins, ends = zip(*((offset, offset + size) for _, offset, size in sent(job)), strict=True)
    assert 0 <= min(begins) - first < 0.01 * (capacity - first)
    assert 0 <= capacity - max(ends) < 0.01 * (capacity - first)
    assert sent(jobs(**fields, span=capacity - first)[0]) == sent(jobs(**fields)[0])
    with pytest.raises(InputError, match="span"):
        jobs(**fields, span=capacity - first + 4096)


def test_sequential_jobs_of_several_sizes_have_a_part_each() -> None:
    """They begin at equal distances, and stay in their part."""
    found = jobs(jobs=4, pattern="sequential", block_size={"4KiB": "50%", "12KiB": "50%"}, span="480KiB", start="1MiB")
    for number, job in enumerate(found):
        ios = sent(job)
        part = (1 << 20) + number * 120 * KIB
        assert ios[0][1] == part
        assert all(part <= offset and offset + size <= part + 120 * KIB for _, offset, size in ios)


@pytest.mark.parametrize(
    "more", [{"iops": 100, "arrivals": "bursty", "locality": "hot"}, {"total_iops": 100, "block_size": "4KiB"}]
)
def test_every_layout_sees_the_same_ios_at_the_same_times(more: dict[str, Any]) -> None:
    """Common random numbers: n-th I/O and arrivals of a job do not know the array."""
    document = scenario_document(kernel="linux-6.1", seed=4)
    workload = {**BASE, "targets": ["md0"], "block_size": {"4KiB": "50%", "16KiB": "50%"}, "read_share": "70%"}
    workload |= more
    seen = []
    for level, members in (("raid5", 4), ("raid1", 2), ("raid0", 3)):
        array = {"level": level, "members": ["sda", "sdb", "sdc", "sdd"][:members]}
        spec = validate(ScenarioSpec, {**document, "arrays": {"md0": array}, "workload": workload})
        (job,) = BuiltMachine(spec).loads
        assert isinstance(job, OpenLoad)
        seen.append(
            ([(op, round(o / job.span, 6), size) for op, o, size in sent(job, 9000)], list(islice(job._pauses, 9000)))
        )
    assert seen[0][1] == seen[1][1] == seen[2][1]
    for other in seen[1:]:
        assert [(op, size) for op, _, size in seen[0][0]] == [(op, size) for op, _, size in other[0]]
        places = zip(seen[0][0], other[0], strict=True)
        assert max(abs(a[1] - b[1]) for a, b in places) < 1e-5
    assert 0.6 < sum(op == READ for op, _, _ in seen[0][0]) / 9000 < 0.8


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({"engine": "psync", "depth": 8}, "a depth of 1"), ({"engine": "libaio", "iops": 100.0}, "with depth")],
)
def test_an_engine_that_cannot_be_is_refused(changes: dict[str, Any], expected: str) -> None:
    """psync has one I/O outstanding, and who sends at given times is charged nothing."""
    with pytest.raises(InputError) as refused:
        validate(LoadSpec, {"kind": "load", "targets": ["sda"], **changes})
    assert refused.value.place == "field engine"
    assert expected in refused.value.expected


def test_a_load_that_is_too_much_is_answered_with_what_its_mix_gets() -> None:
    """Five and fifty times too much get what a full queue gives, in the shares that are sent; a little load does not.

    In a run of the load itself reads pass the writes for as long as it lasts.
    """
    much: dict[str, Any] = {"block_size": "8KiB", "read_share": "70%", "duration": "2s"}
    known = {**much, "duration": "10min", "warm_up": "0s", "precision": "5%"}
    full = simulate(as_much_as_it_takes(on_drive(**known)))
    for offered in (1_000, 50_000):
        found = simulate(on_drive(**much, total_iops=offered))
        assert found.saturated
        assert found.iops == full.iops
        assert found.notes == ("the figures are those of users with these I/Os who keep everything busy",)
        assert found.offered_iops == offered
        assert found.lost_iops == pytest.approx(offered - sum(full.iops.values()))
    assert full.iops["read"] / sum(full.iops.values()) == pytest.approx(0.7, abs=0.03)
    little = simulate(on_drive(**much, total_iops=100))
    assert (little.saturated, little.notes, little.lost_iops) == (False, (), 0.0)
    assert little.measured_s == 2.0
    assert full.lost_iops is None


def test_a_warm_up_may_end_where_the_last_look_for_a_hopeless_load_is() -> None:
    """Twelve looks of 50 ms are over at 0.6000000000000001 s, and the measurement begins then."""
    found = simulate(on_drive(total_iops=50, warm_up=f"{12 * 0.05}s", duration="100ms"))
    assert found.measured_s == pytest.approx(0.1)


def test_a_rebuild_beside_a_hopeless_load_is_watched_to_the_end() -> None:
    """The counter-test: while a drive fails, the run has its whole length, however little of the load is served."""
    array = {"level": "raid1", "members": ["sda", "sdb"]}
    document = scenario_document(kernel="linux-6.1", array=array)
    load = {"kind": "load", "targets": ["md0"], "total_iops": 9000, "duration": "1s", "read_share": "0%"}
    failing = {**document, "workload": load, "failures": [{"member": "sdb", "at": "1200ms"}]}
    found = simulate(validate(ScenarioSpec, failing))
    assert found.measured_s == 1.0
    assert found.notes == ()
