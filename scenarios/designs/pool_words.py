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
    lost = [f"{len(pool.failed)} lost"] if pool.failed else []
    vdevs = list(map(_vdev, pool.vdevs))
    counted = [f"{vdevs.count(each)} x {each}" if vdevs.count(each) > 1 else each for each in dict.fromkeys(vdevs)]
    parts = [*counted, f"ashift {pool.ashift}", f"{format_size(usable >> 30 << 30)} usable", *lost]
    return f"{name}: {', '.join(parts)}"


def _vdev(vdev: VdevSpec) -> str:
    kind = vdev.kind if vdev.kind != STRIPE or vdev.use == "data" else ""
    use = "" if vdev.use == "data" else vdev.use
    return f"{' '.join(filter(None, (use, kind)))} of {len(vdev.members)}"
