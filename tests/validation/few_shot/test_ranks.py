"""Simulation-based calibration of what is learnt of a box, with few boxes."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.validation.few_shot.ranks import kept, learnt, probability, ranks, sentence


@pytest.mark.slow
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
    uniform = np.random.default_rng(0).random((200, 5))
    assert probability(list(uniform)) > 0.05
    one = uniform.copy()
    one[:, 2] **= 2
    for ranked in (one, uniform**1.2, 0.5 + 0.4 * (2 * uniform - 1), np.sin(np.pi / 2 * uniform) ** 2):
        assert probability(list(ranked)) < 0.01


def test_ranks_that_depend_on_each_other_are_no_fault() -> None:
    """Protects from a false alarm: of two parameters of which the sum is known, one has the other's rank mirrored."""
    alike = np.repeat(np.random.default_rng(1).random((200, 1)), 10, axis=1)
    mirrored = alike.copy()
    mirrored[:, :3] = 1 - alike[:, :3]
    for ranked in (alike, mirrored):
        assert probability(list(ranked)) > 0.05


def test_the_kept_record_has_enough_boxes_and_is_uniform() -> None:
    """Protects the manual's claim: ranks of 200 boxes and more are uniform with p > 0.01."""
    found = kept()
    assert found.boxes >= 200
    assert found.probability > 0.01
    assert 0.8 <= found.inside <= 0.97
    assert sentence(found).startswith(f"Of {found.boxes} boxes")
