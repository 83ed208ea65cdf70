"""Advice: what meets a requirement, what does not, and what would; the same whatever the number of processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.advice.advice import Advice, advise
from raidsim.scenarios.advice.bounds.bounds import room_refusals
from raidsim.scenarios.advice.fewest_drives import FewestDrives
from raidsim.scenarios.advice.judgement import judged
from raidsim.scenarios.advice.ranking import pareto
from raidsim.scenarios.advice.runs import Measured, Search, Simulations, Task, run_task
from raidsim.scenarios.advice.standings import Standing
from raidsim.scenarios.advice.trials import Trials
from raidsim.scenarios.advice.verdict import Verdict
from raidsim.scenarios.comparison.array_facts import array_facts
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.scenarios.designs.room import room
from raidsim.tests.scenarios.designs.test_requirement import DRIVE, wanted

EASY: dict[str, Any] = {
    "load": {"total_iops": 150, "read_share": "80%", "block_size": "8KiB"},
    "limits": {"read_p99": "30ms"},
    "survives": 1,
    "levels": ["raid0", "raid10"],
    "chunks": ["64KiB", "256KiB"],
    "drives": [{"model": DRIVE, "count": 4, "price": 300}],
    "precision": "10%",
    "bitmap": "none",
}


SEEN: list[list[Standing]] = []


@pytest.fixture(scope="module")
def easy() -> Advice:
    """Four drives for a light load; what was seen meanwhile is in `SEEN`."""
    SEEN.clear()
    return advise(wanted(**EASY), workers=1, seen=lambda standings: SEEN.append(standings.ranked()))


def test_a_ranking_is_there_before_any_simulation_and_is_refined(easy: Advice) -> None:
    """Bounds rank at once, what they refuse last; simulations of rising lengths follow; the last is the answer."""
    first, second, last = SEEN[0], SEEN[1], SEEN[-1]
    assert [each.design.family.level.level for each in first] == ["raid10", "raid0"]
    assert [each.fails for each in first] == [False, True]
    assert first[0].verdict is None
    assert 0 < first[0].busy < 1
    assert second[0].verdict is not None
    assert second[0].verdict.measured is not None
    assert second[0].verdict.measured.task.ios == 600
    assert last[0].verdict is easy.ranked[0]
    simulated = last[0]
    bounded = replace(simulated, verdict=None, busy=0.0)
    failed = replace(simulated, verdict=replace(easy.ranked[0], status="fails"))
    assert simulated.order < bounded.order < failed.order, "of equal cost, what was simulated comes first"


def test_the_same_simulation_is_not_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two searches that ask for the same task the second gets the result; another rate is another task."""
    requirement = wanted(**EASY)
    design = next(each for each in FewestDrives(Trials(requirement)).candidates if each.possible).designs[0]
    ran: list[float] = []

    def counted(_: RequirementSpec, task: Task) -> Measured:
        ran.append(task.iops)
        return _measured(task)

    def asking(*rates: float) -> Search[list[float]]:
        found = []
        for rate in rates:
            measured = yield Task(design, "brief", rate, 600)
            found.append(measured.iops)
        return found

    monkeypatch.setattr("raidsim.scenarios.advice.runs.run_task", counted)
    with Simulations(requirement, workers=1) as simulations:
        assert simulations.run([asking(1.0, 2.0), asking(3.0, 1.0)]) == [[1.0, 2.0], [3.0, 1.0]]
    assert ran == [1.0, 3.0, 2.0]
    assert simulations.done == 3


def test_what_meets_it_is_ranked(easy: Advice) -> None:
    """RAID 10 meets it, with an interval within the limit, cost, saturation and the risk of losing data."""
    (verdict,) = easy.ranked
    assert verdict.design.family.level.level == "raid10"
    assert verdict.measured is not None
    assert verdict.measured.latencies["read_p99"].high < 0.03
    assert verdict.facts.cost == 1200
    assert verdict.saturates_at is not None
    assert 500 < verdict.saturates_at < 3000
    assert verdict.loss_per_year is not None
    assert 0 < verdict.loss_per_year < 1e-2


