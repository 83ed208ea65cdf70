"""A box learnt from what a known box would have shown."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from raidsim import InputError
from raidsim.calibration.learning.box import BLACK_BOX, PARAMETERS
from raidsim.calibration.learning.loads import BoxLoad, Columns, Measured
from raidsim.calibration.learning.next_job import next_jobs
from raidsim.calibration.learning.posterior import learn
from raidsim.calibration.learning.verify import verify

KIB = 1024


def draw_loads(count: int, rng: np.random.Generator) -> list[BoxLoad]:
    """Random loads as in a measurement of a box."""
    return [
        BoxLoad(
            KIB * 2 ** float(rng.integers(2, 9)),
            int(rng.integers(1, 64)),
            int(rng.integers(1, 16)),
            float(rng.integers(0, 101)) / 100,
        )
        for _ in range(count)
    ]


def measure(
    parameters: np.ndarray, loads: list[BoxLoad], rng: np.random.Generator, noise: float = 0.02
) -> list[Measured]:
    """What a box of these parameters shows, with noise."""
    found = BLACK_BOX.means(parameters, Columns.of(loads))
    noisy = np.exp(noise * rng.standard_normal((3, len(loads))))
    return [
        Measured(
            f"load {k}",
            load,
            float(found.rate[k] * noisy[0, k]),
            float(found.read[k] * noisy[1, k]) if load.read_share > 0 else None,
            float(found.write[k] * noisy[2, k]) if load.read_share < 1 else None,
        )
        for k, load in enumerate(loads)
    ]


def a_box(seed: int) -> np.ndarray:
    """Parameters of some box: half as far from the usual as they may be."""
    medians, sds = np.log([each.median for each in PARAMETERS]), np.array([each.sd for each in PARAMETERS])
    return np.asarray(medians + 0.5 * sds * np.random.default_rng(seed).standard_normal(len(PARAMETERS)))


def test_ten_measurements_predict_the_rest() -> None:
    """Protects the claim: of boxes that the model describes, loads that were not measured are known within 10 %."""
    errors = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        box = a_box(seed)
        posterior = learn(measure(box, draw_loads(10, rng), rng), seed=seed, steps=300)
        others = measure(box, draw_loads(30, rng), rng)
        predicted = posterior.predict([each.load for each in others])
        errors += [abs(found.rate / each.rate - 1) for found, each in zip(predicted, others, strict=True)]
    assert np.median(errors) < 0.1


def test_what_is_alike_is_corrected_where_the_model_is_wrong() -> None:
    """Protects the discrepancy: of a box unlike the model, loads near the measured ones are still right."""
    rng = np.random.default_rng(5)
    box = a_box(5)

    def odd(loads: list[BoxLoad]) -> list[Measured]:
        # Reads of 16 KiB and less are twice as fast as such a box could be.
        shown = [each._replace(read_mean=None, write_mean=None) for each in measure(box, loads, rng, 0.01)]
        return [each._replace(rate=each.rate * (1 + (each.load.block_size <= 16 * KIB))) for each in shown]

    posterior = learn(odd(draw_loads(40, rng)), seed=5, steps=300)
    others = odd(draw_loads(40, rng))
    predicted = posterior.predict([each.load for each in others])
    assert np.median([abs(found.rate / each.rate - 1) for found, each in zip(predicted, others, strict=True)]) < 0.15


def test_ranges_hold_what_they_say() -> None:
    """Protects the honesty: ranges of 90 % hold about 90 % of what is measured later, of boxes drawn from the prior."""
    inside = []
    for seed in range(4):
        rng = np.random.default_rng(100 + seed)
        box = a_box(100 + seed)
        posterior = learn(measure(box, draw_loads(8, rng), rng, 0.03), seed=seed, steps=300)
        others = measure(box, draw_loads(20, rng), rng, 0.03)
        for found, each in zip(posterior.predict([each.load for each in others]), others, strict=True):
            inside.append(found.rate_range[0] <= each.rate <= found.rate_range[1])
    assert 0.8 <= np.mean(inside) <= 1


def test_the_same_seed_gives_the_same_bits() -> None:
    """Protects reproducibility, and that seeds are used."""
    rng = np.random.default_rng(1)
    measured = measure(a_box(1), draw_loads(4, rng), rng)
    one, same, other = (learn(measured, seed=seed, steps=50).samples for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_next_job_tells_most_of_what_is_asked() -> None:
    """Protects the proposal: each makes the asked rates better known, and measuring what is asked is best."""
    rng = np.random.default_rng(2)
    posterior = learn(measure(a_box(2), draw_loads(4, rng), rng), seed=2, steps=300)
    asked = BoxLoad(256 * KIB, 64, 16, 1.0)
    unlike = BoxLoad(4 * KIB, 1, 1, 0.0)
    found = next_jobs(posterior, [asked], [unlike, asked], 2)
    assert [gain.load for gain in found.gains] == [asked, unlike]
    assert found.spread > found.gains[0].spread >= found.gains[1].spread


def test_a_box_that_has_changed_is_told_from_one_that_has_not() -> None:
    """Protects the verification: as before, all is inside; with workers three times slower, that is named."""
    rng = np.random.default_rng(3)
    box = a_box(3)
    posterior = learn(measure(box, draw_loads(20, rng), rng), seed=3, steps=300)
    again = measure(box, draw_loads(30, rng), rng)
    assert verify(posterior, again).inside > 0.8
    slower = box.copy()
    slower[[4, 6]] += np.log(3)
    found = verify(posterior, measure(slower, draw_loads(30, rng), rng))
    assert found.inside < 0.7
    assert any("workers' time" in each.name and each.factor > 1.5 for each in found.moved)


def test_nothing_is_learnt_from_nothing_or_without_emcee(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects from tracebacks."""
    with pytest.raises(InputError, match="one or more"):
        learn([])
    monkeypatch.setitem(sys.modules, "emcee", None)
    with pytest.raises(InputError, match="emcee is not installed"):
        learn([Measured("a", BoxLoad(4096, 1, 1, 1.0), 1000.0)])
