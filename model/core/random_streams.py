"""Named random streams: one ``SeedSequence`` per run, spawned per component by name.

The same scenario and seed give the same numbers in any process on any machine, and adding a
component does not shift the numbers of the others (common random numbers between layouts).
"""

from __future__ import annotations

import hashlib

import numpy as np


class RandomStreams:
    """Random generators by component name.

    Parameters
    ----------
    seed
        Non-negative integer seed of the run.
    """

    def __init__(self, seed: int = 0) -> None:
        if seed < 0:
            raise ValueError(f"seed {seed} is negative; a seed is a non-negative integer")
        self.seed = seed

    def generator(self, name: str) -> np.random.Generator:
        """A fresh generator for the component called `name`; the same name gives the same numbers."""
        digest = hashlib.sha256(name.encode()).digest()
        key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))
