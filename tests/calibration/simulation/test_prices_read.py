"""Which prices of work a run depends on is asked of its simulation: what it says is unread has no say in the result."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, chosen_studies, load_study
from raidsim.model.files.description_errors import validate
from raidsim.model.tasks.prices import FREE, NotedPrices, Prices
from raidsim.scenarios.description.machine import PriceList
from raidsim.scenarios.description.programs import ProgramsSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample, most_scale
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.calibration.study import small_study as small

SHORT = Sample(read_bytes=4 << 20, write_bytes=1 << 20, cycles=1)
ALL = frozenset(each.name for each in fields(Prices))
NAMES = [study.id for study in chosen_studies((), False)]
"""Of studies whose runs a sample shortens: it does not shorten jobs of fio, of which the modern ones have many."""


def short(scenario: ScenarioSpec) -> Sample:
    """The sample that simulates least: which prices are read does not depend on the size of files beside the caches."""
    if not isinstance(scenario.workload, ProgramsSpec):
        return SHORT
    most, scale = min(most_scale(scenario), scenario.machine.memory >> 23), 1
    while 2 * scale <= min(most, 64):
        scale *= 2
    return replace(SHORT, scale=scale)


def changed(prices: PriceList, names: frozenset[str]) -> PriceList:
    """A price list in which everything is ten times dearer that only prices of these names follow from."""
    for field, value in prices:
        if field == "source":
            continue
        dearer = (value / 10 if field.endswith("rate") else 10 * value) if value else 1e-5
        other = prices.model_copy(update={field: dearer})
        moved = {name for name in ALL if getattr(other.prices(), name) != getattr(prices.prices(), name)}
        if moved and moved <= names:
            prices = other
    return prices


def direction(work: object) -> str:
    """Whether a workload without programs reads or writes, or both, as far as it says so."""
    return str(getattr(work, "direction", getattr(work, "read_share", "")))


def with_prices(scenario: ScenarioSpec, prices: PriceList) -> ScenarioSpec:
    """The same run on a CPU with other prices."""
    cpu = scenario.machine.cpu.model_copy(update={"prices": prices})
    return scenario.model_copy(update={"machine": scenario.machine.model_copy(update={"cpu": cpu})})


def tenfold(scenario: ScenarioSpec, names: frozenset[str]) -> Prediction:
    """What a run gives where some prices are ten times as high."""
    return simulate(with_prices(scenario, changed(scenario.machine.cpu.prices, names)), short(scenario))


def check(study: StudySpec, run: str, counter_test: bool = True) -> None:
    """Prices that a run has not read may be anything; those that it has read are not all without effect."""
    scenario = RunBuilder(study, {}).scenario(run)
    found = simulate(scenario, short(scenario))
    read = frozenset(found.prices_read)
    assert {"bio_s", "command_s"} <= read < ALL
    assert tenfold(scenario, ALL - read) == found
    assert not counter_test or tenfold(scenario, read) != found


@pytest.mark.parametrize("name", ["larsen-2003", "louwrentius-2019"])
def test_prices_that_are_not_read_change_no_bit(name: str) -> None:
    """Protects slopes of 0: of a study's first run, all prices said to be unread are changed tenfold at once.

    Counter-test: those that it reads change the result.
    """
    study = load_study(name)
    check(study, study.cases[0].id if study.cases else next(iter(study.runs)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_prices_that_no_run_reads_change_no_bit(name: str) -> None:
    """The same of runs that together have each kernel, level, program and file system of a study."""
    study = load_study(name)
    builder = RunBuilder(study, {})
    seen: set[str] = set()
    for run in (*(case.id for case in study.cases), *study.runs):
        scenario = builder.scenario(run)
        work = scenario.workload
        what = (
            [each.program for each in work.steps] if isinstance(work, ProgramsSpec) else [work.kind + direction(work)]
        )
        levels, kinds = scenario.arrays.values(), scenario.file_systems.values()
        has = {scenario.kernel, *(array.level for array in levels), *what, *(each.kind for each in kinds)}
        if not has <= seen:
            check(study, run, counter_test=not seen)
            seen |= has


def test_a_price_is_noted_when_it_is_read() -> None:
    """Protects the question itself: a price counts from its first reading on, whoever reads it; before, it does not."""
    prices = NotedPrices(replace(FREE, bio_s=2e-6, copy_s_per_byte=3e-9))
    assert prices.read == set()
    assert (prices.bio_s, prices.bio_s) == (2e-6, 2e-6)
    assert prices.read == {"bio_s"}
    assert prices.read_copy_s_per_byte(4096) == 3e-9
    assert prices.read == {"bio_s", "copy_s_per_byte", "cache_bytes"}


def test_every_price_notes_itself() -> None:
    """Protects prices that are added: each is there under its name, has its value, and notes nothing but itself."""
    values = {each.name: float(number + 1) for number, each in enumerate(fields(Prices))}
    for name, value in values.items():
        prices = NotedPrices(Prices(**values))
        assert getattr(prices, name) == value
        assert prices.read == {name}


def test_runs_that_differ_in_unread_prices_are_simulated_once() -> None:
    """Protects the time of a fit: what a clone costs is nothing to a read of one drive. What a command costs is.

    All are asked for at once, so that the first one is simulated before it is known what it reads.
    """
    study = validate(StudySpec, small.runs_document())
    plain = RunBuilder(study, {}).scenario("one")
    prices = plain.machine.cpu.prices
    clone, command = (with_prices(plain, prices.model_copy(update={name: 1e-4})) for name in ("clone", "command"))
    done: list[tuple[int, int]] = []
    with Evaluator(1) as evaluator:
        outcomes = evaluator.outcomes([plain, clone, command], SHORT, lambda *each: done.append(each))
        assert evaluator.simulated == 2
        assert evaluator.outcomes([clone], SHORT) == [simulate(clone, SHORT)]
        assert evaluator.simulated == 2
    assert outcomes[0] == outcomes[1] != outcomes[2]
    assert outcomes[2] == simulate(command, SHORT)
    assert done == sorted(done)
    assert [each for each, total in done].count(3) == 1
