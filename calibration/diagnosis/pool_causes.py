"""Causes that only a pool of ZFS has: lost members, scans, little free space, what is not cached, small sectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...model.zfs.map.kinds import STRIPE
from .case import Case, Change, Form
from .measured import Measurements

_SMALL_ASHIFT = 9
_USED = 0.4
"""Share of a pool with something to scan in it (assumed)."""
_NEARLY = 0.98
_FULL = ((0.8, 0.5), (0.95, 0.8))
"""Used share and fragmentation of the free space, of a full pool and of a very full one (assumed)."""


def _of_the_pool(case: Case, **values: Any) -> Change:
    name = case.target.partition("/")[0]
    return Change({f"pools.{name}.{field}": value for field, value in values.items()}, {})


def _lost(case: Case) -> str | None:
    """A member that may be lost; None if there is none, or one is lost already."""
    pool = case.pool
    redundant = [] if pool is None or pool.failed else [vdev for vdev in pool.vdevs if vdev.use == "data"]
    return next((vdev.members[-1] for vdev in reversed(redundant) if vdev.kind != STRIPE), None)


def _degraded(case: Case, measured: Measurements) -> Iterator[Form]:
    member = _lost(case)
    if member is not None:
        yield Form(_of_the_pool(case, failed=[member]), member)


def _resilvering(case: Case, measured: Measurements) -> Iterator[Form]:
    member = _lost(case)
    if member is not None:
        yield Form(_of_the_pool(case, failed=[member], rebuilding=[member], used=_USED), member)


def _scrubbing(case: Case, measured: Measurements) -> Iterator[Form]:
    pool = case.pool
    if pool is not None and pool.scan is None and not pool.rebuilding:
        yield Form(_of_the_pool(case, scan={"action": "scrub"}, used=max(pool.used, _USED)))


def _full(case: Case, measured: Measurements) -> Iterator[Form]:
    pool = case.pool
    if pool is None:
        return
    name, _, dataset = case.target.partition("/")
    room = 1 - (pool.datasets[dataset].size or 0) / case.spec.pool_capacity(name).usable
    for share, fragmentation in _FULL:
        used = round(min(share, _NEARLY * room), 3)
        if pool.used < used:
            words = f"{max(share, used):.0%} full and {fragmentation:.0%} fragmented"
            yield Form(_of_the_pool(case, used=used, fragmentation=fragmentation), value=words)


def _cold(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.pool is not None and case.pool.arc == "warm" and any(job.load["read_share"] > 0 for job in measured.jobs):
        yield Form(_of_the_pool(case, arc="cold"))


def _of_the_dataset(case: Case, field: str, value: Any) -> Iterator[Form]:
    if case.pool is not None:
        pool, _, dataset = case.target.partition("/")
        if getattr(case.pool.datasets[dataset], field) != value:
            yield Form(Change({f"pools.{pool}.datasets.{dataset}.{field}": value}, {}))


def _always_sync(case: Case, measured: Measurements) -> Iterator[Form]:
    if any(job.load["read_share"] < 1 for job in measured.jobs):
        yield from _of_the_dataset(case, "sync", "always")


def _nothing_cached(case: Case, measured: Measurements) -> Iterator[Form]:
    if any(job.load["read_share"] > 0 for job in measured.jobs):
        yield from _of_the_dataset(case, "primarycache", "metadata")


def _small_sectors(case: Case, measured: Measurements) -> Iterator[Form]:
    if case.pool is not None and case.pool.ashift > _SMALL_ASHIFT:
        yield Form(_of_the_pool(case, ashift=_SMALL_ASHIFT))


POOL_FORMS: dict[str, Callable[[Case, Measurements], Iterator[Form]]] = {
    "degraded pool": _degraded,
    "resilvering": _resilvering,
    "scrubbing": _scrubbing,
    "full pool": _full,
    "cold ARC": _cold,
    "always synchronous": _always_sync,
    "data not cached": _nothing_cached,
    "small sectors of a pool": _small_sectors,
}
"""By name in the catalogue."""
