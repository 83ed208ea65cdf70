"""Traces on the machine of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raidsim.model.core.device import Wrapper
from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.drives.catalogue import CATALOGUE
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.loads.trace_ios import in_parts
from raidsim.model.loads.trace_load import TimedTrace
from raidsim.scenarios.description.scenario import ScenarioSpec, target_of
from raidsim.scenarios.machine.loads import FIRST_ISSUER
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.run import Run
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.traces.formats.record import TraceRecord, columns_of
from raidsim.scenarios.traces.replay import replay as replay_module
from raidsim.scenarios.traces.replay.other_drive import with_drive
from raidsim.scenarios.traces.replay.placement import TraceMemory
from raidsim.scenarios.traces.replay.replay import Replay, ReplayOptions, ReplayRun, TraceSpec
from raidsim.tests.scenarios.small_machine import DRIVES, scenario

OPEN = ReplayOptions()
ARRAY: dict[str, Any] = {"level": "raid5", "members": list(DRIVES), "chunk": "64KiB"}


def machine(kernel: str = "linux-6.1", **load: Any) -> ScenarioSpec:
    """Four drives as RAID 5, under a load."""
    described = scenario(array=ARRAY, targets=("md0",), kernel="linux-2.6.8", size="1GiB").model_dump()
    described |= {"kernel": kernel, "workload": {"kind": "load", "targets": ["md0"], **load}}
    return ScenarioSpec.model_validate(described)


def replay(
    spec: ScenarioSpec, source: Callable[[], Iterable[TraceRecord]], options: ReplayOptions, **more: Any
) -> Replay:
    """Replay records on the machine of a scenario."""
    return replay_module.replay(spec, lambda: columns_of(source()), options, **more)


def records(count: int, gap_s: float, device: str = "a") -> Iterator[TraceRecord]:
    """Random reads and writes of 4 KiB at exponential distances."""
    random, now = np.random.default_rng(5), 0.0
    for place in random.integers(0, 10**6, count).tolist():
        yield TraceRecord(now, WRITE if place % 3 else READ, place * 4096, 4096, device)
        now += float(random.exponential(gap_s))


def test_a_replay_gives_what_a_run_gives() -> None:
    """Every I/O is replayed and measured; the run ends with the last, and rate and I/Os a second belong together."""
    done = replay(machine(), lambda: records(400, 0.02), OPEN)
    assert done.completed == done.survey.records == 400
    assert sum(values["n"] for values in done.prediction.latencies.values()) == 400
    assert done.prediction.rate == pytest.approx(400 * 4096 / done.prediction.measured_s)
    assert done.drained_s is not None
    assert done.prediction.measured_s == pytest.approx(done.survey.length_s + done.drained_s)
    assert not done.prediction.saturated
    assert done.notes == ()
    assert done.target == "md0"
    closed = replay(machine(), lambda: records(400, 0.02), ReplayOptions(depth=1))
    for found in (done.prediction, closed.prediction):
        assert found.bottleneck.split(": ")[0] in {next(iter(times)) for times in found.waits.values()}


def test_a_trace_of_an_open_load_gives_the_same_latencies() -> None:
    """What a load sent has the same latencies to the bit when it is sent again at the same times."""
    spec = machine(iops=40, read_share=0.5, warm_up="0s", duration="8s")
    built = BuiltMachine(spec)
    sent: list[TraceRecord] = []
    submit, engine = built.targets[0].submit, built.engine
    load = built.loads[0]
    assert isinstance(load, OpenLoad)
    load._cpu = None  # sending a trace costs no CPU time

    class Noting(Wrapper):
        """Notes what the load sends."""

        def submit(self, request: Any) -> None:
            sent.append(TraceRecord(engine.now, request.op, request.offset, request.size, "a"))
            submit(request)

    load._device = Noting(built.targets[0])
    engine.run(until=8.0)
    load.stop()
    engine.run(until=9.0)
    assert len(sent) > 250
    bare = BuiltMachine(spec.model_copy(update={"workload": TraceSpec(targets=("md0",))}))
    same = TimedTrace(bare.engine, bare.targets[0], in_parts(each[:4] for each in sent), issuer=FIRST_ISSUER)
    bare.engine.run(same.finished)
    for one, other in ((same.read_latency, load.read_latency), (same.write_latency, load.write_latency)):
        assert (one.count, one.total_ns, one.min, one.max) == (other.count, other.total_ns, other.min, other.max)
        assert (one.counts == other.counts).all()
    # A replay begins with the first I/O, when the platters stand elsewhere.
    done = replay(spec, lambda: iter(sent), OPEN)
    for op, histogram in (("read", load.read_latency), ("write", load.write_latency)):
        assert done.prediction.latencies[op]["mean_s"] == pytest.approx(histogram.mean, rel=0.1)


def test_only_the_distances_count_and_not_how_records_are_read() -> None:
    """Records in parts of any size, and from the first one's time or later, give the same to the bit."""
    one = replay(machine(), lambda: records(200, 0.03), OPEN)
    apart = replay_module.replay(machine(), lambda: columns_of(records(200, 0.03), 7), OPEN)
    assert apart.prediction == one.prediction
    later = [each._replace(time_s=each.time_s + 4.0) for each in records(200, 0.03)]
    found = replay(machine(), lambda: later, OPEN).prediction.latencies["read"]
    assert found["mean_s"] == pytest.approx(one.prediction.latencies["read"]["mean_s"], rel=1e-6)


