"""What a load that has run for long has left in a cache: the blocks that it hits most.

As many places are drawn from the load's locality as make the most popular blocks stand out; the cache holds those that
were drawn most often, and of a cache that keeps writes those that were drawn for a write are dirty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..loads.locality import Places

_DRAWS_PER_BLOCK: Final = 8
_LEAST_DRAWS: Final = 1 << 16


class PastLoad(NamedTuple):
    """A load that has run before.

    Attributes
    ----------
    places, start, span
        Its locality, and the part of the device that it uses (bytes).
    read_share
        Share of reads, 0 to 1.
    weight
        I/Os of it for each one of a load of weight 1.
    """

    places: Places
    start: int
    span: int
    read_share: float
    weight: float = 1.0


class WarmBlocks(NamedTuple):
    """Blocks of the origin, the least popular first, and whether each has been written."""

    blocks: list[int]
    written: list[bool]


def warm_blocks(random: np.random.Generator, loads: Sequence[PastLoad], capacity: int, block_bytes: int) -> WarmBlocks:
    """The blocks that these loads leave in a cache.

    Parameters
    ----------
    random
        What they are drawn with.
    loads
        The loads, of which each has had the share of the I/Os that its weight is of all.
    capacity
        Blocks of the cache.
    block_bytes
        Bytes of a block.
    """
    every_io = max(_LEAST_DRAWS, _DRAWS_PER_BLOCK * capacity)
    weights = math.fsum(load.weight for load in loads)
    drawn: list[NDArray[np.int64]] = []
    written: list[NDArray[np.bool_]] = []
    for load in loads:
        count = int(every_io * (load.weight / weights))
        places = load.places.draw(random, count)
        drawn.append((load.start + (places * load.span).astype(np.int64)) // block_bytes)
        written.append(random.random(count) >= load.read_share)
    if not drawn:
        return WarmBlocks([], [])
    every = np.concatenate(drawn)
    blocks, times = np.unique(every, return_counts=True)
    # Of blocks that were drawn as often the choice is random.
    shuffled = random.permutation(len(blocks))
    order = shuffled[np.argsort(times[shuffled], kind="stable")][-capacity:]
    dirty = np.isin(blocks[order], every[np.concatenate(written)])
    return WarmBlocks(blocks[order].tolist(), dirty.tolist())


def full_blocks(random: np.random.Generator, capacity: int, blocks: int) -> list[int]:
    """Blocks from all over an origin of `blocks` blocks that fill a cache of `capacity`."""
    chosen: list[int] = random.choice(blocks, size=min(capacity, blocks), replace=False).tolist()
    return chosen
