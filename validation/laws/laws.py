"""All laws by name."""

from __future__ import annotations

from ...model.core.errors import InputError
from . import bounds, caching, conservation, costs, extremes, little, monotone, steps, symmetry, utilization, ways
from .law import Law

LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        little.LITTLE,
        little.WAITS,
        bounds.INTERFACE,
        bounds.LINKS,
        bounds.MEDIA,
        utilization.BOTTLENECK,
        utilization.MECHANICS,
        utilization.UNSATURATED,
        utilization.HALF_BUSY,
        monotone.DEPTH,
        monotone.JOBS,
        monotone.MEMBERS,
        monotone.CORES,
        monotone.FASTER,
        monotone.CACHE,
        monotone.METADATA,
        steps.BLOCK_STEP,
        steps.CHUNK_STEP,
        conservation.CONSERVATION,
        conservation.DESTAGED,
        conservation.ENDINGS,
        symmetry.SWAPPED,
        symmetry.SLOWER,
        extremes.MANY,
        extremes.DEGRADED,
        extremes.BESIDE,
        extremes.FEWER,
        costs.CPU_TIME,
        costs.CPU_GROWS,
        costs.POWER,
        caching.HITS,
        caching.MOVED,
        caching.FITS,
        caching.OFF,
        caching.BACK,
        caching.SIZE,
        caching.DRAINED,
        ways.FIO,
        ways.REPLAY,
        ways.COMPARE,
        ways.CURVE,
    )
}
"""First those that a scenario's own simulation tells, then those that take further ones."""


def laws_named(names: list[str]) -> list[Law]:
    """The laws of these names; all without any. `InputError` for an unknown one."""
    for name in names:
        if name not in LAWS:
            raise InputError("--law", f"found {name!r}", f"expected: {', '.join(LAWS)}")
    return [law for law in LAWS.values() if not names or law.name in names]
