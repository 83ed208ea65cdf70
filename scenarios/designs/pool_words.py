"""A pool of ZFS in a line ("tank: raidz2 of 6, log mirror of 2, ashift 12, 14.4 TiB usable"), and its warnings."""

from __future__ import annotations

from ...model.files.quantities import format_size
from ...model.zfs.map.kinds import STRIPE
from ..description.pools import PoolSpec, VdevSpec
from ..description.scenario import ScenarioSpec


def pool_words(spec: ScenarioSpec) -> list[str]:
    """A line for each pool of a scenario, and one for each warning."""
    return [
        line
        for name, pool in spec.pools.items()
        for line in (_words(name, pool, spec), *(f"warning: {name}: {text}" for text in pool.warnings()))
    ]


def _words(name: str, pool: PoolSpec, spec: ScenarioSpec) -> str:
    usable = spec.pool_capacity(name).usable
    vdevs = list(map(_vdev, pool.vdevs))
    counted = [f"{vdevs.count(each)} x {each}" if vdevs.count(each) > 1 else each for each in dict.fromkeys(vdevs)]
    parts = [*counted, f"ashift {pool.ashift}", f"{format_size(usable >> 30 << 30)} usable", *_state(pool)]
    return f"{name}: {', '.join(parts)}"


def _state(pool: PoolSpec) -> list[str]:
    """What is lost, and what goes over the blocks meanwhile."""
    found, fresh = [], len(pool.rebuilding)
    if len(pool.failed) > fresh:
        found.append(f"{len(pool.failed) - fresh} lost")
    if pool.action is not None:
        done = 0.0 if pool.scan is None else pool.scan.done
        work = {"resilver": f"{fresh} being resilvered", "rebuild": f"{fresh} being rebuilt in sequence"}
        found.append(f"{work.get(pool.action, pool.action)}, {done:.0%} done")
    return found


def _vdev(vdev: VdevSpec) -> str:
    kind = vdev.kind if vdev.kind != STRIPE or vdev.use == "data" else ""
    use = "" if vdev.use == "data" else vdev.use
    return f"{' '.join(filter(None, (use, kind)))} of {len(vdev.members)}"
