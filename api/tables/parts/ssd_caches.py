"""What an SSD cache did: its hits, what is not on the slow device yet, and what is lost if it fails."""

from __future__ import annotations

from ....model.files.quantities import format_size
from ....scenarios.comparison.redundancy import survives
from ....scenarios.comparison.side_by_side import Measured
from ....scenarios.description.scenario import ScenarioSpec
from ....scenarios.running.base.prediction import CacheHits
from ...answer.numbers import PERCENT, counted
from ...answer.tree import Column, Row


def cache_line(cache: CacheHits) -> str:
    """The hits of a cache in a sentence."""
    shares = [f"{share:.1%} of the {what}" for what, share in _shares(cache).items() if share is not None]
    dirty = f"; {format_size(cache.dirty_bytes)} are still to be written back" if cache.dirty_bytes else ""
    return f"{cache.name}: {' and '.join(shares) or 'nothing'} found the block in the cache{dirty}"


def cache_columns() -> list[Column]:
    """Columns of :func:`cache_cells`."""
    shares = (Column(f"{what}\nthat hit", show=PERCENT, scale=100.0) for what in ("reads", "writes"))
    return [*shares, Column("to be\nwritten back", show=str), Column("what a failure of its drives loses")]


def cache_cells(each: Measured) -> Row:
    """Hits of a design's caches together, and what is lost with each."""
    if not each.ssd_caches:
        return "", "", "", "has no cache"
    assert each.design.spec is not None
    dirty = sum(cache.dirty_bytes for cache in each.ssd_caches)
    losses = dict.fromkeys(_loss(each.design.spec, cache.name) for cache in each.ssd_caches)
    return *_shares(*each.ssd_caches).values(), format_size(dirty) if dirty else "nothing", "; ".join(losses)


def _shares(*caches: CacheHits) -> dict[str, float | None]:
    """Share of reads and of writes that hit (0 to 1); None where there were none."""
    reads, writes = sum(each.reads for each in caches), sum(each.writes for each in caches)
    return {
        "reads": sum(each.read_hits for each in caches) / reads if reads else None,
        "writes": sum(each.write_hits for each in caches) / writes if writes else None,
    }


def _loss(spec: ScenarioSpec, name: str) -> str:
    """What is lost with the fast device."""
    cached = spec.caches[name]
    if not cached.holds_data:
        return "nothing: the slow device has it all"
    fatal = survives(spec, cached.cache) + 1
    return f"all of {name}, after {counted(fatal, 'failure')}"
