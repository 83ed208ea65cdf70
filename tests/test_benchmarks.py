"""The benchmarks run, and the price of a member I/O in scheduled events; never how long anything takes."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from raidsim.benchmarks import disksim, gate, history, paired, parts, scaling, tables
from raidsim.benchmarks.__main__ import all_chores, as_json, as_table
from raidsim.benchmarks.commands import COMMANDS
from raidsim.benchmarks.components import COMPONENTS
from raidsim.benchmarks.loads import LOADS, OUTSTANDING
from raidsim.benchmarks.long_run import LongRun, long_run
from raidsim.benchmarks.measure import EVENTS_AIM, Memory, Speed, bare_timeouts_per_s, measure, measure_memory, spread
from raidsim.benchmarks.scaling import Point, Series, as_text, disks, draw, queued
from raidsim.compiled.loader import ROOT

REQUESTS = 3000


@pytest.mark.parametrize("name", LOADS)
def test_a_member_io_is_one_event(name: str) -> None:
    """Protects the budget: at most 1.1 scheduled events per member I/O, with the full model of the drive."""
    load = LOADS[name]()
    load.run(REQUESTS)
    before = load.member_ios, load.engine.scheduled_events
    load.run(REQUESTS)
    assert 2 * REQUESTS <= load.completed < 2 * REQUESTS + OUTSTANDING
    ios, events = load.member_ios - before[0], load.engine.scheduled_events - before[1]
    assert ios >= REQUESTS
    assert events <= EVENTS_AIM * ios


def test_small_writes_cost_four_member_ios() -> None:
    """Protects what is measured: 30 % small writes on RAID 5 of 8 are 0.7 + 0.3 * 4 = 1.9 member I/Os each."""
    load = LOADS["RAID 5 of 8, random 4 KiB 70/30"]()
    load.run(REQUESTS)
    assert load.member_ios / REQUESTS == pytest.approx(1.9, rel=0.05)


def test_sequential_writes_fill_rows() -> None:
    """Protects what is measured: a stream of 64 KiB chunks is written as full rows, 8 member I/Os for 7 requests."""
    load = LOADS["RAID 5 of 8, sequential 64 KiB writes"]()
    load.run(REQUESTS)
    assert load.member_ios / REQUESTS == pytest.approx(8 / 7, rel=0.02)


def test_loads_repeat() -> None:
    """Protects comparisons between versions: a load is the same every time."""
    name = "RAID 0 of 4, random 4 KiB 70/30"
    ends = set()
    for _ in range(2):
        load = LOADS[name]()
        load.run(REQUESTS)
        ends.add((load.engine.now, load.member_ios))
    assert len(ends) == 1


def test_everything_is_measured_and_shown() -> None:
    """Protects the table and the JSON: every load and component has its line, whatever the machine makes of it."""
    chores = all_chores()
    speeds = measure(chores, rounds=1, seconds=0.001, timeouts=1000)
    memory = measure_memory(2000)
    assert bare_timeouts_per_s(1000) > 0
    assert [speed.name for speed in speeds] == [*LOADS, *COMMANDS, *COMPONENTS]
    assert all(speed.per_s > 0 and speed.ratio > 0 for speed in speeds)
    assert memory.member_ios >= 2000
    table = as_table(1.0, speeds, memory)
    assert all(name in table for name in chores)
    found = json.loads(as_json(1.0, speeds, memory, []))
    assert [entry["name"] for entry in found["speeds"]] == list(chores)
    assert found["memory"]["growth_mib"] == memory.growth_mib


def test_aims() -> None:
    """Protects the judgment: an aim is met at the limit, missed beyond it, and comparing commands has none."""
    assert Speed("x", 1.0, 0.12, 0.0, 1.1).aim_met
    assert not Speed("x", 1.0, 0.119, 0.0, 1.0).aim_met
    assert not Speed("x", 1.0, 0.2, 0.0, 1.11).aim_met
    assert Speed("disk with NCQ, random 4 KiB reads", 1.0, 0.01, 0.0, 1.0).aim_met is None
    assert Speed("a component", 1.0, 0.01, 0.0).aim_met is None
    assert Memory("x", 1, 1.0).aim_met
    assert not Memory("x", 1, 1.1).aim_met


def test_a_cost_above_its_limit_is_told() -> None:
    """Protects the gate of `make bench`: what costs more than it may is named, what costs it just so is not."""
    name, cost = next(iter(gate.COSTS.items()))
    within, beyond = (Speed(name, 1.0, gate.TIMEOUT_US / (cost.limit_us * share), 0.01) for share in (1.0, 1.05))
    assert gate.cost_us(within) == pytest.approx(cost.limit_us)
    assert gate.too_expensive([within]) == []
    assert gate.too_expensive([beyond]) == [name]
    assert f"{cost.limit_us * 1.05:.2f}" in gate.as_text([beyond])


def test_costs_are_of_what_is_measured() -> None:
    """Protects the gate from names that nothing has, and limits from being below their aims."""
    assert set(gate.COSTS) <= set(all_chores())
    assert all(cost.aim_us <= cost.limit_us for cost in gate.COSTS.values())


def _earlier(ratio: float, error: float = 0.0) -> dict[str, object]:
    return {"ratios": {"x": [ratio, error]}, "kind": history.kind()}


def test_a_loss_of_more_than_a_tenth_is_a_regression() -> None:
    """Protects `make bench`: 12 % slower by rounds that agree fails, and says which, by how much and how sure."""
    speeds = [Speed("x", 1.0, 0.088, 0.005)]
    found = history.regressions(speeds, _earlier(0.1), lambda names: speeds)
    assert [change.name for change in found] == ["x"]
    assert found[0].change == pytest.approx(-0.12)
    assert found[0].sureness > 0.99
    assert "x: -12.0%" in history.as_text(found)


@pytest.mark.parametrize(
    ("now", "error", "again"),
    [(0.092, 0.001, 0.092), (0.085, 0.2, 0.085), (0.085, 0.001, 0.1), (0.2, 0.001, 0.2)],
    ids=["less than a tenth", "rounds that scatter", "only once", "faster"],
)
def test_noise_is_no_regression(now: float, error: float, again: float) -> None:
    """Counter-test: what is small, uncertain or gone at the second look does not fail."""
    speeds = [Speed("x", 1.0, now, error)]
    assert not history.regressions(speeds, _earlier(0.1), lambda names: [Speed("x", 1.0, again, 0.001)])


def test_history_keeps_kinds_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects comparisons: the last entry of the same kind counts, no other machine's, and no line cut off."""
    path = tmp_path / "history.jsonl"
    assert history.last_entry(path) is None
    history.record([Speed("x", 1.0, 0.1, 0.01)], path)
    history.record([Speed("x", 1.0, 0.2, 0.01)], path)
    other = history.entry([Speed("x", 1.0, 0.9, 0.01)])
    other["kind"] = {**other["kind"], "processor": "another"}
    with path.open("a") as file:
        file.write(json.dumps(other) + "\n" + '{"ratios": {"x"')
    found = history.last_entry(path)
    assert found is not None
    assert found["ratios"] == {"x": [0.2, 0.01]}
    assert "passed over a line" in capsys.readouterr().err
    assert (platform.node() or "no name") not in path.read_text()


