"""The same scenario several times with other random numbers, and how sure a difference between two designs is.

Replications know nothing of each other, so their scatter is all that a confidence interval needs. The seed of
replication i follows from the scenario's seed and i alone: two designs with the same seed have the same arrivals,
directions and places in their i-th replications (common random numbers). A replication with many I/Os close together
is slow for both, so the difference of the two scatters less than each of them, and the paired interval is the narrower
one (Law, Simulation Modeling and Analysis, sections 10.2 and 11.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...model.statistics.batch_means import Estimate, student_t
from ..description.scenario import ScenarioSpec
from ..running.base.prediction import Prediction
from ..running.base.sample import Sample
from ..running.simulate import simulate
from ..workers.task_pool import TaskPool

CONFIDENCE = 0.9


def replication(spec: ScenarioSpec, number: int) -> ScenarioSpec:
    """The scenario with the random numbers of its replication `number`, from 0."""
    # The number-th child of SeedSequence(seed).spawn(...), without the others.
    (word,) = np.random.SeedSequence(spec.seed, spawn_key=(number,)).generate_state(1)
    return spec.model_copy(update={"seed": int(word)})


def replicate(
    spec: ScenarioSpec,
    count: int,
    workers: int = 1,
    sample: Sample | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> list[Prediction]:
    """Simulate replications 0 to `count` - 1.

    Parameters
    ----------
    spec
        What to run.
    count
        How often.
    workers
        Processes; the results do not depend on it.
    sample
        As of :func:`raidsim.scenarios.running.simulate.simulate`.
    watch
        Called with how many are done, and of how many, after each round of them.

    Raises
    ------
    InputError
        As :func:`raidsim.scenarios.running.simulate.simulate` does.
    """
    if count < 1:
        raise ValueError(f"{count} replications; at least 1")
    tasks = [(replication(spec, number), sample) for number in range(count)]
    found: list[Prediction] = []
    with TaskPool(workers) as pool:
        if watch is None:
            return pool.run(_simulated, tasks, (Prediction,))
        watch(0, count)
        for begun in range(0, count, workers):
            found += pool.run(_simulated, tasks[begun : begun + workers], (Prediction,))
            watch(len(found), count)
    return found


def mean_of_replications(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean of what independent replications gave, with Student's t; one alone has no interval."""
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return _estimate(mean, math.inf, confidence, count)
    half_width = student_t((1 + confidence) / 2, count - 1) * math.sqrt(_variance(values) / count)
    return _estimate(mean, half_width, confidence, count)


def paired_difference(a: Sequence[float], b: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean of a - b of replications with common random numbers: the i-th of one design with the i-th of the other."""
    return mean_of_replications([x - y for x, y in zip(a, b, strict=True)], confidence)


def unpaired_difference(a: Sequence[float], b: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Mean of `a` less mean of `b`, of replications that have nothing in common (Welch's interval)."""
    mean = math.fsum(a) / len(a) - math.fsum(b) / len(b)
    count = min(len(a), len(b))
    if count < 2:
        return _estimate(mean, math.inf, confidence, count)
    errors = [_variance(values) / len(values) for values in (a, b)]
    total = math.fsum(errors)
    if not total:
        return _estimate(mean, 0.0, confidence, count)
    # Welch and Satterthwaite's degrees of freedom, rounded down.
    freedom = total**2 / math.fsum(error**2 / (len(values) - 1) for error, values in zip(errors, (a, b), strict=True))
    half_width = student_t((1 + confidence) / 2, max(1, int(freedom + 1e-9))) * math.sqrt(total)
    return _estimate(mean, half_width, confidence, count)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _estimate(mean: float, half_width: float, confidence: float, count: int) -> Estimate:
    return Estimate(mean, half_width, confidence, count, 0.0, 0.0, False)


def _simulated(task: tuple[ScenarioSpec, Sample | None]) -> Prediction:
    spec, sample = task
    return simulate(spec, sample)
