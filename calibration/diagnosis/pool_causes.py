"""Causes that only a pool of ZFS has: lost members, synchronous writes, data that are not cached, small sectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...model.zfs.map.kinds import STRIPE
from .case import Case, Change, Form
from .measured import Measurements

_SMALL_ASHIFT = 9


def _degraded(case: Case, measured: Measurements) -> Iterator[Form]:
    pool = case.pool
    if pool is None or pool.failed:
        return
    redundant = [vdev for vdev in pool.vdevs if vdev.use == "data" and vdev.kind != STRIPE]
    if redundant:
        member = redundant[-1].members[-1]
        yield Form(Change({f"pools.{case.target.partition('/')[0]}.failed": [member]}, {}), member)


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
        yield Form(Change({f"pools.{case.target.partition('/')[0]}.ashift": _SMALL_ASHIFT}, {}))


POOL_FORMS: dict[str, Callable[[Case, Measurements], Iterator[Form]]] = {
    "degraded pool": _degraded,
    "always synchronous": _always_sync,
    "data not cached": _nothing_cached,
    "small sectors of a pool": _small_sectors,
}
"""By name in the catalogue."""
