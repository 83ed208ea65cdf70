"""What an SSD cache did: its hits, what is not on the slow device yet, and what is lost if it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....model.files.quantities import format_duration, format_size
from ....scenarios.description.scenario import ScenarioSpec
from ....scenarios.running.base.prediction import CacheHits
from ...answer.numbers import PERCENT, counted
from ...answer.tree import Column, Row, Table

if TYPE_CHECKING:
    from ....scenarios.comparison.side_by_side import Measured

_LONG_S = 30 * 86_400.0
"""A cache that fills more slowly is as warm as it gets."""


def cache_line(cache: CacheHits) -> str:
    """The hits of a cache in a sentence."""
    shares = [f"{share:.1%} of the {what}" for what, share in _shares(cache).items() if share is not None]
    told = f"{cache.name}: {' and '.join(shares) or 'nothing'} found the block in the cache"
    if cache.dirty_bytes:
        told += f"; {format_size(cache.dirty_bytes)} are still to be written back"
    if cache.full_of_dirty_s is not None:
        after = format_duration(cache.full_of_dirty_s)
        told += f". They become more: after {after} writes are as fast as the slow device takes them"
    if cache.fills_s is not None and cache.held_bytes > cache.dirty_bytes and cache.fills_s < _LONG_S:
        after = format_duration(cache.fills_s)
        told += f". It is not warm: it holds {format_size(cache.held_bytes)}, and is full after {after} at this rate"
    return told


def cache_table(designs: Sequence[Measured]) -> Table:
    """Hits of each design's caches, and what is lost with one; no rows without."""
    from .design_table import design_table  # a single run needs none of what compares designs

    shares = (Column(f"{what}\nthat hit", show=PERCENT, scale=100.0) for what in ("reads", "writes"))
    dirty = (Column(name, show=str) for name in ("to be\nwritten back", "writes slow\ndown after"))
    columns = [*shares, *dirty, Column("what a failure of its drives loses")]
    return design_table("SSD caches", columns, cache_cells, designs if any(each.ssd_caches for each in designs) else ())


def cache_cells(each: Measured) -> Row:
    """Hits of a design's caches together, and what is lost with each."""
    if not each.ssd_caches:
        return "", "", "", "", "has no cache"
    assert each.design.spec is not None
    dirty = sum(cache.dirty_bytes for cache in each.ssd_caches)
    losses = dict.fromkeys(_loss(each.design.spec, name) for name in each.design.spec.caches)
    limits = [cache.full_of_dirty_s for cache in each.ssd_caches if cache.full_of_dirty_s is not None]
    kept = format_size(dirty) if dirty else "nothing"
    slows = format_duration(min(limits)) if limits else "never"
    return *_shares(*each.ssd_caches).values(), kept, slows, "; ".join(losses)


def _shares(*caches: CacheHits) -> dict[str, float | None]:
    """Share of reads and of writes that hit (0 to 1); None where there were none."""
    reads, writes = sum(each.reads for each in caches), sum(each.writes for each in caches)
    return {
        "reads": sum(each.read_hits for each in caches) / reads if reads else None,
        "writes": sum(each.write_hits for each in caches) / writes if writes else None,
    }


def _loss(spec: ScenarioSpec, name: str) -> str:
    """What is lost with the fast device."""
    from ....scenarios.comparison.redundancy import survives

    cached = spec.caches[name]
    if not cached.holds_data:
        return "nothing: the slow device has it all"
    fatal = survives(spec, cached.cache) + 1
    return f"all of {name}, after {counted(fatal, 'failure')}"
