"""What loads leave in the ARC in the long run, by running them on a miniature of it.

A sample of the blocks is asked for as often as the loads ask for them, in an ARC whose blocks each count for many
of the pool. The hit rate of a sample of the addresses in a cache of the sample's size is that of the whole.
Source: C. Waldspurger et al., "Cache Modeling and Optimization using Miniature Simulations", USENIX ATC 2017.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .buffers import GHOST, MFU, MRU
from .cache import HEADER_BYTES, Arc
from .second_level import SecondLevel
from .settled import Settled, SettledFile, Shares
from .visits import SequentialVisits, VisitedFile

_BLOCKS = 8192
"""Blocks of the sample."""
_REPLACED = 6
"""The run is over when misses have filled the ARC as often, or after so many visits of each block."""
_MOST_VISITS = 24
_KINDS = (0.25, 0.5, 0.75, *(1.0 - 0.5**power for power in range(3, 10)))
"""Shares of the blocks, the least popular first, that end a kind."""
_PAUSE_S = 1.0
"""Time between two visits: no two of them count as one."""


def settle(arc: Arc, files: Sequence[VisitedFile], second: SecondLevel | None = None) -> None:
    """Let an ARC hold what the loads on some volumes and files leave in it in the long run.

    Parameters
    ----------
    arc
        It may hold metadata already.
    files
        Those whose data are cached.
    second
        The second level, if there is one.
    """
    whole = sum(file.blocks for file in files)
    if not whole:
        return
    random = np.random.default_rng(1)
    stride = max(1.0, whole / _BLOCKS)
    samples = [_Sample(file, stride, random, number << 32) for number, file in enumerate(files)]
    held = sum(arc.lists[place].size for place in range(GHOST))
    small = Arc(int(arc.target) - int(held))
    below = _Below(0 if second is None else second.capacity + int(small.target))
    _run(small, below, samples, random)
    sizes, count, spilled = [0, 0, 0, 0], 0.0, 0
    settled: dict[int, SettledFile] = {}
    for sample in samples:
        places = sample.places(small)
        for number, place in enumerate((MRU, MFU, GHOST + MRU, GHOST + MFU)):
            blocks = float((places == place).sum()) * sample.stride
            sizes[number] += int(blocks * sample.file.psize)
            count += blocks
        below_shares = sample.below(below)
        spilled += int((below_shares & ((places < 0) | (places >= GHOST))).sum() * sample.stride * sample.file.psize)
        settled[sample.file.number] = SettledFile(sample.file, sample.shares(places, below_shares))
    if second is not None:
        second.settle(min(spilled, second.capacity))
    arc.settle(Settled(arc.lists, settled, sizes, int(sum(sizes) / max(1.0, count))), small.balance)


class _Sample:
    """Some blocks of a file, with how often each load asks for them."""

    def __init__(self, file: VisitedFile, stride: float, random: np.random.Generator, base: int) -> None:
        count = max(1, round(file.blocks / stride))
        self.file = file
        self.base = base
        self.stride = file.blocks / count
        jitter = random.random(count) if self.stride > 1.0 else 0.0
        self.blocks = np.minimum(((np.arange(count) + jitter) * self.stride).astype(np.int64), file.blocks - 1)
        self.size = int((file.psize + HEADER_BYTES) * self.stride) - HEADER_BYTES
        block_bytes = file.block_bytes
        self.rates = [
            np.array([each.rate(block * block_bytes, block_bytes) for block in self.blocks.tolist()])
            for each in file.random
        ]
        total = np.sum(self.rates, axis=0) if self.rates else np.zeros(count)
        if len(np.unique(total)) > 1:
            ends = np.quantile(total, _KINDS)
            file.edges = _edges(np.unique(total), ends)

    def in_order(self, visits: SequentialVisits) -> list[NDArray[np.int64]]:
        """Numbers of the blocks of each job of a sequential load, in order."""
        progress = np.array([visits.progress(block * self.file.block_bytes) for block in self.blocks.tolist()])
        inside = np.flatnonzero(progress >= 0.0)
        if not len(inside):
            return []
        begins = np.flatnonzero(np.diff(progress[inside]) < 0.0) + 1
        return np.split(inside, begins)

    def places(self, arc: Arc) -> NDArray[np.int64]:
        """The list of each block."""
        return np.array([arc.place(self.base + number) for number in range(len(self.blocks))])

    def below(self, below: _Below) -> NDArray[np.bool_]:
        """Which blocks the second level holds."""
        return np.array([self.base + number in below.blocks for number in range(len(self.blocks))])

    def shares(self, places: NDArray[np.int64], below: NDArray[np.bool_]) -> dict[int, Shares]:
        """How likely blocks of each kind are where; `below`: which of them are in the second level."""
        kinds = np.array([self.file.kind(block) for block in self.blocks.tolist()])
        found = {}
        for kind in np.unique(kinds).tolist():
            mine = places[kinds == kind]
            recent, frequent, recent_ghosts, frequent_ghosts = (
                float((mine == place).mean()) for place in (MRU, MFU, GHOST + MRU, GHOST + MFU)
            )
            held, ghost = recent + frequent, recent_ghosts + frequent_ghosts
            others = (kinds == kind) & ((places < 0) | (places >= GHOST))
            second = float(below[others].mean()) if others.any() else 0.0
            held_recent = recent / held if held else 0.0
            ghost_recent = recent_ghosts / ghost if ghost else 0.0
            found[kind] = Shares(held, held_recent, ghost, ghost_recent, second)
        return found


class _Below:
    """A second level: blocks in the order of feeding, up to a capacity that includes what is still above."""

    def __init__(self, capacity: int) -> None:
        self.blocks: OrderedDict[int, int] = OrderedDict()
        self.capacity = self._left = capacity

    def feed(self, key: int, size: int) -> None:
        """A block comes into memory, from where it will be fed."""
        if self.capacity and key not in self.blocks:
            self.blocks[key] = size
            self._left -= size
            while self._left < 0:
                self._left += self.blocks.popitem(last=False)[1]

    def drop(self, key: int) -> None:
        """A block is written anew."""
        self._left += self.blocks.pop(key, 0)


def _edges(values: NDArray[np.float64], ends: NDArray[np.float64]) -> list[float]:
    """Rates between the kinds, each in the middle between two rates that blocks have."""
    found = set()
    for end in ends.tolist():
        index = min(int(np.searchsorted(values, end, side="right")), len(values) - 1)
        found.add(float(values[index - 1] + values[index]) / 2)
    return sorted(found)


def _run(arc: Arc, below: _Below, samples: Sequence[_Sample], random: np.random.Generator) -> None:
    """Write all blocks once, as whoever made the files did, and run the loads on them."""
    now = 0.0
    for sample in samples:
        for number in range(len(sample.blocks)):
            arc.add(sample.base + number, sample.size, False, now)
            if sample.file.fed:
                below.feed(sample.base + number, sample.size)
            now += _PAUSE_S
    draws: list[Callable[[int], NDArray[np.int64]]] = []
    loads: list[tuple[_Sample, float, float]] = []
    for sample in samples:
        for each, rates in zip(sample.file.random, sample.rates, strict=True):
            if rates.sum() > 0.0:
                draws.append(_places(np.cumsum(rates) / rates.sum(), random))
                loads.append((sample, each.weight, each.write_share))
        for in_order in sample.file.sequential:
            jobs = sample.in_order(in_order)
            if jobs:
                draws.append(_Passes(jobs))
                loads.append((sample, in_order.weight, in_order.write_share))
    if not loads:
        return
    weights = np.array([weight for _, weight, _ in loads])
    blocks = sum(len(sample.blocks) for sample in samples)
    missed = 0.0

    def run(visits: int) -> None:
        nonlocal now, missed
        counts = np.rint(visits * weights / weights.sum()).astype(np.int64)
        order = random.permutation(np.repeat(np.arange(len(loads)), counts))
        visited = [iter(draw(int(count)).tolist()) for draw, count in zip(draws, counts, strict=True)]
        for load, written in zip(order.tolist(), random.random(len(order)).tolist(), strict=True):
            sample, _, write_share = loads[load]
            key = sample.base + next(visited[load])
            now += _PAUSE_S
            if written < write_share:
                arc.remove(key)
                below.drop(key)
            elif arc.use(key, now):
                continue
            arc.add(key, sample.size, False, now, frequent=key in below.blocks)
            if sample.file.fed:
                below.feed(key, sample.size)
            missed += sample.size

    for _ in range(_MOST_VISITS):
        run(blocks)
        if missed > _REPLACED * float(arc.target + below.capacity):
            break
    # Sequential jobs begin at the start of their parts, so the last pass ends here.
    for draw, weight in zip(draws, weights.tolist(), strict=True):
        if isinstance(draw, _Passes) and draw.left:
            run(min(_MOST_VISITS * blocks, round(draw.left * float(weights.sum()) / weight)))
            break


def _places(reached: NDArray[np.float64], random: np.random.Generator) -> Callable[[int], NDArray[np.int64]]:
    last = len(reached) - 1
    return lambda count: np.minimum(np.searchsorted(reached, random.random(count), side="right"), last)


class _Passes:
    """Jobs that each go over their blocks again and again."""

    def __init__(self, jobs: Sequence[NDArray[np.int64]]) -> None:
        least = min(len(blocks) for blocks in jobs)
        self._blocks = np.stack([blocks[:least] for blocks in jobs], axis=1).ravel()
        self._at = 0

    @property
    def left(self) -> int:
        """Blocks up to the end of the pass; 0 at its end."""
        return -self._at % len(self._blocks)

    def __call__(self, count: int) -> NDArray[np.int64]:
        """The next blocks."""
        at, self._at = self._at, self._at + count
        return self._blocks[np.arange(at, at + count) % len(self._blocks)]