def test_what_a_bound_refuses_is_not_simulated(easy: Advice) -> None:
    """RAID 0 survives nothing, and chunks of which an I/O makes the same commands are looked at once."""
    failed = [each for each in easy.verdicts if each.status == "fails"]
    assert [each.design.family.level.level for each in failed] == ["raid0"]
    assert failed[0].measured is None
    assert "survives no failure" in failed[0].reasons[0]
    assert easy.alike == (262144,)


def test_too_much_headroom_or_risk_fails(easy: Advice) -> None:
    """The counter-test: the same design fails when it may take only a tenth of its load, or lose no data at all."""
    tight = wanted(**EASY, headroom="8%", data_loss=0)
    with Simulations(tight, workers=1) as simulations:
        (verdict,) = simulations.run([Trials(tight).completed(easy.ranked[0])])
    assert verdict.status == "fails"
    assert any("saturates at" in reason for reason in verdict.reasons)
    assert any("loses data" in reason for reason in verdict.reasons)


def test_better_in_one_thing_is_not_beaten(easy: Advice) -> None:
    """Of two designs the dearer one stays if it is better at something, and goes if it is not."""
    (cheap,) = easy.ranked
    larger = _changed(cheap, cost=2000.0, usable_bytes=10**13)
    worse = _changed(cheap, cost=1300.0)
    front, rest = pareto([worse, larger, cheap])
    assert front == [cheap, larger]
    assert rest == [worse]


def _changed(verdict: Verdict, **facts: Any) -> Verdict:
    return replace(verdict, facts=replace(verdict.facts, **facts))


CACHED: dict[str, Any] = {
    **EASY,
    "levels": ["raid10"],
    "controllers": ["LSI-9260-8i"],
    "chunks": ["64KiB"],
}


def _verdict(requirement: RequirementSpec) -> Verdict:
    (family,) = FewestDrives(Trials(requirement)).candidates
    return Verdict(family.designs[0], array_facts(family.designs[0].scenario(requirement)), "meets")


def _asked(requirement: RequirementSpec, answer: Callable[[Task], Measured]) -> tuple[Verdict, list[Task]]:
    """What completes a design, with simulations that are answered by hand."""
    tasks: list[Task] = []
    search = Trials(requirement).completed(_verdict(requirement))
    task = next(search)
    while True:
        tasks.append(task)
        try:
            task = search.send(answer(task))
        except StopIteration as end:
            return end.value, tasks


def _measured(task: Task) -> Measured:
    return Measured(task, task.iops, {}, False, 0.0, 0.0, "", None)


def test_what_takes_too_long_to_fill_is_not_filled() -> None:
    """The load at which a large write-back cache saturates would take most of the time, and is left open."""
    found, tasks = _asked(wanted(**CACHED), _measured)
    assert [task.kind for task in tasks] == ["battery", "rebuild"]
    assert found.saturates_at is None
    assert found.status == "meets"


def test_a_small_cache_is_filled() -> None:
    """The counter-test: with a small cache it is simulated."""
    small = wanted(**{**CACHED, "controllers": [{"model": "LSI-9260-8i", "overrides": {"cache": "4MiB"}}]})
    _, tasks = _asked(small, _measured)
    assert [task.kind for task in tasks] == ["saturate", "battery", "rebuild"]


def test_what_meets_it_is_tried_without_its_battery() -> None:
    """A controller that writes back is run once more as write-through: it still meets the requirement, and the answer
    says whether it would then. Counter-test: md, and a card without memory, have no battery.
    """

    def slow_then(task: Task) -> Measured:
        late = {"read_p99": Estimate(0.2, 0.01, 0.9, 20, 0.0, 0.0, False)} if task.kind == "battery" else {}
        return replace(_measured(task), latencies=late)

    found, _ = _asked(wanted(**CACHED), slow_then)
    assert found.status == "meets"
    assert found.without_battery is not None
    assert (found.without_battery.status, found.without_battery.reasons) == ("fails", ("read p99 200 ms",))
    for controllers in (["none"], ["LSI-9240-8i"]):
        found, tasks = _asked(wanted(**{**CACHED, "controllers": controllers}), slow_then)
        assert found.without_battery is None
        assert "battery" not in [task.kind for task in tasks]


