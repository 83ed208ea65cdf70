"""A pool of ZFS as frozen data, and the parts below it; each of its volumes and files is a device of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..description.pools import DatasetSpec, PoolSpec
from ..description.scenario import ScenarioSpec

if TYPE_CHECKING:
    from ...model.zfs.intent_log.records import LogRules
    from ...model.zfs.map.pool import PoolMap
    from ...model.zfs.pool.settings import DatasetSettings, PoolSettings
    from ...model.zfs.scan.settings import ScanAction, ScanSettings, TrimSettings


VOLUME_REQUEST = 1 << 20
"""Bytes of the largest request to a volume (zvol_os.c)."""


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """A pool.

    Attributes
    ----------
    name
        The pool.
    pool
        Where its blocks lie.
    leaves, rotating
        Its members in the order of the map, and which of them are hard disks.
    lost
        Numbers of the members that have failed.
    settings
        Module parameters and memory.
    datasets
        Its volumes and files.
    rebuilding
        Those of the lost members that take writes.
    scan
        What goes over its blocks; None: nothing.
    caches
        Its cache devices.
    autotrim
        When freed space is trimmed; None: never.
    """

    name: str
    pool: PoolMap
    leaves: tuple[str, ...]
    rotating: tuple[bool, ...]
    lost: frozenset[int]
    settings: PoolSettings
    datasets: tuple[DatasetSettings, ...]
    rebuilding: frozenset[int] = frozenset()
    scan: ScanPlan | None = None
    caches: tuple[str, ...] = ()
    autotrim: TrimSettings | None = None


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """What goes over the blocks of a pool: what it does, the share that is done, and module parameters."""

    action: ScanAction
    done: float
    settings: ScanSettings


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """A volume or file: its name as a device, and its pool."""

    name: str
    pool: str


def pool_of(scenario: ScenarioSpec, device: str) -> str:
    """The pool that a volume or file is on; a pool itself, too."""
    if device in scenario.pools:
        return device
    return next(
        name for name, pool in scenario.pools.items() if device in (f"{name}/{dataset}" for dataset in pool.datasets)
    )


def pool_parts(
    scenario: ScenarioSpec,
    device: str,
    made: set[str],
    below: Callable[[str], Iterator[Any]],
    rotates: Callable[[str], bool],
) -> Iterator[Any]:
    """The parts of a volume or file: its pool with the members, unless that is there already, and the device itself.

    Of a pool: the pool alone.

    Parameters
    ----------
    scenario, device
        The description, and the name of the volume, file or pool.
    made
        Names of the parts that are planned already.
    below, rotates
        The parts of a member that are not there yet, and whether it is a hard disk.
    """
    name = pool_of(scenario, device)
    if device == name or name not in made:
        made.add(name)
        pool = scenario.pools[name]
        leaves, caches = pool.leaves(), pool.caches
        for member in (*leaves, *caches):
            yield from below(member)
        yield PoolPlan(
            name,
            pool.map(),
            leaves,
            tuple(rotates(member) for member in leaves),
            frozenset(number for number, member in enumerate(leaves) if member in pool.failed),
            pool_settings(scenario, pool),
            tuple(
                dataset_settings(
                    f"{name}/{each}",
                    scenario.capacity(f"{name}/{each}"),
                    spec,
                    scenario.zfs_parameters.log_rules(pool, spec),
                )
                for each, spec in pool.datasets.items()
            ),
            frozenset(number for number, member in enumerate(leaves) if member in pool.rebuilding),
            _scan(scenario, pool),
            caches,
            _trims(scenario) if pool.autotrim else None,
        )
    if device != name:
        yield DatasetPlan(device, name)


def _scan(scenario: ScenarioSpec, pool: PoolSpec) -> ScanPlan | None:
    from ...model.zfs.scan.settings import ScanSettings

    action, given = pool.action, scenario.zfs_parameters
    if action is None:
        return None
    settings = ScanSettings(
        given.zfs_scan_vdev_limit,
        given.zfs_scrub_min_time_ms / 1000,
        given.zfs_resilver_min_time_ms / 1000,
        given.zfs_scan_mem_lim_fact,
        given.zfs_rebuild_max_segment,
        given.zfs_rebuild_vdev_limit,
        _trims(scenario),
    )
    return ScanPlan(action, pool.scan.done if pool.scan is not None else 0.0, settings)


def _trims(scenario: ScenarioSpec) -> TrimSettings:
    from ...model.zfs.scan.settings import TrimSettings

    given = scenario.zfs_parameters
    return TrimSettings(
        given.zfs_trim_extent_bytes_min,
        given.zfs_trim_extent_bytes_max,
        given.zfs_trim_queue_limit,
        given.zfs_trim_txg_batch,
    )


def dataset_settings(name: str, size: int, spec: DatasetSpec, rules: LogRules) -> DatasetSettings:
    """A volume or file as the model takes it."""
    from ...model.zfs.pool.settings import DatasetSettings

    return DatasetSettings(
        name,
        size,
        spec.block_bytes,
        spec.stored_bytes,
        spec.sync,
        spec.primarycache,
        spec.special_small_blocks,
        rules,
        spec.checksum,
        spec.compressor if spec.compression > 1.0 else None,
        spec.secondarycache,
    )


def pool_settings(scenario: ScenarioSpec, pool: PoolSpec) -> PoolSettings:
    """Module parameters, and the memory that they depend on."""
    from ...model.zfs.arc.settings import FeedSettings, PrefetchSettings
    from ...model.zfs.pool.settings import DirtySettings, PoolSettings, QueueSettings

    given = scenario.zfs_parameters.model_dump()
    queue = {field.name: given[f"zfs_vdev_{field.name}"] for field in fields(QueueSettings)}
    dirty = {field.name: given[field.name] for field in fields(DirtySettings)}
    return PoolSettings(
        arc_max=given["zfs_arc_max"],
        memory=scenario.machine.memory,
        fragmentation=pool.fragmentation,
        used=pool.used,
        warm=pool.arc == "warm",
        vectors=scenario.machine.cpu.vectors,
        autotrim=pool.autotrim,
        queue=QueueSettings(**queue),
        dirty=DirtySettings(**dirty),
        prefetch=PrefetchSettings(
            min_distance=given["zfetch_min_distance"],
            max_distance=given["zfetch_max_distance"],
            disabled=given["zfs_prefetch_disable"],
        ),
        feed=FeedSettings(
            given["l2arc_write_max"],
            given["l2arc_write_boost"],
            given["l2arc_headroom"],
            given["l2arc_headroom_boost"],
            float(given["l2arc_feed_secs"]),
            given["l2arc_feed_min_ms"] / 1000,
        ),
    )
