"""Loads with phases: each as if it stood alone, and the day as their mean."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.any_workload import LoadsSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.load_curve import at_rate, raised
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.run import Run
from raidsim.scenarios.running.full_load import as_much_as_it_takes
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import scenario_document

BASE: dict[str, Any] = {"kind": "load", "targets": ["sda"], "depth": 4, "warm_up": "0.5s", "duration": "3s"}
NIGHT: dict[str, Any] = {"name": "night", "lasts": "8h", "iops": 20, "read_share": "20%"}
DAY: dict[str, Any] = {"name": "day", "lasts": "16h", "block_size": "64KiB"}


def scenario(**fields: Any) -> ScenarioSpec:
    """A load on one drive."""
    return validate(ScenarioSpec, {**scenario_document(kernel="linux-6.1", seed=1), "workload": {**BASE, **fields}})


@pytest.fixture(scope="module")
def day() -> Prediction:
    """A load with two phases, simulated."""
    return simulate(scenario(phases=[NIGHT, DAY]))


def alone(phase: dict[str, Any], **without: Any) -> Prediction:
    """A phase as a load of its own."""
    fields = {name: value for name, value in phase.items() if name not in ("name", "lasts")}
    return simulate(scenario(**{**fields, **without}))


def test_a_phase_is_what_it_would_be_alone(day: Prediction) -> None:
    """Nothing is carried over: the figures are those of the load with the phase's fields."""
    night, afternoon = alone(NIGHT, depth=1), alone(DAY)
    assert {name: day.figures[f"night.{name}"] for name in night.figures} == night.figures
    assert {name: day.figures[f"day.{name}"] for name in afternoon.figures} == afternoon.figures
    assert day.phases == {"night": night, "day": afternoon}


def test_the_day_is_the_mean_of_its_phases_by_time(day: Prediction) -> None:
    """A third night, two thirds day; latencies count by I/Os."""
    figures = day.figures
    assert figures["rate"] == pytest.approx((figures["night.rate"] + 2 * figures["day.rate"]) / 3)
    assert figures["iops"] == pytest.approx((figures["night.iops"] + 2 * figures["day.iops"]) / 3)
    assert figures["seconds"] == 24 * 3600
    night, afternoon = (day.phases[name] for name in ("night", "day"))
    counts = [night.iops["read"], 2 * afternoon.iops["read"]]
    latencies = [each.latencies["read"]["mean_s"] for each in (night, afternoon)]
    mean = sum(count * latency for count, latency in zip(counts, latencies, strict=True)) / sum(counts)
    assert figures["read_mean_seconds"] == pytest.approx(mean)
    assert night.figures["read_mean_seconds"] < mean < afternoon.figures["read_mean_seconds"]
    assert figures["write_p99_seconds"] == pytest.approx(
        figures["night.write_p99_seconds"], rel=0.02
    )  # nobody else writes
    usage = {each.name: each for each in day.usages if each.kind == "disk"}["sda"]
    parts = [{each.name: each for each in phase.usages if each.kind == "disk"}["sda"] for phase in (night, afternoon)]
    assert usage.utilization == pytest.approx((parts[0].utilization + 2 * parts[1].utilization) / 3)
    assert usage.bytes / day.measured_s == pytest.approx((parts[0].bytes / 3 + 2 * parts[1].bytes / 3) / 3, rel=1e-6)
    assert day.bottleneck.endswith("during day")


def test_intervals_of_the_day_are_those_of_its_phases(day: Prediction) -> None:
    """Half-widths add up by the same weights as the means."""
    rate = day.estimates["rate"]
    assert rate.mean == pytest.approx(day.rate)
    parts = [day.estimates[f"{name}.rate"].half_width for name in ("night", "day")]
    assert rate.half_width == pytest.approx((parts[0] + 2 * parts[1]) / 3)


def test_equal_phases_are_the_load_itself() -> None:
    """Counter-test: a day of two halves that differ in nothing is as the load without phases."""
    halves = simulate(scenario(phases=[{"name": "am", "lasts": "12h"}, {"name": "pm", "lasts": "12h"}]))
    whole = simulate(scenario())
    for name, value in whole.figures.items():
        if name != "seconds":
            assert halves.figures[name] == pytest.approx(value, rel=1e-6), name


def test_every_phase_is_watched(day: Prediction) -> None:
    """Whoever follows a run sees one for each phase."""
    runs: list[Run] = []
    simulate(scenario(phases=[NIGHT, DAY]), watch=runs.append)
    assert len(runs) == 2
    assert day.member_ios == sum(each.member_ios for each in day.phases.values())


