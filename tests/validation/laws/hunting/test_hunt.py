"""The hunt for violations: what it draws, what it reports, and how it makes scenarios smaller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.validation.laws.broken import ANSWERS, Broken, open_kinds
from raidsim.validation.laws.hunting.drawn_scenarios import catalogue_drives
from raidsim.validation.laws.hunting.hunt import Hunt
from raidsim.validation.laws.law import Law, Violation
from raidsim.validation.laws.laws import LAWS
from raidsim.validation.laws.trial import Trial

COUNT, SEED = 300, 1
CHECKED = 140
"""Draws that are simulated: each takes half a second."""
FEW = 24


def law(check: Any, runs: int = 0) -> Law:
    """A law that holds or not, as `check` says."""
    return Law("made-up", "s", "a", "t", check, lambda _: True, runs)


def never(_: Trial) -> Iterator[Violation]:
    """Everything breaks it."""
    yield Violation("always", "1", "0")


def found_in(hunt: Hunt) -> list[Broken]:
    """All violations of a hunt."""
    return list(hunt.run())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scenarios are not simulated."""
    monkeypatch.setattr(Trial, "outcome", None)


@pytest.mark.usefixtures("quick")
def test_every_drive_is_drawn_in_turn() -> None:
    """Protects coverage: as many scenarios as drives have each drive once, whatever chance says."""
    drives = catalogue_drives()
    hunt = Hunt([law(never)], len(drives), 0)
    models = {each.scenario["machine"]["drives"]["model"] for each in found_in(hunt)}
    assert hunt.tally.drawn == len(drives)
    assert models == set(drives)


@pytest.mark.usefixtures("quick")
def test_a_seed_draws_the_same_scenarios() -> None:
    """Protects whoever repeats a hunt that found something; another seed draws others."""
    first, again, other = (
        [each.scenario for each in found_in(Hunt([law(never)], FEW, seed))] for seed in (SEED, SEED, SEED + 1)
    )
    assert first == again != other


@pytest.mark.usefixtures("quick")
def test_scenarios_are_of_every_kind() -> None:
    """Protects the space: what users can write comes in three hundred draws, each at least once."""
    scenarios = [each.scenario for each in found_in(Hunt([law(never)], COUNT, SEED))]
    levels = {array["level"] for each in scenarios for array in each.get("arrays", {}).values()}
    assert levels >= {"linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10", "raid50"}
    for part in ("encrypted", "caches", "volumes", "network", "file_systems", "failures"):
        assert any(part in each for each in scenarios), part
    arrays = [array for each in scenarios for array in each.get("arrays", {}).values()]
    for option in ("bitmap", "journal", "controller", "failed", "rebuilding", "chunk", "spares"):
        assert any(option in array for array in arrays), option
    loads = [each["workload"] for each in scenarios]
    assert {each["kind"] for each in loads} == {"load", "dd", "programs"}
    for option in ("think_time", "fsync", "total_iops", "locality", "span", "engine", "jobs"):
        assert any(option in each for each in loads), option
    assert {each.get("block_size") for each in loads} >= {"512B", "4KiB", "8MiB"}
    assert {each["machine"]["drives"].get("state") for each in scenarios} == {None, "fresh", "sequential", "steady"}
    assert {each["kernel"].split("-")[0] for each in scenarios} == {"linux", "freebsd"}


@pytest.mark.usefixtures("quick")
def test_a_violation_is_made_small() -> None:
    """Protects the report: of a law about writes nothing is left in the scenario but a write, and the drive it was."""

    def about_writes(trial: Trial) -> Iterator[Violation]:
        load = trial.spec.workload
        if isinstance(load, LoadSpec) and load.read_share < 1:
            yield Violation("writes", "a write", "none")

    hunt = Hunt([law(about_writes)], 400, SEED)
    first = found_in(hunt)[0]
    small = hunt.smallest(first).scenario
    assert small["machine"]["drives"] == {"model": first.scenario["machine"]["drives"]["model"], "count": 1}
    assert small["workload"]["read_share"] != "100%"
    assert (small["workload"]["depth"], small["workload"]["block_size"]) == (1, "4KiB")
    assert not {"arrays", "encrypted", "volumes", "network"} & set(small)


def test_a_crash_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects users from tracebacks: a simulation that fails without a message breaks the law `answers`."""

    def fails(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("raidsim.validation.laws.trial.simulate", fails)
    hunt = Hunt([law(never)], FEW, SEED)
    found = found_in(hunt)
    assert {each.law for each in found} == {ANSWERS}
    assert len(found) + hunt.tally.refused == FEW
    assert hunt.smallest(found[0]).scenario["machine"]["drives"]["count"] == 1


@pytest.mark.usefixtures("quick")
def test_laws_that_take_runs_are_checked_in_turn() -> None:
    """Protects the time of a hunt: each scenario has one of these laws, and each law its share."""
    names = [f"law {number}" for number in range(4)]
    laws = [Law(name, "s", "a", "t", lambda _: iter(()), lambda _: True, runs=1) for name in names]
    hunt = Hunt(laws, FEW, SEED)
    assert found_in(hunt) == []
    assert hunt.tally.checked == dict.fromkeys(names, (FEW - hunt.tally.refused) // 4) or (
        max(hunt.tally.checked.values()) - min(hunt.tally.checked.values()) <= 1
    )


@pytest.mark.slow
def test_no_law_is_broken_in_a_new_way() -> None:
    """Protects the model: scenarios drawn at random break no law but those of which a scenario is kept as open."""
    new = [each for each in Hunt(list(LAWS.values()), CHECKED, SEED).run() if each.kind not in open_kinds()]
    assert [(each.kind, each.violation.said, each.violation.expected, each.shown) for each in new] == []
