"""Recorded scrubs: every column of every known block is read, parity too, in the order of the members' sectors."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise

from ....model.zfs.map.vdev import Piece
from .recording import Block, Phase, Recording

_ASCENDING = 0.98
"""Share of a member's consecutive reads that must ascend."""
_MOVED = 10
"""One block in this number may not be read at all: it has moved since its place was recorded."""


def scrub_differences(
    recording: Recording, phase: Phase, blocks: Iterable[Block], lost: frozenset[int]
) -> tuple[list[str], int]:
    """What is different in the reads of a scrub, and how many columns were compared."""
    got: dict[int, list[tuple[int, int]]] = {}
    for request in phase.requests:
        if request.rwbs.startswith("R"):
            got.setdefault(request.member, []).append((request.sector, request.sector + request.sectors))
    covered = {member: _union(ranges) for member, ranges in got.items()}
    found: list[str] = []
    compared = blocks_read = blocks_not_read = 0
    for block in blocks:
        pieces = recording.pool.scrubs(block.vdev, block.dva, block.psize, lost)
        missing = [piece for piece in pieces if not _covers(covered.get(piece.member, []), piece)]
        if len(missing) == len(pieces):
            blocks_not_read += 1
            continue
        blocks_read += 1
        compared += len(pieces)
        found += [f"member {each.member}: {each.sector} + {each.sectors} ({each.kind}) not read" for each in missing]
    if blocks_not_read * _MOVED > blocks_read + blocks_not_read:
        compared += blocks_not_read
        found += [f"{blocks_not_read} of {blocks_read + blocks_not_read} blocks not read"] * blocks_not_read
    pairs = [after[0] > before[0] for ranges in got.values() for before, after in pairwise(ranges)]
    if pairs and sum(pairs) < _ASCENDING * len(pairs):
        found.append(f"{sum(pairs)} of {len(pairs)} reads ascend")
    return found, compared


def _covers(ranges: list[tuple[int, int]], piece: Piece) -> bool:
    """Whether one of the disjoint, sorted ranges covers a piece."""
    place = bisect_right(ranges, (piece.sector, sys.maxsize)) - 1
    return place >= 0 and piece.sector + piece.sectors <= ranges[place][1]


def _union(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
