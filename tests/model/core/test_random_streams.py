"""Named random streams: the same everywhere, and independent of each other."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from raidsim.model.core.random_streams import RandomStreams

RECORDED = [194, 111, 539, 175, 987]
DRAW = """
from raidsim.model.core.random_streams import RandomStreams
print(RandomStreams(5).generator("sda").integers(2**62, size=8).tolist())
"""


def test_the_same_name_gives_the_same_numbers_in_any_process() -> None:
    """Protects bit-identical results: no dependence on the process, its hash seed or what was drawn before."""
    streams = RandomStreams(5)
    streams.generator("another").random(100)
    here = streams.generator("sda").integers(2**62, size=8).tolist()
    for hash_seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", DRAW], env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
        )
        assert there.stdout.strip() == str(here)


def test_numbers_recorded_once_stay() -> None:
    """Protects results across versions of this package and of numpy: these were drawn when the test was written."""
    drawn = RandomStreams(0).generator("workload").integers(1000, size=5).tolist()
    assert drawn == RECORDED


def test_streams_do_not_follow_each_other() -> None:
    """Protects common random numbers: names and seeds give unrelated streams."""
    draws = [RandomStreams(seed).generator(name).random(4_000) for seed in (0, 1) for name in ("sda", "sdb")]
    correlations = np.asarray(np.corrcoef(draws))[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 0.06


def test_a_negative_seed_is_refused() -> None:
    """Protects against numpy's own message for a seed that cannot be."""
    with pytest.raises(ValueError, match="negative"):
        RandomStreams(-1)