def test_speed_and_depth() -> None:
    """Twice as fast takes half as long; closed, more outstanding give more I/Os a second."""
    spec = machine()
    plain, fast = (replay(spec, lambda: records(200, 0.05), ReplayOptions(speedup=speedup)) for speedup in (1.0, 2.0))
    assert fast.prediction.measured_s == pytest.approx(plain.prediction.measured_s / 2, rel=0.05)
    one, many = (replay(spec, lambda: records(200, 0.05), ReplayOptions(depth=depth)) for depth in (1, 16))
    assert many.prediction.rate > 1.5 * one.prediction.rate
    assert many.drained_s is None
    assert many.spec.workload.depth == 16  # type: ignore[union-attr]


def test_too_fast_is_saturated() -> None:
    """A trace that comes faster than the drives take it, for as long as it comes, is said to be; slower it is not."""
    spec = machine()
    assert replay(spec, lambda: records(1300, 0.002), OPEN).prediction.saturated
    assert not replay(spec, lambda: records(1300, 0.05), OPEN).prediction.saturated


def test_a_trace_that_takes_half_as_long_again_is_saturated() -> None:
    """Protects traces of batches, whose backlog grows in a moment: each of three takes as long as the next one needs to
    come, so I/Os that come within two gaps take three. Counter-test: gaps three times as long.
    """
    for gap_s, saturated in ((1.95, True), (5.85, False)):

        def batches(gap_s: float = gap_s) -> Iterator[TraceRecord]:
            for number, each in enumerate(records(1200, 1.0)):
                yield each._replace(time_s=gap_s * (number // 400))

        found = replay(machine(), batches, OPEN)
        came_s = 2 * gap_s
        assert (found.prediction.measured_s > 1.4 * came_s) == saturated
        assert found.prediction.saturated == saturated


def test_a_quick_burst_at_the_end_is_no_saturation() -> None:
    """Calm times and then a burst: its backlog does not grow with the trace, so latencies are kept."""

    def burst() -> Iterator[TraceRecord]:
        calm = list(records(1000, 0.03))
        yield from calm
        yield from (each._replace(time_s=calm[-1].time_s + 1e-3 * n) for n, each in enumerate(records(60, 1.0)))

    assert not replay(machine(), burst, OPEN).prediction.saturated


def test_limits_and_warm_up() -> None:
    """The first records, the first seconds, and what is complete before the measurement."""
    spec = machine()
    assert replay(spec, lambda: records(300, 0.05), ReplayOptions(limit=50)).completed == 50
    timed = replay(spec, lambda: records(300, 0.05), ReplayOptions(duration=2.0))
    assert timed.survey.length_s <= 2.0
    assert 20 < timed.completed < 60
    closed = replay(spec, lambda: records(300, 0.05), ReplayOptions(duration=0.5, depth=4))
    assert 4 < closed.completed < 300
    assert closed.prediction.measured_s == pytest.approx(0.5, abs=0.2)
    for depth in (None, 4):
        warm = replay(spec, lambda: records(100, 0.05), ReplayOptions(warm_up=0.4, depth=depth))
        assert sum(values["n"] for values in warm.prediction.latencies.values()) == 60


def test_notes_say_what_was_done() -> None:
    """Parts of sectors and wrapped offsets are told with their number."""
    odd = [TraceRecord(0.0, READ, 100, 100, "a"), TraceRecord(0.1, READ, 10**15, 512, "a")]
    done = replay(machine(), lambda: iter(odd), ReplayOptions(fit="wrap"))
    assert done.notes[0].startswith("1 I/O did not begin and end at 512 bytes")
    assert done.notes[1].startswith("1 I/O wrapped around")
    with pytest.raises(InputError, match=r"I/O 2 \(device a\) ends at byte 1000000000000512"):
        replay(machine(), lambda: iter(odd), OPEN)


def test_which_device_it_goes_to() -> None:
    """The scenario's own target, or the one that is named; several or unknown ones are refused."""
    spec = machine()
    assert target_of(spec) == "md0"
    assert target_of(spec, "sda") == "sda"
    with pytest.raises(InputError, match="unknown device 'sdz'"):
        target_of(spec, "sdz")
    with pytest.raises(InputError, match="goes to 2 devices"):
        target_of(scenario(targets=("sda", "sdb")))
    assert replay(spec, lambda: records(20, 0.05), ReplayOptions(target="sdb")).target == "sdb"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"speedup": 0.0}, "--speedup"),
        ({"speedup": 2.0, "depth": 4}, "no times"),
        ({"depth": 0}, "--depth"),
        ({"limit": 0}, "--limit"),
        ({"duration": 0.0}, "--duration"),
        ({"warm_up": 1.0}, "--warm-up"),
        ({"warm_up": 0.1, "depth": 1, "duration": 1.0}, "--limit instead"),
        ({"device": "z"}, "no I/O of a device 'z'"),
    ],
)
def test_nonsense_is_refused(wrong: dict[str, Any], said: str) -> None:
    """Each refusal names the option."""
    with pytest.raises(InputError, match=said):
        replay(machine(), lambda: records(5, 0.1), replace(OPEN, **wrong))


