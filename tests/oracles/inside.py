"""Queues and caches inside drives, arrays and memory, against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from raidsim.model.core.engine import Engine
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import mechanics
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.memory.page_memory import PageMemory
from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.solid_state.map_cache import MapCache
from raidsim.model.solid_state.superblocks import RESERVE
from raidsim.model.solid_state.translation import Translation
from raidsim.tests.oracles import theory
from raidsim.tests.oracles.disks import even, turn_s
from raidsim.tests.oracles.forks import CHUNK, array_of
from raidsim.tests.oracles.oracle import Oracle, exact
from raidsim.tests.oracles.queues import SERVICE_S

_COFFMAN = "Coffman 1969, Fuller and Baskett 1975: a drum served in the order of its sectors; Little's law"
_CHE = "Che, Tung and Wang 2002: LRU under independent requests"
_DESNOYERS = "Desnoyers 2012; Luojie and Kurkoski 2012: the block with the fewest valid units"
_PATTERSON = "Patterson, Gibson and Katz 1988; the longest of two exponential reads, then of two writes"
_TWO_LISTS = "Che, Tung and Wang 2002; Martina, Garetto and Leonardi 2014: characteristic times of both lists"
_SECTOR = 512
_PAGE = 64 << 10
_SUPERBLOCK = 512
"""Units of a superblock in the rows on collection: the closed form is of large ones."""
_LARGE_BLOCKS_SLACK = 0.02
_CHE_SLACK = 0.01


def drum(depth: int) -> tuple[float, float, Callable[[int], float]]:
    """Bounds of a disk's I/Os a second, whose queue takes the sector that comes first, and how to simulate them.

    The disk has no seeks and no overheads, so an I/O waits for half a turn, whatever is served meanwhile. A drive
    chooses the next I/O as one ends, before the host sends another one. The new I/O waits for a further turn if it lies
    in front of the chosen one. Little's law then gives 2 (n - 1) I/Os a turn. An I/O on the sector that is read, or on
    the next one, waits for a further turn too, which lowers the rate by up to 4 n over the sectors of a track.
    """
    times = ("seek_track_to_track", "seek_average", "seek_full_stroke", "head_switch", "read_overhead")
    spec = even("Exos-15E900-900GB").with_values(
        **dict.fromkeys(times, 0.0), queue_depth=depth, queue_effort=1.0, queue_age_weight=0.0
    )
    geometry, _ = mechanics(spec)
    sectors = geometry.zones[0].sectors_per_track

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        load = ClosedLoad(engine, HardDisk(engine, spec, "d"), size=_SECTOR, depth=depth)
        engine.run_to(0.2)
        load.start_statistics(engine.now)
        seconds = 20.0 / depth
        engine.run_to(0.2 + seconds)
        return load.reads / seconds

    most = 2.0 * max(1, depth - 1)
    return most / (1 + 4 * depth / sectors) / turn_s(spec), most / turn_s(spec), simulate


def small_write(level: str, members: int, ios: int = 3000) -> Callable[[int], float]:
    """Mean time (s) of one small write at a time on an array of exponential members of 1 ms."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        array = array_of(engine, level, members)
        load = ClosedLoad(engine, array, size=CHUNK, read_share=0.0)
        while load.writes < ios:
            engine.run_to(engine.now + 1.0)
        return load.write_latency.mean

    return simulate


def collected(utilization: float) -> Callable[[int], float]:
    """Flash writes per host write of a drive that is overwritten at random until it no longer changes."""

    def simulate(seed: int) -> float:
        superblocks = 60
        units = round(utilization * (superblocks - RESERVE + 1) * _SUPERBLOCK)
        flash = Translation(superblocks, _SUPERBLOCK, units, 1, "fresh")
        random = np.random.default_rng(seed)
        for unit in random.permutation(units).tolist():
            flash.write(unit)
        for unit in random.integers(0, units, 2 * units).tolist():
            flash.write(unit)
        before = flash.moved_units
        for unit in random.integers(0, units, units).tolist():
            flash.write(unit)
        return 1 + (flash.moved_units - before) / units

    return simulate