def test_a_phase_takes_the_place_of_what_does_not_go_with_it() -> None:
    """A rate instead of a depth, one size instead of two; everything else stays."""
    base = {**BASE, "think_time": "1ms", "read_size": "8KiB", "pattern": "mixed", "run_length": 4, "locality": "hot"}
    phases = [NIGHT, DAY, {"name": "scan", "lasts": "1h", "pattern": "sequential"}]
    spec = validate(LoadSpec, {**base, "phases": phases})
    night, afternoon, scan = (load for _, _, load in spec.parts())
    assert (night.depth, night.job_iops, night.think_time, night.sizes[0]) == (1, 20, 0.0, {8192: 1.0})
    assert (afternoon.depth, afternoon.sizes, afternoon.run_length) == (4, ({65536: 1.0}, {65536: 1.0}), 4)
    assert (scan.locality, scan.run_length, scan.think_time, scan.duration) == (None, None, 1e-3, 3.0)
    assert [(name, lasts) for name, lasts, _ in spec.parts()] == [("night", 28800), ("day", 57600), ("scan", 3600)]
    opened = {"kind": "load", "targets": ["sda"], "total_iops": 5, "arrivals": "bursty"}
    closed = validate(LoadSpec, {**opened, "phases": [{"name": "a", "lasts": "1h", "depth": 8}]}).parts()[0][2]
    assert (closed.depth, closed.job_iops, closed.arrivals) == (8, None, None)
    assert validate(LoadSpec, BASE).parts()[0][2].phases == ()


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        ({"name": "a.b", "lasts": "1h"}, r"field workload.phases\[1\].name"),
        ({"name": "night", "lasts": "1h"}, r"field workload.phases\[1\].name: found night twice"),
        (
            {"name": "b", "lasts": "1h", "run_length": 3},
            r"phases\[1\].run_length: found run_length with pattern random",
        ),
        ({"name": "b", "lasts": "1h", "arrivals": "bursty"}, r"phases\[1\].arrivals: found bursty arrivals without"),
        ({"name": "b", "lasts": "1h", "targets": ["sdb"]}, r"phases\[1\].targets: found the unknown key"),
        ({"name": "b", "lasts": "1h", "jobs": 4096, "depth": 100}, r"phases\[1\].depth: .* 409,600 I/Os outstanding"),
        ({"name": "b"}, r"phases\[1\].lasts: found it is missing|phases\[1\].lasts: it is missing"),
    ],
)
def test_a_phase_that_does_not_fit_is_refused_by_its_field(phase: dict[str, Any], said: str) -> None:
    """Protects files: the phase and its field are named."""
    with pytest.raises(InputError, match=said):
        scenario(phases=[NIGHT, phase])


def test_the_largest_io_of_any_phase_must_fit() -> None:
    """A span is for all phases."""
    with pytest.raises(InputError, match=r"field workload\.span: found 32768 bytes"):
        scenario(span="32KiB", phases=[NIGHT, DAY])


SHOP = """
machine: {model: server, drives: {model: Exos-15E900-900GB, count: 4}}
arrays: {md0: {level: raid10, bitmap: none}}
workloads:
  - {name: backup, pattern: sequential, block_size: 1MiB, read_share: 0%, depth: 4}
  - {name: shop, jobs: 8, think_time: 20ms, read_share: 70%, end: 300ms}
"""
SHOP_DAY = "{name: day, lasts: 16h, workloads: [shop]}"
SHOP_NIGHT = "{name: night, lasts: 8h, duration: 600ms, workloads: [backup, {name: shop, jobs: 2}]}"


def shop_spec(*phases: str) -> ScenarioSpec:
    """A backup, and a shop that has customers in a part of the measurement."""
    times = f"{{warm_up: 100ms, duration: 400ms, phases: [{', '.join(phases)}]}}"
    return document_from(f"{SHOP}workload: {times}").spec()


@pytest.fixture(scope="module")
def shop() -> Prediction:
    """Two loads whose phases differ, simulated."""
    return simulate(shop_spec(SHOP_DAY, SHOP_NIGHT))


def test_a_phase_has_the_loads_that_it_names(shop: Prediction) -> None:
    """Each phase is what its loads alone would be, with its own fields; a load that it leaves out is not there."""
    text = SHOP.replace("jobs: 8", "jobs: 2") + "workload: {warm_up: 100ms, duration: 600ms}"
    assert simulate(document_from(text).spec()) == shop.phases["night"]
    assert {name: list(phase.loads) for name, phase in shop.phases.items()} == {
        "day": ["shop"],
        "night": ["backup", "shop"],
    }
    assert list(shop.loads) == ["backup", "shop"]
    assert shop.figures["night.shop.iops"] == shop.phases["night"].loads["shop"].figures["iops"]


