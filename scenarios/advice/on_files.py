"""Runs of a design with a file system: fio's jobs on a file, repeated with other places of the I/Os.

fio reports figures of a whole run, so their 90 % intervals come from a few independent runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, sqrt

import numpy as np

from ...model.core.exact_sums import sum_in_order
from ...model.statistics.batch_means import Estimate
from ..comparison.rebuild_time import rebuilt_arrays, with_rebuild
from ..designs.designs import Design
from ..designs.requirement import RequirementSpec
from ..running.base.prediction import Prediction
from ..running.simulate import simulate

RUNS = 4
"""Independent runs of which the intervals are made."""
_STUDENT = 2.353
"""Of a 90 % interval with three degrees of freedom."""
_FIGURES = {"mean": "mean_s", "p99": "p99_s"}


def predictions(
    requirement: RequirementSpec, design: Design, *, warm_up: float, duration: float, runs: int
) -> list[Prediction]:
    """Run a design with its file system.

    Parameters
    ----------
    requirement, design
        What runs.
    warm_up, duration
        Simulated time (s) of each run.
    runs
        How many.
    """
    found = []
    for number in range(runs):
        wanted = requirement.model_copy(update={"seed": requirement.seed + number})
        bare = design.document(wanted, wanted.load.document(span=None))
        spec = design.with_files(wanted, bare.data, warm_up, duration).spec()
        if requirement.while_rebuilding and rebuilt_arrays(spec):
            spec = with_rebuild(spec, rebuilt_arrays(spec)[0], 0.5)
        found.append(simulate(spec))
    return found


def latencies(found: Sequence[Prediction]) -> dict[str, Estimate]:
    """Latencies by "read_p99", "write_mean" and the like, with intervals if there are several runs."""
    names = [(op, kind) for op in ("read", "write") for kind in _FIGURES]
    return {
        f"{op}_{kind}": _estimate([each.latencies[op][_FIGURES[kind]] for each in found])
        for op, kind in names
        if all(op in each.latencies for each in found)
    }


def together(found: Sequence[Prediction]) -> Prediction:
    """The last run with the I/Os per second of all of them."""
    rates = {op: sum_in_order(each.iops.get(op, 0.0) for each in found) / len(found) for op in found[-1].iops}
    return replace(found[-1], iops=rates)


def _estimate(values: Sequence[float]) -> Estimate:
    known = len(values) == RUNS
    half = _STUDENT * float(np.std(values, ddof=1)) / sqrt(RUNS) if known else inf
    return Estimate(float(np.mean(values)), half, 0.9, len(values), 0.0, 0.0, False)
