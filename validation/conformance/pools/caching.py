"""The ARC: how often reads find their block, phase by phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from ....model.core.request import READ
from ....model.zfs.pool.settings import DatasetSettings, PoolSettings
from ..base import KindResult, Progress
from .laboratory import Laboratory, Member, caches_created, pool_created

POINTS = 0.03
_FILES = {"r16/a": ("r16_MiB", 16 << 10), "r128/a": ("r128_MiB", 128 << 10)}
_REST_S = 6.0
_OTHER_METADATA = 1 << 45
"""Key of the metadata that the recorded ARC holds besides that of the files."""


def check_caching(file: str, content: Mapping[str, Any], result: KindResult, progress: Progress) -> None:
    """Compare the share of hits of each phase that reads."""
    datasets = [DatasetSettings(name, int(content[size]) << 20, block) for name, (size, block) in _FILES.items()]
    settings = PoolSettings(arc_max=_parameter(content, "zfs_arc_max"), memory=12 << 30)
    pool = pool_created(file, content["create"])
    caches = caches_created(content["create"])
    laboratory = Laboratory(pool, Member.recorded(content["member"]), datasets, settings, caches=caches)
    arc = laboratory.pool.arc
    arc.add(_OTHER_METADATA, int(content["phases"][0]["counters"]["metadata_size"]), True, 0.0)
    for phase in content["phases"]:
        words = phase["op"].split()
        if not words or words[0] not in ("rand", "read") or words[1] not in _FILES:
            laboratory.rest(_REST_S)
            continue
        progress(f"{file} {phase['phase']}")
        data = laboratory.pool.datasets[words[1]]
        hits = calls = 0
        level = None if laboratory.pool.caches is None else laboratory.pool.caches.level
        second = 0 if level is None else int(level.hits)
        for offset in _offsets(words, data.capacity):
            before = arc.misses
            laboratory.io(data, READ, offset, int(words[2]))
            hits += arc.misses == before
            calls += 1
        counters = phase["counters"]
        found, missed = counters["demand_data_hits"], counters["demand_data_misses"]
        recorded, model = found / max(1, found + missed), hits / max(1, calls)
        difference = f"recorded {recorded:.1%} hits; the model has {model:.1%}"
        result.record(file, phase["phase"], difference if abs(model - recorded) > POINTS else "")
        if level is None:
            continue
        # Of all reads, so that a phase with few misses is not compared by chance.
        recorded = counters.get("l2_hits", 0) / max(1, found + missed)
        model = (int(level.hits) - second) / max(1, calls)
        difference = f"recorded {recorded:.1%} hits of the cache devices; the model has {model:.1%}"
        result.record(file, f"{phase['phase']} cache", difference if abs(model - recorded) > POINTS else "")


def _offsets(words: list[str], size: int) -> Iterator[int]:
    """Offsets of the calls of an operation; random ones are others than the recorded program drew."""
    call, count = int(words[2]), int(words[3])
    if words[0] == "read":
        yield from (number * call for number in range(count))
        return
    numbers = [int(word) for word in words[4:] if word.isdigit()]
    drawn, span = Random(numbers[0]), numbers[1] << 20 if len(numbers) > 1 else size
    yield from (drawn.randrange(span // call) * call for _ in range(count))


def _parameter(content: Mapping[str, Any], name: str) -> int:
    found = next(each for each in content["parameters"] if each.replace(":", "=").startswith(f"{name}="))
    return int(found.replace(":", "=").partition("=")[2])