def test_a_load_of_the_day_counts_while_it_runs(shop: Prediction) -> None:
    """The backup's rate is that of the night, the shop's weighted by how long it is there; together they are a mean."""
    day, night = shop.phases.values()
    backup, own = shop.loads.values()
    alone = night.loads["backup"]
    assert backup.rate == pytest.approx(alone.rate)
    assert backup.iops == pytest.approx(alone.iops)
    assert backup.latencies["write"]["mean_s"] == pytest.approx(alone.latencies["write"]["mean_s"])
    # The shop is there for 300 of 400 ms by day, of 600 ms by night.
    lasts = (16 * 0.75, 8 * 0.5)
    parts = [phase.loads["shop"] for phase in (day, night)]
    mean = sum(hours * part.rate for hours, part in zip(lasts, parts, strict=True)) / sum(lasts)
    assert own.rate == pytest.approx(mean)
    assert own.seconds == pytest.approx(sum(lasts) * 3600)
    reads = [part.latencies["read"] for part in parts]
    counts = [n * each["n"] for n, each in zip((16 / 0.4, 8 / 0.6), reads, strict=True)]
    waits = sum(count * each["mean_s"] for count, each in zip(counts, reads, strict=True)) / sum(counts)
    assert own.latencies["read"]["mean_s"] == pytest.approx(waits)
    assert shop.rate == pytest.approx((2 * day.rate + night.rate) / 3)
    assert shop.estimates["backup.iops"].mean == pytest.approx(shop.figures["backup.iops"])


def test_phases_that_name_no_loads_have_all_of_them() -> None:
    """Counter-test: a day of two halves that differ in nothing is as the loads without phases."""
    halves = simulate(shop_spec("{name: am, lasts: 12h}", "{name: pm, lasts: 12h}"))
    whole = simulate(document_from(f"{SHOP}workload: {{warm_up: 100ms, duration: 400ms}}").spec())
    assert halves.phases == {"am": whole, "pm": whole}
    assert halves.rate == pytest.approx(whole.rate)
    assert halves.loads["shop"].rate == pytest.approx(whole.loads["shop"].rate)


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (
            "{name: a, lasts: 1h, workloads: [shop, mail]}",
            r"phases\[1\].workloads\[1\].name: found unknown load 'mail'",
        ),
        ("{name: a, lasts: 1h, workloads: [shop, shop]}", r"phases\[1\].workloads\[1\].name: found shop twice"),
        ("{name: a, lasts: 1h, workloads: []}", r"phases\[1\].workloads"),
        ("{name: night, lasts: 1h}", r"phases\[1\].name: found night twice; expected: each name once"),
        ("{name: shop, lasts: 1h}", r"phases\[1\].name: found shop, which is a load; expected: another name"),
        (
            "{name: a, lasts: 1h, workloads: [{name: backup, locality: hot}]}",
            r"phases\[1\].workloads\[0\].locality: found a locality of sequential I/Os",
        ),
        (
            "{name: a, lasts: 1h, workloads: [{name: shop, block_size: 1000B}]}",
            r"phases\[1\].workloads\[0\].block_size: found 1000 bytes",
        ),
        (
            "{name: a, lasts: 1h, workloads: [{name: shop, depth: 20000}, backup]}",
            r"phases\[1\].workloads\[0\].depth: found a depth of 20,000",
        ),
        ("{name: a, lasts: 1h, depth: 4}", r"phases\[1\].depth: found the unknown key 'depth'"),
    ],
)
def test_nonsense_in_phases_of_several_loads_is_refused(phase: str, said: str) -> None:
    """The message names the phase, the load in it and the field."""
    with pytest.raises(InputError, match=said):
        shop_spec(SHOP_NIGHT, phase)


def test_a_load_that_no_phase_has_is_refused() -> None:
    """Protects from a load that vanishes without a word, and from times that a short phase does not have."""
    with pytest.raises(InputError, match="found backup, which no phase has; expected: a load of a phase"):
        shop_spec(SHOP_DAY)
    late = SHOP.replace("end: 300ms", "begin: 300ms")
    phases = "[{name: a, lasts: 1h}, {name: b, lasts: 1h, duration: 200ms}]"
    with pytest.raises(InputError, match=r"phases\[1\].duration: found a load from 0.3 s to 0.2 s"):
        document_from(f"{late}workload: {{warm_up: 100ms, duration: 400ms, phases: {phases}}}").spec()


def test_questions_about_one_load_take_the_longest_phase() -> None:
    """A curve raises the first load of the longest phase, and rebuilds go on next to its loads."""
    spec = shop_spec(SHOP_DAY, SHOP_NIGHT)
    assert raised(spec) == "shop"
    workload = at_rate(spec, 100).workload
    assert isinstance(workload, LoadsSpec)
    assert [(load.name, load.total_iops) for load in workload.loads] == [("shop", 100)]
    assert workload.phases == ()
    full = as_much_as_it_takes(spec).workload
    assert isinstance(full, LoadsSpec)
    assert [load.name for load in full.loads] == ["shop"]
    assert full.loads[0].depth > 1
