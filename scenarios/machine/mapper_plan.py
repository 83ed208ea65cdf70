"""What the device mapper makes of other devices, as frozen data: partitions, logical volumes and SSD caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...model.layouts import Layout
from ..description.any_workload import LoadsSpec
from ..description.caches import CacheSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import LoadSpec

if TYPE_CHECKING:
    from ...model.cache.settings import BcacheSettings, DmCacheSettings, WritecacheSettings

    AnySettings = BcacheSettings | DmCacheSettings | WritecacheSettings


@dataclass(frozen=True, slots=True)
class SlicesPlan:
    """A partition or a logical volume.

    Attributes
    ----------
    name
        Its name.
    slices
        Of each device below: its name, and the first byte and the size of the range.
    layout
        Map of a logical volume over its ranges; None: a partition, whose I/O only gets another offset.
    max_request
        Bytes of the largest request that a logical volume passes on; 0: not limited.
    """

    name: str
    slices: tuple[tuple[str, int, int], ...]
    layout: Layout | None
    max_request: int = 0


@dataclass(frozen=True, slots=True)
class SsdCachePlan:
    """An SSD cache.

    Attributes
    ----------
    name
        Its name.
    on, cache, metadata
        The devices: slow, fast, and that of the metadata if dm-cache has one.
    settings
        How the driver is set up.
    cache_bytes
        How much of the fast device holds data.
    warm_for
        The loads whose blocks are in it at the start.
    full
        Whether it is full of blocks that are still to be written back.
    """

    name: str
    on: str
    cache: str
    metadata: str | None
    settings: AnySettings
    cache_bytes: int
    warm_for: tuple[LoadSpec, ...] = ()
    full: bool = False


def ssd_cache_plan(scenario: ScenarioSpec, name: str) -> SsdCachePlan:
    """The plan of a cache."""
    spec = scenario.caches[name]
    capacity = scenario.capacity(spec.cache)
    warm_for = tuple(_loads_on(scenario, name)) if spec.started == "warm" else ()
    full = spec.started == "full"
    size = spec.data_bytes(capacity)
    return SsdCachePlan(name, spec.on, spec.cache, spec.metadata, _settings(spec, capacity), size, warm_for, full)


def _settings(spec: CacheSpec, capacity: int) -> AnySettings:
    from ...model.cache.settings import BcacheSettings, DmCacheSettings, WritecacheSettings

    block: Any = spec.block_bytes(capacity)
    mode: Any = spec.written
    if spec.kind == "dm-cache":
        return DmCacheSettings(block, mode, spec.migration_threshold)
    if spec.kind == "bcache":
        percent, delay_s = spec.writeback_percent, spec.writeback_delay
        return BcacheSettings(block, spec.bucket_size, mode, spec.sequential_cutoff, percent, delay_s)
    return WritecacheSettings(
        block,
        spec.high_watermark / 100,
        spec.low_watermark / 100,
        spec.autocommit_blocks,
        spec.autocommit_time,
        spec.pause_writeback,
    )


def _loads_on(scenario: ScenarioSpec, name: str) -> Iterator[LoadSpec]:
    """The loads of random I/Os on a cache, or on what is encrypted on it, whose places are those of the cache."""
    workload = scenario.workload
    loads = workload.loads if isinstance(workload, LoadsSpec) else (workload,) if isinstance(workload, LoadSpec) else ()
    here = {name, *(other for other, layer in scenario.encrypted.items() if layer.on == name)}
    for load in loads:
        if load.pattern != "sequential" and here.intersection(load.targets):
            yield load