def test_a_long_trace_needs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is replayed, no part of it is read before the part in front of it has come."""
    monkeypatch.setattr(replay_module, "TraceMemory", partial(TraceMemory, 100))
    runs: list[ReplayRun] = []
    leads: list[int] = []

    def source() -> Iterator[TraceRecord]:
        for number, record in enumerate(records(1000, 0.02)):
            if runs:
                load = runs[0].load
                assert isinstance(load, TimedTrace)
                leads.append(number - load.arrived)
            yield record

    def watch(run: Run) -> None:
        assert isinstance(run, ReplayRun)
        runs.append(run)

    replay_module.replay(machine(), lambda: columns_of(source(), 10), OPEN, watch)
    assert len(leads) == 990
    assert max(leads) == 10


def test_the_run_of_a_load_is_as_before() -> None:
    """A scenario's own workload still runs on the machine that a trace was replayed on."""
    spec = machine(iops=40, warm_up="0s", duration="1s")
    before = simulate(spec)
    replay(spec, lambda: records(50, 0.02), OPEN)
    assert simulate(spec) == before


def test_recorded_think_times_follow_the_completions() -> None:
    """One I/O at a time, the next one its think time after the end of the one before; closed without, at once."""
    thinks = [0.001 * (1 + number % 7) for number in range(100)]
    done = replay(
        machine(),
        lambda: records(100, 0.001),
        ReplayOptions(depth=1, think=True),
        thinks=lambda: iter(thinks),
        per_request=True,
    )
    assert done.log is not None
    rows = done.log.rows
    assert len(rows) == done.completed == 100
    ends = [row.arrival_s + row.response_s for row in rows]
    pauses = [row.arrival_s - end for row, end in zip(rows[1:], ends, strict=False)]
    assert pauses == pytest.approx(thinks[:-1], abs=1e-9)
    at_once = replay(machine(), lambda: records(100, 0.001), ReplayOptions(depth=1), per_request=True)
    assert at_once.log is not None
    ends = [row.arrival_s + row.response_s for row in at_once.log.rows]
    assert max(row.arrival_s - end for row, end in zip(at_once.log.rows[1:], ends, strict=False)) < 0.0005


