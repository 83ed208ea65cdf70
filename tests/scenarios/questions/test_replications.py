"""Replications, and differences that common random numbers make plain."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.questions.replications import (
    mean_of_replications,
    paired_difference,
    replicate,
    replication,
    unpaired_difference,
)
from raidsim.scenarios.running.base.prediction import Prediction

from ..advice.sample_designs import design

COUNT = 8


@cache
def replications(level: str, chunk: str, seed: int = 0) -> tuple[Prediction, ...]:
    """Four drives under the same open load, which comes in bursts."""
    bursts = {"kind": "bursty", "burst_factor": 4, "burst_share": 0.2, "burst_length": 0.2}
    load = {"iops": 300, "read_share": "100%", "duration": "1s", "arrivals": bursts}
    spec = design(level, 4, workload=load, chunk=chunk)
    return tuple(replicate(spec.model_copy(update={"seed": seed}), COUNT))


def latencies(level: str, chunk: str, seed: int = 0) -> list[float]:
    """Mean latency of every replication."""
    return [found.figures["read_mean_seconds"] for found in replications(level, chunk, seed)]


@pytest.mark.parametrize("other", [("raid0", "8KiB"), ("raid10", "64KiB")])
def test_common_random_numbers_make_differences_plain(other: tuple[str, str]) -> None:
    """Protects comparisons: with the same I/Os for both designs the paired interval is clearly the narrower one.

    With other random numbers for each design, the counter-test, pairing does not help.
    """
    one, same, different = latencies("raid0", "64KiB"), latencies(*other), latencies(*other, seed=77)
    paired, unpaired = paired_difference(one, same), unpaired_difference(one, same)
    assert paired.mean == pytest.approx(unpaired.mean)
    assert paired.half_width < 0.6 * unpaired.half_width
    assert paired_difference(one, different).half_width > 0.75 * unpaired_difference(one, different).half_width


def test_a_replication_is_the_same_for_every_design() -> None:
    """Protects common random numbers: the seed follows from the scenario's seed and the number alone."""
    first, second = design("raid0", 4), design("raid6", 6)
    seeds = [replication(first, i).seed for i in range(5)]
    assert seeds == [replication(second, i).seed for i in range(5)]
    assert len(set(seeds)) == 5
    children = np.random.SeedSequence(first.seed).spawn(5)
    assert seeds == [int(child.generate_state(1)[0]) for child in children]
    other: ScenarioSpec = first.model_copy(update={"seed": 1})
    assert replication(other, 0).seed not in seeds


@pytest.mark.slow
def test_workers_do_not_change_replications() -> None:
    """Protects results from the number of processes, and their order."""
    spec = design("raid0", 4, workload={"iops": 100, "duration": "500ms"})
    steps: list[tuple[int, int]] = []
    alone = replicate(spec, 3, watch=lambda done, of: steps.append((done, of)))
    assert replicate(spec, 3, workers=2) == alone
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert len({found.rate for found in alone}) > 1


def test_intervals_are_those_of_student_and_welch() -> None:
    """Protects the arithmetic, with scipy as the other side."""
    random = np.random.default_rng(3)
    a, b = random.normal(10, 1, 7).tolist(), random.normal(9, 3, 5).tolist()
    low, high = stats.t.interval(0.9, 6, np.mean(a), stats.sem(a))
    mean = mean_of_replications(a)
    assert (mean.low, mean.high) == pytest.approx((low, high), rel=1e-3)
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.9)
    found = unpaired_difference(a, b)
    # Degrees of freedom are rounded down here.
    assert 0.999 < 2 * found.half_width / (welch.high - welch.low) < 1.05
    pairs = stats.ttest_rel(a[:5], b).confidence_interval(0.9)
    found = paired_difference(a[:5], b)
    assert (found.low, found.high) == pytest.approx((pairs.low, pairs.high), rel=2e-3)


def test_one_replication_has_no_interval() -> None:
    """Protects from certainty that nothing supports, and from a doubt where nothing varies."""
    assert mean_of_replications([2.0]).half_width == math.inf
    assert unpaired_difference([2.0], [1.0]).half_width == math.inf
    assert paired_difference([3.0, 4.0], [1.0, 2.0]).half_width == 0
    assert unpaired_difference([3.0, 3.0], [1.0, 1.0]).half_width == 0
    with pytest.raises(ValueError, match="at least 1"):
        replicate(design("raid0", 4), 0)
