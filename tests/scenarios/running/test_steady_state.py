"""Loads that run until their speed is known: honest intervals, caches that fill, backlogs that grow."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as scipy_t

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import InputError
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.files.description_errors import validate
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.statistics.batch_means import Estimate, ratio_estimate, student_t, trend, warmup_cut
from raidsim.model.statistics.latency_histogram import LatencyHistogram
from raidsim.model.statistics.percentile_interval import percentile_estimate
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LONGEST_S, LoadSpec
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.base.slow_stores import Stores
from raidsim.scenarios.running.load_run import LoadRun
from raidsim.scenarios.running.load_windows import MOST, LoadWindows
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.running.steady_state import SteadyState
from raidsim.scenarios.running.watched_load import LEAST_IOS, SATURATED_PRECISION, backlog_grows

from ..small_machine import DRIVES, scenario_document

SERVICE_S = 1e-3
GIB = 1 << 30


def queue(seed: int, load: float) -> tuple[Engine, OpenLoad]:
    """M/M/1: a server of 1 ms on average and I/Os that come at random, which know nothing of each other."""
    engine = Engine(seed)
    random = engine.streams.generator("service")

    def draw() -> Iterator[float]:
        while True:
            yield from random.exponential(SERVICE_S, 4096).tolist()

    services = draw()
    device = FixedServiceDevice(engine, "d", GIB, lambda size, op: next(services))
    return engine, OpenLoad(engine, device, size=4096, iops=load / SERVICE_S)


def measured(seed: int, load: float, precision: float, longest: float = 1e5) -> SteadyState:
    """The queue, run until its mean latency is known."""
    engine, sender = queue(seed, load)
    steady = SteadyState(engine, [sender], precision=precision, longest=longest)
    steady.run()
    return steady


def covered(seeds: range, load: float, precision: float) -> tuple[float, float]:
    """How often the intervals of the mean and of the 99th percentile hold what queueing theory says.

    The latency of M/M/1 is exponential with mean S / (1 - load).
    """
    true = SERVICE_S / (1 - load)
    means = tails = 0
    for seed in seeds:
        steady = measured(seed, load, precision)
        assert not steady.saturated
        assert steady.reached <= precision
        found = steady.windows.estimates()
        means += found["mean_seconds"].low <= true <= found["mean_seconds"].high
        tails += found["read_p99_seconds"].low <= true * math.log(100) <= found["read_p99_seconds"].high
    return means / len(seeds), tails / len(seeds)


def test_an_interval_at_the_end_of_a_run_holds_the_truth() -> None:
    """Protects from stopping where chance made an interval narrow: about 90 % of them hold the known mean."""
    means, tails = covered(range(30), 0.5, 0.15)
    assert 0.8 <= means <= 1.0
    assert 0.8 <= tails <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("load", "precision"), [(0.5, 0.1), (0.8, 0.15)])
def test_intervals_hold_the_truth_as_often_as_they_say(load: float, precision: float) -> None:
    """The same with sixty seeds: 82 to 97 % of the intervals of mean and percentile."""
    means, tails = covered(range(60), load, precision)
    assert 0.82 <= means <= 0.97
    assert 0.82 <= tails <= 0.97


def test_stopping_at_the_first_narrow_interval_is_wrong_too_often() -> None:
    """The counter-test: the naive interval of latencies taken for independent, looked at all the time."""
    true, held, seeds = SERVICE_S / (1 - 0.5), 0, 40
    for seed in range(seeds):
        engine, load = queue(seed, 0.5)
        latencies: list[float] = []
        count, total_ns = 0, 0
        while True:
            engine.run_to(engine.now + 0.05)
            histogram = load.read_latency
            fresh, spent_ns = histogram.count - count, histogram.total_ns - total_ns
            count, total_ns = histogram.count, histogram.total_ns
            latencies += [spent_ns / fresh * 1e-9] * fresh
            half = 1.645 * float(np.std(latencies)) / math.sqrt(len(latencies)) if count > 30 else math.inf
            if half < 0.15 * float(np.mean(latencies)):
                break
        held += abs(float(np.mean(latencies)) - true) <= half
    assert held / seeds < 0.75


@pytest.mark.parametrize("load", [1.1, 1.5])
def test_a_load_that_is_too_much_ends_early_and_says_so(load: float) -> None:
    """Protects from runs without end: the backlog grows, and the throughput is what the server can take."""
    steady = measured(1, load, 0.03, longest=3600.0)
    assert steady.saturated
    assert steady._engine.now < 120
    rate = steady.windows.throughput()
    assert rate.relative <= SATURATED_PRECISION
    assert rate.low * 0.98 <= 1 / SERVICE_S <= rate.high * 1.02


def test_a_busy_queue_is_not_taken_for_saturated() -> None:
    """The counter-test: 90 % busy, where the backlog swings widely, but comes back."""
    assert not any(measured(seed, 0.9, 0.25).saturated for seed in range(3))


def test_a_fixed_time_tells_a_growing_backlog_too() -> None:
    """Protects :attr:`Prediction.saturated` of runs without a precision, on a real drive."""

    def run(iops: float) -> Prediction:
        document = scenario_document()
        document["workload"] = {"kind": "load", "targets": ["sda"], "iops": iops, "warm_up": "1s", "duration": "12s"}
        return simulate(validate(ScenarioSpec, document))

    calm, swamped = run(50), run(250)
    assert not calm.saturated
    assert swamped.saturated
    assert swamped.iops["read"] < 200


def closed(precision: float, stores: Any = None, seed: int = 0) -> SteadyState:
    """Eight I/Os outstanding on two servers with service times of 0.5 to 1.5 ms."""
    engine = Engine(seed)
    random = engine.streams.generator("service")
    device = FixedServiceDevice(engine, "d", GIB, lambda size, op: float(random.uniform(5e-4, 1.5e-3)), servers=2)
    load = ClosedLoad(engine, device, size=4096, depth=8, read_share=0.0)
    look = None if stores is None else lambda: Stores(controllers=stores(engine.now))
    steady = SteadyState(engine, [load], precision=precision, longest=600.0, stores=look)
    steady.run()
    return steady


def test_a_cache_that_fills_is_waited_for() -> None:
    """Protects from the speed of a cache that is not full yet, with its counter-test: the same load without one.

    The cache takes 8 s to fill, and nothing else tells that anything will change.
    """
    without = closed(0.02)
    filling = closed(0.02, lambda now: min(now, 8.0) * 1e6)
    assert without._engine.now < 4
    assert filling.windows.began > 8
    assert without.reached <= 0.02
    assert filling.reached <= 0.02


def test_a_cache_that_swings_about_its_level_is_full() -> None:
    """Protects from waiting for ever: what goes up and down by a tenth is settled."""
    random = np.random.default_rng(3)
    steady = closed(0.02, lambda now: 1e5 * float(random.uniform(0.9, 1.1)))
    assert steady.reached <= 0.02
    assert steady._engine.now < 60


def controller_document(cache: str, **load: Any) -> dict[str, Any]:
    """RAID 50 of six drives behind a controller, under random writes of 8 KiB."""
    document = scenario_document(targets=("md0",))
    machine = document["machine"]
    channel, drive = next(iter(machine["channels"].values())), next(iter(machine["drives"].values()))
    machine["channels"] = {f"bay{i}": channel for i in range(6)}
    machine["drives"] = {f"d{i}": {**drive, "channel": f"bay{i}"} for i in range(6)}
    machine["controllers"] = {"raid": {"model": "Gateway-840", "links": ["pci"], "overrides": {"cache": cache}}}
    members = list(machine["drives"])
    array = {"level": "raid50", "members": members, "groups": 2, "chunk": "64KiB", "controller": "raid"}
    document["arrays"] = {"md0": array}
    writes = {"kind": "load", "targets": ["md0"], "block_size": "8KiB", "read_share": "0%", "depth": 8}
    document["workload"] = {**writes, "warm_up": "0s", **load}
    return document


def load_run(document: dict[str, Any]) -> LoadRun:
    """A load that has run."""
    run = LoadRun(BuiltMachine(validate(ScenarioSpec, document)), Sample())
    run.run()
    return run


@pytest.mark.slow
def test_a_controllers_cache_is_full_before_the_measurement() -> None:
    """Protects from the speed of memory: the interval holds what a long run with a full cache gives.

    A short run from the start, the counter-test, is several times too fast.
    """
    run = load_run(controller_document("16MiB", precision="6%"))
    assert all(controller.waits for controller in run.machine.controllers.values())
    assert run.precision_reached is not None
    assert run.precision_reached <= 0.06
    long = load_run(controller_document("16MiB", warm_up="12s", duration="40s")).estimates["iops"]
    found = run.estimates["iops"]
    assert found.low <= long.high
    assert long.low <= found.high
    short = load_run(controller_document("16MiB", duration="200ms")).estimates["iops"]
    assert short.mean > 3 * found.mean


def load_document(**load: Any) -> dict[str, Any]:
    """RAID 0 of three drives."""
    document = scenario_document(targets=("md0",), kernel="linux-6.1")
    document["arrays"] = {"md0": {"level": "raid0", "members": list(DRIVES)[:3], "chunk": "64KiB"}}
    document["workload"] = {"kind": "load", "targets": ["md0"], **load}
    return document


def test_the_precision_that_was_asked_for_is_reached() -> None:
    """Protects the promise, that all figures are those of the measurement alone, and that a run can be repeated."""
    spec = validate(ScenarioSpec, load_document(precision="5%", depth=4, read_share="70%", warm_up="0s"))
    found = simulate(spec)
    assert found.precision_reached is not None
    assert found.precision_reached <= 0.05
    assert found.estimates["iops"].relative == found.precision_reached
    assert found.estimates["rate"].mean == pytest.approx(found.rate)
    assert found.estimates["iops"].mean == pytest.approx(sum(found.iops.values()))
    for op in ("read", "write"):
        assert found.estimates[f"{op}_mean_seconds"].mean == pytest.approx(found.latencies[op]["mean_s"])
        assert found.estimates[f"{op}_p99_seconds"].mean == found.latencies[op]["p99_s"]
    ios = sum(values["n"] for values in found.latencies.values())
    assert ios >= LEAST_IOS
    assert ios == pytest.approx(sum(found.iops.values()) * found.seconds)
    assert found.seconds == found.measured_s
    assert simulate(spec) == found


def test_an_open_load_is_measured_until_its_latency_is_known() -> None:
    """Protects the choice of what must be known: the throughput of an open load is given."""
    found = simulate(validate(ScenarioSpec, load_document(precision="10%", iops=100, warm_up="0s")))
    assert found.precision_reached == found.estimates["mean_seconds"].relative
    assert found.precision_reached <= 0.1
    assert not found.saturated


def test_a_run_that_ends_before_its_precision_says_so() -> None:
    """Protects from a precision that was not reached: the duration is the longest time."""
    found = simulate(validate(ScenarioSpec, load_document(precision="0.1%", depth=2, duration="8s", warm_up="0s")))
    assert found.precision_reached is not None
    assert 0.001 < found.precision_reached < 0.1
    assert 4 <= found.measured_s <= 8
    never = simulate(validate(ScenarioSpec, controller_document("256MiB", precision="2%", duration="1s")))
    assert never.precision_reached == math.inf, "a cache that has only begun to fill has no steady speed"


def test_a_precision_changes_what_duration_means() -> None:
    """Protects the defaults: ten minutes at the most with a precision, ten seconds without."""
    load = {"kind": "load", "targets": ["sda"]}
    assert validate(LoadSpec, {**load, "precision": "2%"}).duration == LONGEST_S
    assert validate(LoadSpec, {**load, "precision": "2%", "duration": "5s"}).duration == 5
    assert validate(LoadSpec, {**load, "warm_up": "1s"}).duration == 10
    for bad in ("0%", "0.001%", "200%"):
        with pytest.raises(InputError, match="precision"):
            validate(LoadSpec, {**load, "precision": bad})


def test_looking_does_not_change_what_happens() -> None:
    """Protects predictions made before there were windows: the same bits as the engine run in one go."""
    document = load_document(depth=6, jobs=2, read_share="60%", warm_up="300ms", duration="1700ms")
    looked = load_run(document)
    machine = BuiltMachine(validate(ScenarioSpec, document))
    plain = LoadRun(machine, Sample())
    machine.engine.run(until=0.3)
    plain._begin()
    machine.engine.run(until=0.3 + 1.7)
    assert looked.latencies() == plain.latencies()
    assert looked.usages() == plain.usages()
    assert looked.span == plain.span
    assert looked.machine.engine.scheduled_events == machine.engine.scheduled_events


def test_windows_lose_nothing_when_they_are_joined() -> None:
    """Protects sums, latencies and backlog over joins, with two loads that share their histograms."""
    engine = Engine(5)
    device = FixedServiceDevice(engine, "d", GIB, linear_service(1e-3), servers=3)
    loads = [OpenLoad(engine, device, size=4096, iops=900.0, read_share=0.5, name=f"load {i}") for i in range(2)]
    windows = LoadWindows(engine, loads)
    windows.begin(0.002)
    while windows.span < 1.5:
        if windows.count >= MOST:
            windows.join()
        windows.run()
    flows = windows.flows.sum(axis=0)
    assert windows.count < MOST
    assert windows.began + windows.span == pytest.approx(engine.now)
    assert flows[0] == 4096 * windows.ios == sum(load.bytes for load in loads)
    assert flows[5] - flows[1] - flows[2] == windows.stores[-1, 0] == windows.arrived - windows.ios
    found = windows.estimates()
    windows.end()
    merged = LatencyHistogram()
    for load in loads:
        merged.merge(load.read_latency)
    assert merged.count == flows[1]
    assert found["read_mean_seconds"].mean == pytest.approx(merged.mean)
    assert not backlog_grows(windows)


def test_a_ratio_of_sums() -> None:
    """Protects the ratio estimator: batches of unequal weight, correlation, nothing, and what does not vary."""
    random = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        weights = random.integers(1, 20, 400).astype(float)
        noise = np.convolve(random.standard_normal(402), [0.5, 0.3, 0.2], "valid")
        found = ratio_estimate(weights * (3 + noise), weights)
        held += found.low <= 3 <= found.high
    assert 0.82 <= held / 200 <= 0.97
    assert ratio_estimate(np.full(50, 6.0), np.full(50, 2.0)).half_width == 0
    assert math.isnan(ratio_estimate(np.zeros(50), np.zeros(50)).mean)
    assert ratio_estimate(np.ones(3), np.ones(3)).half_width == math.inf


def test_the_interval_of_a_percentile() -> None:
    """Protects percentiles: nine of ten intervals hold the truth, and a few latencies have none at all."""
    random = np.random.default_rng(8)
    held = 0
    for _ in range(100):
        whole, batches = LatencyHistogram(), []
        for _ in range(40):
            part = LatencyHistogram()
            for value in random.exponential(1e-3, 60).tolist():
                part.add(value)
            bins = np.flatnonzero(part.counts)
            batches.append((bins, part.counts[bins]))
            whole.merge(part)
        found = percentile_estimate(batches, whole, 99.0)
        held += found.low <= 1e-3 * math.log(100) <= found.high
    assert 0.82 <= held / 100 <= 0.99
    assert percentile_estimate(batches[:2], _merged(batches[:2]), 99.0).half_width == math.inf
    assert math.isnan(percentile_estimate([], LatencyHistogram(), 99.0).mean)


def test_neighbors_that_are_alike_make_a_ratios_interval_wider() -> None:
    """Protects the interval of a ratio: the same batches in another order have one that is wider by the correlation r
    of neighbors, as if (1 + r) / (1 - r) of them made one; none is narrower than without correlation.
    """
    values = 5 + np.random.default_rng(2).standard_normal(40)
    found = [ratio_estimate(np.random.default_rng(seed).permutation(values), np.ones(40)) for seed in range(60)]
    apart = [each for each in found if each.batches == 40]
    (least,) = {round(each.half_width, 12) for each in apart if each.lag1 <= 0}
    alike = [each for each in apart if each.lag1 > 0.05]
    assert len(alike) > 5
    for each in alike:
        assert each.half_width == pytest.approx(least * math.sqrt((1 + each.lag1) / (1 - each.lag1)))


@pytest.mark.parametrize(("percent", "half_width_s"), [(80.0, 0.0), (94.5, 49e-3), (95.5, 49e-3)])
def test_both_ends_of_a_percentiles_interval_count(percent: float, half_width_s: float) -> None:
    """Protects the width of the interval: 95 % of the latencies are 1 ms, the others 50 ms. A percentile within half a
    percent of 95 reaches to the other latency, whichever end lies there; the 80th is known to the width of its bin.
    """
    random = np.random.default_rng(3)
    whole, batches = LatencyHistogram(), []
    for _ in range(40):
        part = LatencyHistogram()
        for value in random.choice([1e-3, 50e-3], 60, p=[0.95, 0.05]).tolist():
            part.add(value)
        bins = np.flatnonzero(part.counts)
        batches.append((bins, part.counts[bins]))
        whole.merge(part)
    found = percentile_estimate(batches, whole, percent)
    assert found.half_width == pytest.approx(half_width_s, rel=0.02, abs=20e-6)


def _merged(batches: list[Any]) -> LatencyHistogram:
    whole = LatencyHistogram()
    for bins, counts in batches:
        for number, count in zip(bins.tolist(), counts.tolist(), strict=True):
            part = LatencyHistogram()
            part._counts[number] = count
            whole.merge(part)
    return whole


def test_trends_and_the_end_of_the_warm_up() -> None:
    """Protects both signs that a run has not settled: a slope beyond chance, and a plateau that has just begun."""
    random = np.random.default_rng(4)
    flat = 10 + random.standard_normal(256)
    change, errors = trend(flat)
    assert abs(errors) < 3.5
    change, errors = trend(flat + np.linspace(0, 3, 256))
    assert change == pytest.approx(3, abs=1)
    assert errors > 3.5
    assert trend(flat[:10]) == (0.0, 0.0)
    assert trend(np.full(64, 2.0)) == (0.0, 0.0)
    assert trend(np.arange(64.0))[1] == math.inf
    ramp = np.minimum(np.arange(256.0), 200.0)
    assert warmup_cut(ramp) == 128
    assert warmup_cut(np.minimum(np.arange(256.0), 50.0)) == 50


def test_an_estimate_as_json() -> None:
    """Protects JSON output from infinity, which JSON does not have."""
    known = Estimate(2.0, 0.5, 0.9, 20, 0.0, 0.1, False)
    document = json.loads(json.dumps(known.document(), allow_nan=False))
    assert document["mean"] == 2.0
    assert document["correlated"] is False
    assert replace(known, half_width=math.inf).document()["half_width"] is None


@pytest.mark.parametrize("freedom", [1, 2, 3])
def test_students_t_of_few_replications_agrees_with_scipy(freedom: int) -> None:
    """Protects intervals from two to four replications, for which the series is no good."""
    for probability in (0.9, 0.95, 0.995):
        assert student_t(probability, freedom) == pytest.approx(float(scipy_t.ppf(probability, freedom)), rel=1e-6)


def test_a_time_too_short_for_a_measurement_is_a_message() -> None:
    """Protects from a traceback where a precision is wanted and no window fits into the longest time."""
    document = scenario_document()
    document["workload"] = {"kind": "load", "targets": ["sda"], "precision": "10%", "warm_up": "0s", "duration": "1ms"}
    with pytest.raises(InputError, match="nothing could be measured in 1 ms; expected"):
        simulate(validate(ScenarioSpec, document))