def test_spread_ignores_an_outlier() -> None:
    """Protects the judgment of noise: one round that something else disturbed changes next to nothing."""
    calm = [0.1, 0.101, 0.099, 0.1, 0.1005, 0.0995, 0.1]
    assert spread(calm) < 0.01
    assert spread([*calm, 0.02]) < 0.01
    assert spread([0.1, 0.2, 0.05, 0.15, 0.08]) > 0.1


def test_disksim_is_compared_by_ratios() -> None:
    """Protects the table beside DiskSim: every load has a line, and the factor is the quotient of two ratios."""
    found = disksim.compare(rounds=1, requests=20)
    assert [(one.name, one.how) for one in found] == [
        (name, how)
        for name in disksim.WORKLOADS
        for how in ("off", "on", "replayed")
        if how != "replayed" or name in disksim.REPLAYED
    ]
    assert all(one.per_cpu_s > 0 and one.ratio > 0 for one in found)
    same = disksim.Comparison("RAID 10 of 4", "on", 1.0, 73_000 / disksim.BARE_TIMEOUTS)
    assert same.times(disksim.UNRECORDED) == pytest.approx(1.0)
    row = " ".join(disksim.as_text([same]).splitlines()[1].split())
    assert row == "RAID 10 of 4 on 1 0.0429 not recorded 0.0429 1.00 no"


