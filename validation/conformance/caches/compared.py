"""What is compared of a cache, and how far it may be off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....model.cache.dm_cache.target import DmCache

REQUESTS = 0.05
FEW = 3
"""How far numbers of requests and promotions may be off besides, and I/Os may be hits or not."""
POINTS = 0.03


def counters(status: str) -> list[int]:
    """Read hits, read misses, write hits, write misses and promotions of a line of dm-cache's status; else none."""
    words = status.split()
    if len(words) < 13 or words[2] != "cache":
        return []
    return [int(word) for word in (*words[7:11], words[12])]


def counted(device: Any) -> list[int]:
    """The same of the model; promotions of dm-cache only."""
    counts = [device.read_hits, device.read_misses, device.write_hits, device.write_misses]
    return [*counts, device.promotions] if isinstance(device, DmCache) else counts


def accesses(recorded: Sequence[int], ours: Sequence[int]) -> Iterator[str]:
    """Where hits or promotions differ."""
    for what, hits, misses in (("reads", 0, 1), ("writes", 2, 3)):
        there, here = recorded[hits] + recorded[misses], ours[hits] + ours[misses]
        if not there or not here:
            continue
        share, found = recorded[hits] / there, ours[hits] / here
        if abs(share - found) > max(POINTS, FEW / there):
            yield f"hits of {what}: {share:.1%} recorded, {found:.1%} from the model"
    if abs(recorded[4] - ours[4]) > max(FEW, REQUESTS * recorded[4]):
        yield f"promotions: {recorded[4]} recorded, {ours[4]} from the model"


def off(what: str, recorded: float, model: float, allowed: float, unit: str) -> str:
    """A figure that is off by more than a share; "" if it is not."""
    if abs(model - recorded) <= allowed * recorded:
        return ""
    return f"{what}: {recorded:,.0f}{unit} recorded, {model:,.0f} from the model ({model / recorded - 1:+.0%})"
