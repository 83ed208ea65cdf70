"""`python -m raidsim.validation.few_shot.ranks`: whether what is learnt of a box is as sure as it says.

Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari and Gelman 2018): boxes are drawn from the prior,
measured with the model's error and noise, and learnt. The rank of a true parameter among its samples is then uniform.
If ranges are too narrow, true values lie outside of them too often, and ranks are near 0 and 1. Boxes that were learnt
are kept in build/few-shot-ranks.jsonl, so it goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...calibration.learning.box import BLACK_BOX
from ...calibration.learning.errors_of_model import CorrelatedErrors
from ...calibration.learning.loads import BoxLoad, Columns, Measured
from ...calibration.learning.posterior import draw_from_prior, learn
from ...compiled.loader import ROOT
from ...model.files.atomic_file import write_whole
from .benchmark import digest

Array = NDArray[np.float64]
KEPT = Path(__file__).parent / "kept_ranks.json"
_KIB = 1024
_INSIDE = 0.9
_IN_ORDER = 0.25
"""Share of the loads."""


class Calibration(NamedTuple):
    """What came of a simulation-based calibration.

    Attributes
    ----------
    boxes, measurements
        How many boxes, and loads measured of each.
    probability
        Of ranks that are as far from uniform.
    inside
        Share of the true parameters in their 90 % range.
    """

    boxes: int
    measurements: int
    probability: float
    inside: float


def kept() -> Calibration:
    """The one that the manual shows."""
    return Calibration(**json.loads(KEPT.read_text(encoding="utf-8")))


def sentence(found: Calibration) -> str:
    """It in words, for the manual and the terminal."""
    boxes = f"Of {found.boxes} boxes drawn from the prior and learnt from {found.measurements} measurements each,"
    inside = f"{100 * found.inside:.0f} % of the true parameters are in their 90 % ranges"
    return f"{boxes} {inside}, and their ranks are uniform (p = {found.probability:.2f}).\n"


def learnt(seed: int, measurements: int = 10, steps: int = 600) -> tuple[Array, Array]:
    """True parameters of a box, and what is learnt of them.

    Parameters
    ----------
    seed
        Of the box, its loads, errors and samples.
    measurements
        How many loads are measured.
    steps
        Of the walkers.

    Returns
    -------
    tuple of Array
        (parameters,) and (samples, parameters).
    """
    rng = np.random.default_rng(seed)
    true = draw_from_prior(1, rng)[0]
    return true, learn(_measured(true, measurements, rng), seed=seed, steps=steps).samples


def ranks(true: Array, samples: Array) -> Array:
    """Share of the samples below the true value of each parameter."""
    return np.asarray(np.mean(samples < true, 0))


def _measured(true: Array, count: int, rng: np.random.Generator) -> list[Measured]:
    """Random loads of a box with these parameters, as the posterior takes them to be measured."""
    loads = [
        BoxLoad(
            _KIB * 2.0 ** float(rng.integers(2, 9)),
            *(int(rng.integers(1, 65)), int(rng.integers(1, 17)), float(rng.integers(0, 5)) / 4),
            bool(rng.random() < _IN_ORDER),
        )
        for _ in range(count)
    ]
    columns = Columns.of(loads)
    found, (error, noise) = BLACK_BOX.means(true[:-2], columns), np.exp(true[-2:])
    alike = CorrelatedErrors.correlation(columns)
    rates = np.log(found.rate) + _errors(error, noise, alike, rng)
    mixed = [k for k, load in enumerate(loads) if 0 < load.read_share < 1]
    ratios = np.zeros(count)
    if mixed:
        ratios[mixed] = np.log(found.read / found.write)[mixed] + _errors(
            error, noise, alike[np.ix_(mixed, mixed)], rng
        )
    return [
        Measured(str(k), load, float(np.exp(rates[k])), *((float(np.exp(ratios[k])), 1.0) if k in mixed else ()))
        for k, load in enumerate(loads)
    ]


def _errors(error: float, noise: float, alike: Array, rng: np.random.Generator) -> Array:
    covariance = error**2 * alike + noise**2 * np.eye(len(alike))
    return np.asarray(np.linalg.cholesky(covariance) @ rng.standard_normal(len(alike)))


def probability(found: Sequence[Array]) -> float:
    """How probable ranks as far from uniform are.

    Ranks of a box depend on each other, as what a measurement tells of one parameter it tells of others. So boxes are
    compared: the mean of each box's ranks, and their mean distance from the middle (Student's t), and each parameter
    over all boxes (Kolmogorov and Smirnov). It is the least of all these tests, times their number.

    Parameters
    ----------
    found
        Ranks of each box.
    """
    each = np.stack(found)
    ways = (each, np.abs(2 * each - 1))
    alike = [float(stats.kstest(one, "uniform").pvalue) for way in ways for one in way.T]
    whole = [float(stats.ttest_1samp(np.mean(way, 1), 0.5).pvalue) for way in ways]
    return min(1.0, (len(whole) + 1) * min(*whole, len(alike) * min(alike)))


def _stored(store: Path, given: int) -> dict[int, list[float]]:
    """Ranks of boxes that were learnt before by the same code, by seed; a line that was not finished is left out."""
    lines = store.read_text(encoding="utf-8").splitlines(keepends=True) if store.exists() else []
    found = [json.loads(line) for line in lines if line.endswith("]\n")]
    return {seed: each for made, count, seed, each in found if (made, count) == (digest(), given)}


def main() -> None:
    """Learn boxes in processes, and say how uniform the ranks are."""
    parser = argparse.ArgumentParser(prog="python -m raidsim.validation.few_shot.ranks", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="boxes")
    parser.add_argument("--measurements", type=int, default=10, help="of each box")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--record", action="store_true", help="keep the result for the manual")
    given = parser.parse_args()
    store = ROOT / "build" / "few-shot-ranks.jsonl"
    known = _stored(store, given.measurements)
    store.parent.mkdir(parents=True, exist_ok=True)
    left = [seed for seed in range(given.count) if seed not in known]
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool, store.open("a", encoding="utf-8") as file:
        for seed, each in zip(left, pool.map(partial(learnt, measurements=given.measurements), left), strict=True):
            known[seed] = ranks(*each).round(4).tolist()
            file.write(json.dumps([digest(), given.measurements, seed, known[seed]]) + "\n")
            file.flush()
            print(f"{len(known)} of {given.count}", file=sys.stderr, flush=True)
    found = [np.array(known[seed]) for seed in range(given.count)]
    inside = float(np.mean(np.abs(2 * np.concatenate(found) - 1) < _INSIDE))
    result = Calibration(given.count, given.measurements, round(probability(found), 4), round(inside, 4))
    print(sentence(result), end="")
    if given.record:
        write_whole(KEPT, json.dumps(result._asdict()) + "\n")


if __name__ == "__main__":
    main()
