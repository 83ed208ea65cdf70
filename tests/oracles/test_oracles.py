"""The model against what is known exactly: queueing theory, closed forms, and arithmetic on paper."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.model.core.fixed_service import linear_service
from raidsim.model.drives.catalogue import hard_disk
from raidsim.tests.oracles import background, block_layer, coverage, inside, queues, theory
from raidsim.tests.oracles.closed import THINK_S
from raidsim.tests.oracles.oracle import Oracle, exact, outcome
from raidsim.tests.oracles.table import every

ORACLES = every()


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_the_model_comes_to_what_is_exact(oracle: Oracle) -> None:
    """Protects every mechanism that an oracle knows: what is exact lies within the interval of independent runs."""
    found = outcome(oracle)
    assert found.holds, f"{found.mean} +- {found.half_width}; exact: {oracle.low} to {oracle.high} ({oracle.source})"


def test_oracles_have_names_of_their_own() -> None:
    """Protects the independence of the runs, whose seeds come from the names."""
    assert len({oracle.name for oracle in ORACLES}) == len(ORACLES) > 50


def test_an_interval_that_misses_what_is_exact_is_noticed() -> None:
    """The counter-test: M/M/1 is no M/D/1, a bus no queue, and figures that are 10 % off are found out."""
    wrong = exact(
        "M/D/1 as M/M/1", "", queues.SERVICE_S / 0.5, "s", queues.station(lambda _: lambda size, op: 1e-3, 0.5)
    )
    assert not outcome(wrong).holds
    bus, link = queues.bus_is_no_queue()
    assert bus < 0.9 * link
    assert not outcome(exact("n", "", 1.1, "", lambda seed: 1.0 + 0.01 * (seed % 3))).holds
    assert outcome(exact("n", "", 1.01, "", lambda seed: 1.0 + 0.01 * (seed % 3))).holds


def test_without_the_mechanism_the_closed_form_does_not_hold() -> None:
    """The counter-test of tags, throttling, destaging, vacations and rebuilds: each off, the figure is another one."""
    untagged = block_layer.tagged(24, None)(1)
    assert untagged == pytest.approx(24 / (THINK_S + queues.SERVICE_S), rel=0.03)
    assert untagged > 1.05 * theory.machine_repair(24, THINK_S, queues.SERVICE_S, 4)
    slow_reads = block_layer.written_back(3e-3, throttled=False, seconds=0.5)(1)
    assert slow_reads > 40 * block_layer.allowed_rate(3e-3)
    roomy = background.caching(write_extents=1 << 20, write_buffer=2 << 30, cache=2 << 30)
    scarce = background.caching(write_extents=1)
    assert background.drained(roomy, 4 << 20, 0.2)(1) > 4 * background.drained(scarce, 4 << 20, 0.2)(1)
    alone = queues.station(lambda _: linear_service(queues.SERVICE_S), 0.6)(1)
    assert background.scrubbed(lambda _: linear_service(queues.SERVICE_S), 0.6)(1) > 1.5 * alone
    drive = hard_disk("Exos-15E900-900GB").with_values(capacity=400_000_000 // 512 * 512)
    streams, waits = (background.rebuilt_s((drive, drive), 1e12, depth)(1) for depth in (8, 1))
    assert waits > 2 * streams
    shares = inside.zipf(2048, 0.8)
    assert inside.page_hits(shares, 512, half_pace=True)(1) > 1.02 * inside.che(shares, 512)


def test_intervals_hold_what_is_exact_as_often_as_they_say() -> None:
    """Protects the promise of a precision: of the 90 % intervals that end runs nine of ten hold what is exact.

    So many in all cases together as a binomial count of them does but for one case in a thousand; and so in each.
    """
    seeds = 20
    found = {case.name: coverage.held(case, seeds) for case in coverage.cases()}
    low, high = coverage.band(seeds * len(found))
    assert low <= sum(found.values()) <= high, found
    least, most = coverage.band(seeds)
    assert all(least <= count <= most for count in found.values()), found


def test_the_textbook_agrees_with_itself() -> None:
    """Protects the oracles: formulas for the general case come to those for the special one."""
    rate, mean = 600.0, 1e-3
    one = mean / 0.4
    assert theory.pollaczek_khinchine(rate, mean, 2 * mean**2) == pytest.approx(one)
    assert theory.erlang_c(rate, mean, 1) == pytest.approx(one)
    # Erlang's tables: 3 servers of 2 Erlang, 44.4 % wait.
    assert theory.erlang_c(2000.0, mean, 3) == pytest.approx(mean + 0.4444 * mean, rel=1e-4)
    assert theory.fork_join(rate, mean, 2) == pytest.approx(one * (12 - 0.6) / 8)
    assert theory.fork_join(1e-6, mean, 4) == pytest.approx(mean * (1 + 1 / 2 + 1 / 3 + 1 / 4))
    balanced = [mean / 4] * 4
    assert theory.mean_value_analysis(balanced, 8)[0] == pytest.approx(theory.balanced_job_bound(balanced, 8))
    busy, inside = theory.mean_value_analysis([1e-3, 4e-3], 6)
    assert sum(inside) == pytest.approx(6)
    assert busy < theory.asymptotic_bound([1e-3, 4e-3], 6)
    assert theory.mean_value_analysis([mean], 4, 5e-3)[0] == pytest.approx(theory.machine_repair(4, 5e-3, mean, 1))
    assert theory.gated(0.5, mean, mean**2) == pytest.approx(1.5 * mean)
    even = np.full(1000, 1e-3)
    assert theory.two_lists(even, 250, 1.0) == pytest.approx(0.25)
    assert theory.machine_repair(3, 5e-3, mean, 3) == pytest.approx(3 / 6e-3)
    assert theory.longest_wait(np.array([0.25])) == pytest.approx(0.5)
    assert theory.longest_wait(np.array([0.0, 0.5])) == pytest.approx(0.75)
    stroke = np.arange(1000) * 1e-6
    assert theory.mean_seek(stroke, np.ones(1000)) == pytest.approx(1000e-6 / 3, rel=1e-3)