def test_the_run_without_the_battery_writes_through() -> None:
    """The simulation itself: a write waits for the mirrors' disks, and not for the controller's memory."""
    requirement = wanted(**{**CACHED, "load": {"total_iops": 150, "read_share": "50%", "block_size": "8KiB"}})
    design = _verdict(requirement).design
    lost, kept = (run_task(requirement, Task(design, kind, 150.0)) for kind in ("battery", "precise"))
    assert lost.latencies["write_mean"].mean > 1e-3
    assert kept.latencies["write_mean"].mean < 1e-4


@pytest.mark.parametrize(
    ("settled", "saturated", "status"),
    [(True, False, "meets"), (False, False, "close"), (True, True, "fails")],
)
def test_headroom_without_saturation_is_a_greater_load(settled: bool, saturated: bool, status: str) -> None:
    """Headroom that saturation does not tell is told by the load of which the real one may be that share."""
    found, tasks = _asked(
        wanted(**CACHED, headroom="50%"), lambda task: replace(_measured(task), settled=settled, saturated=saturated)
    )
    assert (tasks[-1].kind, tasks[-1].iops) == ("precise", 300)
    assert found.status == status


@pytest.mark.parametrize(("settled", "status"), [(True, "meets"), (False, "close")])
def test_what_has_not_settled_does_not_meet_it(settled: bool, status: str) -> None:
    """Latencies well within the limits mean little as long as a cache still fills."""
    requirement = wanted(**CACHED)
    design = _verdict(requirement).design
    latencies = {"read_p99": Estimate(0.01, 0.001, 0.9, 20, 0.0, 0.0, False)}
    measured = replace(_measured(Task(design, "precise", 150.0)), latencies=latencies, settled=settled)
    assert judged(requirement, design.scenario(requirement), measured).status == status


def test_what_the_load_does_not_fit_on_is_refused() -> None:
    """A load that reaches further than some design is no mistake: those that are large enough are simulated."""
    load = {"total_iops": 100, "block_size": "8KiB", "span": "3TB"}
    found = FewestDrives(Trials(wanted(**{**EASY, "load": load, "survives": 0}))).candidates
    large, small = found
    assert [design.family.level.level for design in large.possible] == ["raid0"]
    assert [each.bound for each in small.refused] == ["capacity"]


@pytest.mark.slow
def test_what_would_do_does(easy: Advice) -> None:
    """Too much for two drives: it says how many would do and what two can do, alike with one and two processes."""
    changes = {
        **EASY,
        "load": {"total_iops": 400, "read_share": "100%", "block_size": "8KiB"},
        "limits": {"p99": "12ms"},
        "drives": [{"model": DRIVE, "count": 2}],
        "precision": "3%",
    }
    alone, together = (advise(wanted(**changes), workers=workers) for workers in (1, 2))
    assert not alone.ranked
    (suggested,) = alone.would_do
    assert suggested.design.drives > 2
    assert suggested.status == "meets"
    (attained,) = alone.attainable
    assert attained.iops < 400
    assert attained.verdict.design.drives == 2
    for one, other in ((alone.would_do, together.would_do), (alone.verdicts, together.verdicts)):
        assert [(each.design.name, each.measured and each.measured.latencies) for each in one] == [
            (each.design.name, each.measured and each.measured.latencies) for each in other
        ]


def test_limits_hold_beside_a_rebuild_if_asked() -> None:
    """Reads of RAID 5 wait for a rebuild; an array without redundancy has none, and nothing changes."""
    for level, slower in (("raid5", True), ("raid0", False)):
        usual = wanted(**{**EASY, "levels": [level]})
        beside = usual.model_copy(update={"while_rebuilding": True})
        design = FewestDrives(Trials(usual)).candidates[0].designs[0]
        alone, rebuilding = (run_task(each, Task(design, "brief", 150, 300)) for each in (usual, beside))
        found = rebuilding.latencies["read_mean"].mean / alone.latencies["read_mean"].mean
        assert (found > 1.2) is slower
        assert (found == 1.0) is not slower


