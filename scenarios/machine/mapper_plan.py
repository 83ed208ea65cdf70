"""What the device mapper makes of other devices, as frozen data: partitions, logical volumes and SSD caches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ...model.layouts import Layout
from ..description.any_workload import LoadsSpec
from ..description.caches import CacheSpec, PastLoadSpec
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
    warmed_by
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
    warmed_by: tuple[PastLoadSpec, ...] = ()
    full: bool = False


def ssd_cache_plan(scenario: ScenarioSpec, name: str) -> SsdCachePlan:
    """The plan of a cache."""
    spec = scenario.caches[name]
    capacity = scenario.capacity(spec.cache)
    past = _past_loads(scenario, name) if spec.started == "warm" else ()
    full = spec.started == "full"
    size = spec.data_bytes(capacity)
    return SsdCachePlan(name, spec.on, spec.cache, spec.metadata, _settings(spec, capacity), size, past, full)


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


def _past_loads(scenario: ScenarioSpec, name: str) -> tuple[PastLoadSpec, ...]:
    """The loads of random I/Os on a cache, or on what is encrypted on it, whose places are those of the cache."""
    workload, given = scenario.workload, scenario.caches[name].warmed_by
    if given or not isinstance(workload, LoadSpec | LoadsSpec):
        return given
    here = {name, *(other for other, layer in scenario.encrypted.items() if layer.on == name)}
    loads = [
        (lasts_s, load)
        for _, lasts_s, part in workload.parts()
        for load in (part.loads if isinstance(part, LoadsSpec) else (part,))
        if load.pattern != "sequential" and here.intersection(load.targets)
    ]
    rates = [load.offered_iops for _, load in loads]
    return tuple(
        PastLoadSpec(
            locality=load.locality,
            block_size=min(map(min, load.sizes)),
            start=load.start,
            span=load.span,
            read_share=load.read_share,
            weight=lasts_s * (rate if rate is not None and None not in rates else 1.0),
        )
        for (lasts_s, load), rate in zip(loads, rates, strict=True)
    )


def with_workload(scenario: ScenarioSpec, workload: BaseModel) -> ScenarioSpec:
    """The scenario with another workload, on caches that its own has warmed."""
    return scenario.model_copy(update={"workload": workload, "caches": after_a_day(scenario)})


def cold_notes(scenario: ScenarioSpec) -> list[str]:
    """A sentence for each cache that would be warm if the scenario said what has warmed it."""
    return [
        f"{name} begins cold: the scenario has no random load on it; caches.{name}.warmed_by says what has warmed it"
        for name, spec in scenario.caches.items()
        if spec.started == "warm" and not _past_loads(scenario, name)
    ]


def after_a_day(scenario: ScenarioSpec) -> dict[str, CacheSpec]:
    """The caches as all phases of a day leave those that are warm."""
    return {
        name: spec.model_copy(update={"warmed_by": _past_loads(scenario, name)}) if spec.started == "warm" else spec
        for name, spec in scenario.caches.items()
    }