def test_disksims_cheapest_drive_is_the_stricter_bar() -> None:
    """Protects the comparison from a drive that DiskSim is slow with: each figure names its drive, and has a line."""
    for name in disksim.REPLAYED:
        figures = disksim.WORKLOADS[name].disksim_per_s
        assert figures[disksim.CHEAPEST] == max(figures.values())
        one = disksim.Comparison(name, "on", 1.0, 3.0 * figures[disksim.CHEAPEST] / 1_690_000)
        assert one.times(disksim.CHEAPEST) == pytest.approx(disksim.AIM)
        lines = disksim.as_text([one]).splitlines()[1:-1]
        assert [drive for drive in figures if any(drive in line for line in lines)] == list(figures)


def test_a_loss_in_paired_runs_is_refused() -> None:
    """Protects the judgment: more than a tenth in most pairs is a loss; less, or a loss that scatters, is none."""
    slow = paired.Pairs("slow", (0.85, 0.86, 0.84, 0.87, 0.85))
    assert slow.is_regression
    assert not paired.Pairs("within", (0.92, 0.93, 0.91)).is_regression
    assert not paired.Pairs("scattered", (0.5, 0.88, 1.4, 0.86, 1.2, 0.6)).is_regression
    assert paired.as_text([slow], "HEAD").splitlines()[1].split() == ["slow", "0.850", "1.0%", "slower"]


def test_parts_are_files_of_the_model() -> None:
    """Protects the table of what an I/O costs from files that are moved: what it names is there."""
    folders = [folder for names in parts.PARTS.values() for folder in names if folder != "simpy"]
    assert [folder for folder in folders if not any((ROOT / folder).glob("**/*.py"))] == []


def test_time_of_all_parts_is_the_whole() -> None:
    """Protects the table of what an I/O costs: next to nothing lands in no part."""
    for one in parts.parts(share=0.01):
        whole = sum(one.us.values())
        assert whole > 0
        assert one.us["other"] < 0.15 * whole
        assert 1 < one.events < 5


def test_scaling_is_shown_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the tables and the picture of `--scaling`."""
    monkeypatch.setattr(scaling, "_REQUESTS", 200)
    found = [
        Series("disks", [Point(count, *disks(count)) for count in (1, 100)]),
        Series("queue", [Point(5, *queued(5))]),
    ]
    assert "disks" in as_text(found)
    draw(found, tmp_path / "scaling.svg")
    assert "<svg" in (tmp_path / "scaling.svg").read_text()


def test_a_long_run_is_watched() -> None:
    """Protects `--long-run`: I/Os are counted, memory is looked at, and growth or slowing misses the aim."""
    run = long_run(3000)
    assert run.ios > 2000
    assert run.highest_mib >= run.last_mib > 10
    assert LongRun(1, 1, 1.0, 1.0, 100.0, 104.0, 104.9, 10.0, 9.1).aim_met
    assert not LongRun(1, 1, 1.0, 1.0, 100.0, 104.0, 105.1, 10.0, 9.1).aim_met
    assert not LongRun(1, 1, 1.0, 1.0, 100.0, 100.0, 100.0, 10.0, 8.9).aim_met


def test_tables_name_sections_that_are_there() -> None:
    """Protects the pages on speed: each of their tables is printed under the section that shows it."""
    for title, _, _ in tables.TABLES:
        page, section = title.split(", ", 1)
        assert f"\n## {section}\n" in (ROOT / page).read_text(encoding="utf-8"), title
