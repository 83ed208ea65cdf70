"""Loads of a box, and what was measured of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class BoxLoad(NamedTuple):
    """Reads and writes of one size, with a constant number outstanding.

    Attributes
    ----------
    block_size
        Bytes.
    jobs
        Threads or processes that submit.
    depth
        I/Os that each keeps outstanding.
    read_share
        Reads among all I/Os, 0 to 1.
    sequential
        Whether each job goes through the blocks in order.
    """

    block_size: float
    jobs: int
    depth: int
    read_share: float
    sequential: bool = False

    @property
    def outstanding(self) -> int:
        """I/Os under way at any time."""
        return self.jobs * self.depth


class Measured(NamedTuple):
    """A load and what the box did.

    Attributes
    ----------
    name
        What it is called in tables.
    load
        What was done.
    rate
        I/Os a second, reads and writes together.
    read_mean, write_mean
        Mean latency, seconds; None where it was not measured, or there are no such I/Os.
    """

    name: str
    load: BoxLoad
    rate: float
    read_mean: float | None = None
    write_mean: float | None = None


class Columns(NamedTuple):
    """Loads as arrays, an item a load."""

    block_size: Array
    jobs: Array
    outstanding: Array
    read_share: Array
    sequential: Array

    @classmethod
    def of(cls, loads: Sequence[BoxLoad]) -> Columns:
        """The same loads."""
        return cls(
            np.array([load.block_size for load in loads], float),
            np.array([load.jobs for load in loads], float),
            np.array([load.outstanding for load in loads], float),
            np.array([load.read_share for load in loads], float),
            np.array([load.sequential for load in loads], float),
        )

    def each(self) -> list[BoxLoad]:
        """The same loads, one by one."""
        return [
            BoxLoad(size, int(jobs), round(outstanding / jobs), share, bool(sequential))
            for size, jobs, outstanding, share, sequential in zip(*(each.tolist() for each in self), strict=True)
        ]