def zipf(pages: int, exponent: float) -> NDArray[np.float64]:
    """Shares of the requests that each page gets."""
    weights = np.array([1.0 / rank**exponent for rank in range(1, pages + 1)])
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def che(shares: NDArray[np.float64], held: int) -> float:
    """Hit rate of an LRU cache of `held` pages by Che's approximation."""
    time = brentq(lambda t: float((-np.expm1(-shares * t)).sum()) - held, 1.0, 1e9)
    return float(shares @ -np.expm1(-shares * time))


def map_hits(shares: NDArray[np.float64], held: int, requests: int = 30_000) -> Callable[[int], float]:
    """Hit rate of the map cache of a solid-state drive."""
    ends = list(accumulate(shares.tolist()))

    def simulate(seed: int) -> float:
        cache = MapCache(held << 22, 4096)
        pages = np.searchsorted(ends, np.random.default_rng(seed).random(2 * requests) * ends[-1]).tolist()
        for page in pages[:requests]:
            cache.missing(page * cache.page_bytes, 4096)
        before = cache.misses
        for page in pages[requests:]:
            cache.missing(page * cache.page_bytes, 4096)
        return 1 - (cache.misses - before) / requests

    return simulate


def page_hits(
    shares: NDArray[np.float64], held: int, half_pace: bool, requests: int = 20_000
) -> Callable[[int], float]:
    """Hit rate of the page cache, whose pages lie in a file without any order."""

    def simulate(seed: int) -> float:
        memory = PageMemory(held * _PAGE, half_pace=half_pace)
        file = PagedFile("f", len(shares) * _PAGE)
        random = np.random.default_rng(seed)
        places = random.permutation(len(shares)) * _PAGE
        drawn = places[np.searchsorted(np.cumsum(shares), random.random(2 * requests) * shares.sum())].tolist()
        hits = 0
        for number, at in enumerate(drawn):
            if file.cached.run_from(at) > at:
                hits += number >= requests
            else:
                memory.add(file, at, at + _PAGE)
            memory.used(file, at, at + _PAGE)
        return hits / requests

    return simulate


def inside() -> list[Oracle]:
    """The oracles."""
    found = []
    for depth in (1, 4, 16):
        low, high, simulate = drum(depth)
        name = f"a disk without seeks, {depth} in its queue: rate within bounds"
        found.append(Oracle(name, _COFFMAN, low, high, "1/s", simulate))
    time_s = 2 * theory.harmonic(2) * SERVICE_S
    found.append(exact("a small write to RAID 5 of 5: time", _PATTERSON, time_s, "s", small_write("raid5", 5)))
    for utilization in (0.8, 0.9):
        amplification = theory.greedy_collection(utilization)
        name = f"flash {utilization:.0%} full, overwritten at random: write amplification"
        found.append(
            Oracle(name, _DESNOYERS, amplification, amplification, "", collected(utilization), 1, _LARGE_BLOCKS_SLACK)
        )
    for exponent, held in ((0.8, 64), (1.2, 64), (0.8, 512)):
        shares = zipf(2048, exponent)
        rate = che(shares, held)
        name = f"map cache of {held} of 2,048 pages, Zipf {exponent:g}: hit rate"
        found.append(Oracle(name, _CHE, rate, rate, "", map_hits(shares, held), 8, _CHE_SLACK))
    for exponent, held, pace in ((0.8, 512, 0.5), (1.2, 256, 1.0)):
        shares = zipf(2048, exponent)
        rate = theory.two_lists(shares, held, pace)
        name = f"page cache of {held} of 2,048 pages, Zipf {exponent:g}, pace {pace:g}: hit rate"
        found.append(Oracle(name, _TWO_LISTS, rate, rate, "", page_hits(shares, held, pace < 1), 4, _CHE_SLACK))
    return found
