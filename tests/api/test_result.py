"""What a run gives, as a value."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import pytest

import raidsim
from raidsim.api.answer import numbers
from raidsim.api.figures import interval_of, latency_of_all
from raidsim.calibration.uncertainty.model_interval import run_intervals
from raidsim.model.statistics.batch_means import Estimate
from raidsim.model.statistics.latency_histogram import LatencyHistogram
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.api.small import small

KEYS = ("n", "mean_s", "p50_s", "p90_s", "p99_s", "p99.9_s", "max_s")


@pytest.fixture(scope="module")
def result() -> raidsim.Result:
    """One run."""
    return raidsim.run(small(), progress=False)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Figures are shown nowhere, and are gone afterwards."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def test_figures_are_those_of_the_simulator(result: raidsim.Result) -> None:
    """Protects against a second model: the public figures are the simulator's own numbers."""
    prediction = simulate(small().spec)
    assert result.iops == pytest.approx(prediction.figures["iops"], rel=1e-12)
    assert result.throughput == prediction.rate
    assert result.reads.iops == prediction.iops["read"]
    assert result.reads.latency.p99 == prediction.latencies["read"]["p99_s"]
    assert result.interval("iops").value == prediction.estimates["iops"].mean
    assert result.utilization["disk0"] == prediction.usages[-4].utilization
    assert result.bottleneck == prediction.bottleneck
    assert result.writes.latency.mean > result.reads.latency.mean


def test_latencies_of_all_are_those_of_both_directions() -> None:
    """Protects the percentiles of reads and writes together: a histogram that counts both gives the same."""
    both, latencies, bins = LatencyHistogram(), {}, {}
    for op, scale in (("read", 1e-3), ("write", 7e-3)):
        own = LatencyHistogram()
        for number in range(1, 1500 if op == "read" else 400):
            own.add(scale * (number % 97 + 1) / 50)
            both.add(scale * (number % 97 + 1) / 50)
        percentiles = (own.percentile(percent) for percent in (50, 90, 99, 99.9))
        latencies[op] = dict(zip(KEYS, (own.count, own.mean, *percentiles, own.max), strict=True))
        bins[op] = tuple((1e-9 * middle, float(count)) for middle, count in own.bins())
    found = latency_of_all(latencies, bins)
    for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9)):
        assert getattr(found, name) == pytest.approx(both.percentile(percent), rel=1e-9), name
    assert found.mean == pytest.approx(both.mean)
    assert found.max == both.max
    assert math.isnan(latency_of_all({}, {}).mean)


def test_a_saturated_load_has_no_latency() -> None:
    """Protects a comparison with a limit: where the queue grows without end, no latency is below any limit."""
    open_load = small(total_iops=5000)
    result = raidsim.run(open_load, progress=False)
    assert result.saturated
    assert result.latency.p99 == result.reads.latency.mean == math.inf
    assert "saturated" in repr(result)
    assert result.to_dict()["saturated"] is True
    assert not raidsim.run(small(total_iops=20), progress=False).saturated


def test_intervals_of_real_machines_are_those_of_the_reports(result: raidsim.Result) -> None:
    """Protects from false confidence: a rate, a mean and a percentile each have the interval of their own kind, and a
    rate that the load prescribes has none.
    """
    known = run_intervals(small().spec)
    for name, of_kind in (("iops", known.rate), ("read.mean", known.latency), ("write.p99", known.tail)):
        found = result.real_interval(name)
        low, high = (0.0, math.inf) if of_kind is None else of_kind.around(found.value)
        assert (found.low, found.high) == (low, high), name
    assert known.rate is not None
    offered = raidsim.run(small(total_iops=20), progress=False)
    assert offered.real_interval("iops").high == math.inf


def test_figures_have_the_names_that_people_try(result: raidsim.Result) -> None:
    """Protects a notebook user's first guesses: each short name gives the figure of the long way."""
    for op, direction in (("read", result.reads), ("write", result.writes)):
        for name in ("mean", "p50", "p99"):
            assert getattr(result, f"{op}_{name}") == getattr(direction.latency, name), (op, name)
    told = result.to_dict()
    assert result.power == told["power"]["watts"]
    assert result.cost is None
    assert raidsim.run(small(machine__drives__price=50), progress=False).cost == 200
    assert result.busiest in result.bottleneck
    assert result.utilization[result.busiest] > 0.5
    sums = {cause: 0.0 for times in result.waits.values() for cause in times}
    for op, times in result.waits.items():
        for cause, seconds in times.items():
            sums[cause] += seconds * result.prediction.latencies[op]["n"]
    assert result.cause.startswith(f"{max(sums, key=lambda cause: sums[cause])}, ")
    flooded = raidsim.run(small(total_iops=5000), progress=False)
    assert flooded.cause == flooded.bottleneck


def test_a_wrong_attribute_proposes_the_right_one(result: raidsim.Result) -> None:
    """Protects from guessing on: a misspelt attribute and another word for one name the right one, in one message."""
    proposals = {"read_p98": "read_p99", "bandwidth": "throughput", "bandwith": "throughput", "watts": "power"}
    for name, right in (proposals | {"p99": "latency.p99", "utilisation": "utilization"}).items():
        with pytest.raises(AttributeError, match=rf"^Result has no attribute '{name}'; did you mean {right}\?$"):
            getattr(result, name)
    with pytest.raises(AttributeError, match="Latency has no attribute 'p95'; did you mean p99"):
        getattr(result.latency, "p95")  # noqa: B009
    with pytest.raises(AttributeError, match=r"'xyzzy'; it has .*, bottleneck, .*, write_p99"):
        getattr(result, "xyzzy")  # noqa: B009
    assert not hasattr(result, "_repr_png_")