def test_other_loads_are_there_and_the_limits_are_those_of_the_required_one() -> None:
    """A stream beside it makes reads later; its own I/Os are not among those that are judged."""
    stream = {"name": "backup", "pattern": "sequential", "block_size": "1MiB", "read_share": "0%", "depth": 2}
    usual, both = wanted(**EASY), wanted(**EASY, beside=[stream])
    design = next(each for each in FewestDrives(Trials(both)).candidates if each.possible).designs[0]
    alone, beside = (run_task(each, Task(design, "brief", 150, 300)) for each in (usual, both))
    assert beside.latencies["read_mean"].mean > 1.5 * alone.latencies["read_mean"].mean
    assert beside.iops == pytest.approx(alone.iops, rel=0.1)
    full = run_task(both, Task(design, "full", 150, 300))
    assert full.iops > 2 * beside.iops
    with pytest.raises(InputError, match=r"beside\[0\].span: found .* expected: a part of RAID 10"):
        run_task(wanted(**EASY, beside=[{**stream, "span": "900TB"}]), Task(design, "brief", 150, 300))


ROOM: dict[str, Any] = {
    **EASY,
    "levels": ["raid10"],
    "drives": [{"model": DRIVE, "count": [4, 6, 8], "price": 300, "watts": 8}],
    "chassis": {"bays": 4, "rack_units": 2, "watts": 60, "price": 500},
}


def test_chassis_power_and_their_price_count() -> None:
    """Six drives take two chassis of four bays; limits on height and power refuse what takes more, and only that."""
    free = FewestDrives(Trials(wanted(**ROOM))).candidates[0]
    assert [each.drives for each in free.possible] == [4, 6, 8]
    taken = [room(each, wanted(**ROOM)) for each in free.possible]
    assert [(each.chassis, each.rack_units, each.watts) for each in taken] == [(1, 2, 92), (2, 4, 168), (2, 4, 184)]
    costs = [array_facts(each.scenario(wanted(**ROOM))).cost for each in free.possible]
    assert costs == [1700, 2800, 3400]
    limited = FewestDrives(Trials(wanted(**ROOM, power=170))).candidates[0]
    assert [each.drives for each in limited.possible] == [4, 6]
    (none,) = FewestDrives(Trials(wanted(**ROOM, rack_units=1))).candidates
    assert not none.possible
    assert [each.text for each in none.refused] == ["takes 2 rack units, above 1"]


def test_power_follows_the_catalogue_and_the_utilization() -> None:
    """Without watts the catalogue's figures hold; hot spares and idle drives take the idle power, and a limit is on
    what all drives take when they are busy.
    """
    drives = [{"model": "Constellation-ES.3-4TB-SAS", "count": [4, 5]}]
    spare = wanted(**{**EASY, "levels": ["raid10"], "drives": drives, "hot_spares": 1, "energy_price": 0.5})
    (design,) = (each for each in FewestDrives(Trials(spare)).candidates[0].designs if each.drives == 5)
    assert [room(design, spare, busy).watts for busy in (0.0, 0.5, 1.0)] == pytest.approx(
        [5 * 7.97, 4 * 9.915 + 7.97, 4 * 11.86 + 7.97]
    )
    assert room(design, spare, 0.0).energy_cost_a_year == pytest.approx(0.5 * 8.766 * 5 * 7.97)
    limited = spare.model_copy(update={"power": 50.0})
    assert [each.text for each in room_refusals(design, limited)] == [
        "takes 55 W with all but hot spares busy, above 50 W"
    ]
    assert not room_refusals(design, spare.model_copy(update={"power": 56.0}))
    by_hand = wanted(**{**EASY, "levels": ["raid10"], "drives": [{**drives[0], "watts": 9}], "hot_spares": 1})
    (design,) = (each for each in FewestDrives(Trials(by_hand)).candidates[0].designs if each.drives == 5)
    assert room(design, by_hand, 0.3).watts == 45


def test_power_that_is_not_known_is_no_power(easy: Advice) -> None:
    """A drive without figures takes what its class does; without a class there is no power of the design, and a limit
    on power is refused.
    """
    assert room(easy.ranked[0].design, easy.requirement).watts is not None
    memory = {**EASY, "drives": [{**EASY["drives"][0], "model": "RAM-disk"}]}
    with pytest.raises(InputError, match=r"drives\[?\.?0\]?\.watts: found no watts, and the catalogue .* expected"):
        wanted(**memory, power=100)
    with pytest.raises(InputError, match="rack_units: found no chassis"):
        wanted(**EASY, rack_units=4)
