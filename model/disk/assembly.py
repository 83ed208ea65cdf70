"""The head, platters and buffer that a drive's description asks for."""

from __future__ import annotations

from ..core.engine import Engine
from .mechanics.geometry import SECTOR
from .media import Media
from .media_cache import CachingMedia
from .media_log import LogSettings
from .shingled import ShingledMedia
from .spec import DriveSpec, mechanics


def caches_writes(spec: DriveSpec) -> bool:
    """Whether a write is complete once it is in the buffer."""
    return spec.write_cache and spec.write_buffer > 0


def media_of(spec: DriveSpec, engine: Engine, name: str) -> Media:
    """Head, platters and buffer of the drive that is called `name`, which also names its random streams."""
    geometry, seeks = mechanics(spec)
    caches = caches_writes(spec)
    kind: type[Media] = Media
    if spec.media_cache:
        kind = ShingledMedia if spec.band_size else CachingMedia
    media = kind(
        geometry,
        seeks,
        float(engine.streams.generator(f"{name}/platters").random()),
        segments=spec.segments,
        segment_bytes=spec.segment_size,
        look_ahead_bytes=spec.look_ahead,
        first_ahead_bytes=spec.look_ahead_first,
        write_buffer_bytes=spec.write_buffer if caches else 0,
        write_extents=spec.write_extents if caches else 0,
        destage_batch_bytes=spec.destage_batch,
        low_water_bytes=spec.low_water,
        look_ahead_returns=spec.look_ahead_returns,
        look_ahead_until=spec.look_ahead_until,
        wraps=spec.segment_wraps,
        writes_clear=spec.writes_clear,
        keeps_sent=spec.keeps_sent,
        keeps_written=spec.keeps_written,
        keeps_before=spec.keeps_before,
        minimum_prefetch_bytes=spec.minimum_prefetch,
        reads_at_once=spec.reads_at_once,
        head_switch_s=spec.head_switch if spec.head_switch_seeks else 0.0,
    )
    if isinstance(media, CachingMedia):
        media.open_log(_log_settings(spec), engine.streams.generator(f"{name}/media cache"))
    media.partial_mask = spec.physical_sector - 1 if spec.physical_sector > SECTOR else 0
    return media


def _log_settings(spec: DriveSpec) -> LogSettings:
    return LogSettings(
        size=spec.media_cache,
        regions=spec.media_cache_regions,
        entries=spec.media_cache_entries,
        largest=spec.media_cache_largest,
        batch=spec.media_cache_batch,
        record_s=spec.write_overhead,
        idle_s=spec.media_cache_idle,
        filled=spec.media_cache_filled,
        band=spec.band_size,
        open_bands=spec.open_bands,
    )