def test_think_times_are_for_one_outstanding() -> None:
    """With more, it is not known after which I/O a think time counts."""
    with pytest.raises(InputError) as caught:
        replay(machine(), lambda: records(10, 0.1), ReplayOptions(depth=2, think=True))
    assert str(caught.value) == "--think: found it with a depth of 2; expected: one I/O outstanding"


def test_each_io_is_told_with_what_served_it() -> None:
    """A random read comes from the platters, one that goes on from the buffer, a write stays there; times add up."""

    def some() -> Iterator[TraceRecord]:
        for number, (op, block) in enumerate([(READ, 50_000), (READ, 50_001), (WRITE, 90_000), (READ, 20)]):
            yield TraceRecord(float(number), op, block * 4096, 4096, "a")

    done = replay(machine(), some, ReplayOptions(target=DRIVES[0]), per_request=True)
    assert done.log is not None
    assert [row.served_by for row in done.log.rows] == ["platters", "read buffer", "write buffer", "platters"]
    assert [row.op for row in done.log.rows] == ["read", "read", "write", "read"]
    assert [row.arrival_s for row in done.log.rows] == pytest.approx([0.0, 1.0, 2.0, 3.0])
    for row in done.log.rows:
        assert row.wait_s + row.service_s == pytest.approx(row.response_s)


def test_overlapping_ios_are_not_told_apart() -> None:
    """What the drives counted while two I/Os were under way belongs to either of them."""
    both = [TraceRecord(0.0, READ, place * 4096, 4096, "a") for place in (50_000, 10)]
    done = replay(machine(), lambda: iter(both), ReplayOptions(target=DRIVES[0]), per_request=True)
    assert done.log is not None
    assert [row.served_by for row in done.log.rows] == ["", ""]


def test_another_drive_takes_the_place_of_all(tmp_path: Path) -> None:
    """By name or by its file's path: its capacity and its speed count."""
    original = CATALOGUE / "ST39102LW.yaml"
    copy = tmp_path / "copy.yaml"
    copy.write_text(original.read_text())
    named, from_file = with_drive(machine(), "st39102lw"), with_drive(machine(), str(copy))
    for spec in (named, from_file):
        assert {drive.spec().capacity for drive in spec.machine.drives.values()} == {17918387 * 512}
    one, other = (replay(spec, lambda: records(50, 0.1), OPEN).prediction.latencies for spec in (named, from_file))
    assert one == other
    assert one != replay(machine(), lambda: records(50, 0.1), OPEN).prediction.latencies
    with pytest.raises(InputError) as caught:
        with_drive(machine(), str(tmp_path / "none.yaml"))
    assert "there is no such file" in str(caught.value)
