"""Recorded scrubs: every column of every known block is read, parity too, in the order of the members' sectors."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from .recording import Block, Phase, Recording

_ASCENDING = 0.98
"""Share of a member's consecutive reads that must ascend."""
_LABEL_READS = 0


def scrub_differences(
    recording: Recording, phase: Phase, blocks: Iterable[Block], lost: frozenset[int]
) -> tuple[list[str], int]:
    """What is different in the reads of a scrub, and how many columns were compared."""
    got: dict[int, list[tuple[int, int]]] = {}
    for request in phase.requests:
        if request.rwbs.startswith("R") and request.sector >= _LABEL_READS:
            got.setdefault(request.member, []).append((request.sector, request.sector + request.sectors))
    covered = {member: _union(ranges) for member, ranges in got.items()}
    found, compared = [], 0
    for block in blocks:
        for piece in recording.pool.scrubs(block.vdev, block.dva, block.psize, lost):
            compared += 1
            end = piece.sector + piece.sectors
            if not any(start <= piece.sector and end <= last for start, last in covered.get(piece.member, [])):
                found.append(f"member {piece.member}: {piece.sector} + {piece.sectors} ({piece.kind}) not read")
    pairs = [after[0] > before[0] for ranges in got.values() for before, after in pairwise(ranges)]
    if pairs and sum(pairs) < _ASCENDING * len(pairs):
        found.append(f"{sum(pairs)} of {len(pairs)} reads ascend")
    return found, compared


def _union(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