def test_an_attribute_that_fails_says_itself_why() -> None:
    """The counter-test: an error inside an attribute that there is, is not taken for a wrong name."""
    broken = raidsim.Result.__new__(raidsim.Result)
    with pytest.raises(AttributeError, match="'prediction'"):
        broken.throughput  # noqa: B018


def test_a_run_takes_changes_by_keyword() -> None:
    """Protects a short call: `run` takes the keywords of `with_` too, and proposes the right one for a misspelt one."""
    assert raidsim.run(small(), span="1GB", depth=2, progress=False).to_dict() == (
        raidsim.run(small(span="1GB", depth=2), progress=False).to_dict()
    )
    with pytest.raises(raidsim.InputError, match=r"run: found progres; did you mean progress\?"):
        raidsim.run(small(), progres=False)
    with pytest.raises(raidsim.InputError, match=r"there is no 'dept'; did you mean depth"):
        raidsim.run(small(), dept=2)
    with pytest.raises(raidsim.InputError, match=r"load_curve: found pionts; did you mean points\?"):
        raidsim.load_curve(small(), pionts=8)


def test_a_result_is_one_line_a_table_and_json(result: raidsim.Result) -> None:
    """Protects what notebooks and programs read: one line, rows of numbers, and JSON with its schema and version."""
    assert "\n" not in repr(result)
    assert f"{numbers.number(result.iops)} IOPS" in repr(result)
    told = json.loads(result.to_json())
    assert (told["schema"], told["schema_version"]) == ("raidsim.result", 1)
    assert told["iops"]["read"] == result.reads.iops
    frame = result.to_frame()
    assert frame["iops"][0] == result.iops
    assert list(result.to_frame("parts")["part"]) == list(result.utilization)
    assert list(result.to_frame("latency")["direction"]) == ["all", "read", "write"]
    html = result._repr_html_()
    assert html.count("<table") == 2  # latencies and utilization
    assert html.count("<svg") == 2
    with pytest.raises(raidsim.InputError, match="did you mean 'parts'"):
        result.to_frame("part")  # type: ignore[arg-type]
    with pytest.raises(raidsim.InputError, match="did you mean 'throughput'"):
        result.interval("troughput")


def test_pictures_give_their_axes(result: raidsim.Result) -> None:
    """Protects `plot`: it gives the panels of a figure that pyplot knows, so that a notebook shows it."""
    from matplotlib import pyplot

    axes = result.plot()
    assert [panel.get_xlabel()[:4] for panel in axes] == ["busy", "late"]
    (timeline, *_) = result.plot("timeline")
    assert len(pyplot.get_fignums()) == 2
    assert timeline.patches or timeline.collections


@pytest.mark.parametrize(("module", "extra"), [("pandas", "notebook"), ("matplotlib", "plot")])
def test_what_is_not_installed_is_named(
    result: raidsim.Result, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    """Protects a plain install: a picture or a frame without its library is refused with what to install."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else True)
    ask = result.to_frame if module == "pandas" else result.plot
    with pytest.raises(raidsim.InputError, match=rf"not installed; expected, in the checkout: .*'\.\[{extra}\]'"):
        ask()


def test_seed_and_precision_are_those_asked_for() -> None:
    """Protects the keywords of `run`: another seed gives other numbers, the same one the same."""
    first, again, other = (raidsim.run(small(), seed=seed, progress=False) for seed in (1, 1, 2))
    assert first.to_dict() == again.to_dict()
    assert first.iops != other.iops
    assert raidsim.run(small(), precision="30%", progress=False).prediction.precision_reached is not None
    with pytest.raises(raidsim.InputError, match="kind load"):
        raidsim.run(small(), scale=2)


def test_without_the_bottleneck_it_is_faster() -> None:
    """Protects the question that follows: what would happen without the part that limits."""
    result = raidsim.run(small(total_iops=5000), progress=False)
    found = result.without_bottleneck(progress=False)
    assert found is not None
    assert found.prediction.rate > 1.1 * result.throughput


def test_an_interval_lies_around_its_mean() -> None:
    """Protects the intervals of all answers: as far above the mean as below it, and endless where none is known."""
    found = interval_of(1.0, Estimate(10.0, 2.0, 0.9, 20, 0.0, 0.0, False))
    assert (found.value, found.low, found.high, found.confidence) == (10.0, 8.0, 12.0, 0.9)
    unknown = interval_of(3.0, None)
    assert (unknown.value, unknown.low, unknown.high) == (3.0, -math.inf, math.inf)


def test_loads_and_phases_have_rows() -> None:
    """Protects a day with several loads: rows for the run, each load, each phase and each load in it; a comparison has
    the same figures as columns.
    """
    phases = [{"name": "day", "lasts": "16h", "workloads": ["a"]}, {"name": "night", "lasts": "8h"}]
    scenario = raidsim.Scenario(
        machine={"drives": {"model": "WD2500JS", "count": 2}},
        array={"level": "raid1", "bitmap": "none"},
        workloads=[{"name": "a", "depth": 2}, {"name": "b", "read_share": 0}],
        workload={"warm_up": "10ms", "duration": "100ms", "phases": phases},
    )
    result = raidsim.run(scenario, progress=False)
    rows = result.to_frame("loads")
    names = [f"{phase}/{load}" for phase, load in zip(rows["phase"], rows["load"], strict=True)]
    assert names == ["/", "/a", "/b", "day/", "day/a", "night/", "night/a", "night/b"]
    assert rows["write_iops"][7] == result.prediction.figures["night.b.iops"]
    compared = raidsim.compare(scenario, seed=[0, 1], rebuild=False, replications=1, progress=False).to_frame()
    assert compared["night.b.iops"][0] > 0
