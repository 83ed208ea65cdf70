"""Simulation-based calibration of what is learnt of a box, with few boxes."""

from __future__ import annotations

import numpy as np

from raidsim.validation.few_shot.ranks import learnt, probability, ranks


def test_what_is_learnt_is_as_sure_as_it_says() -> None:
    """Protects the ranges: true parameters rank uniformly among their samples.

    Counter-test: with ranges of half the width they do not.
    """
    boxes = [learnt(seed, 5, 100) for seed in range(20)]
    assert probability([ranks(*box) for box in boxes]) > 0.01
    narrowed = [(true, (samples + np.mean(samples, 0)) / 2) for true, samples in boxes]
    assert probability([ranks(*box) for box in narrowed]) < 0.01


def test_ranks_that_are_not_uniform_are_noticed() -> None:
    """Protects the measure: uniform ranks pass; shifted, narrow and wide ones do not."""
    uniform = (np.arange(400) + 0.5) / 400
    assert probability([uniform]) > 0.9
    for ranked in (uniform**2, 0.5 + 0.35 * (2 * uniform - 1), np.sin(np.pi / 2 * uniform) ** 2):
        assert probability([ranked]) < 0.01
