"""Recorded scrubs and replacements: every column of every known block is read, parity too; a new member gets its own.

A scrub reads in the order of the members' sectors. When a member is replaced, the columns of all others are read (of a
mirror, of one side), and only the columns of the replaced one are written to the new member.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise

from ....model.zfs.map.mirror import Mirror
from ....model.zfs.map.vdev import DATA, Piece
from .recording import Block, Phase, Recording, Request

_ASCENDING = 0.98
"""Share of a member's consecutive reads that must ascend."""
_MOVED = 10
"""One block in this number may not be read at all: it has moved since its place was recorded."""

_RECORD = 128 << 10
"""Bytes of the records that are overwritten while a member is away."""
_LEAST_COLUMN = 64
"""Sectors of a column that is not taken for metadata."""

_Ranges = Mapping[int, list[tuple[int, int]]]
"""First sector and end of the requests of each member."""


def scrub_differences(
    recording: Recording, phase: Phase, blocks: Iterable[Block], lost: frozenset[int]
) -> tuple[list[str], int]:
    """What is different in the reads of a scrub, and how many columns were compared."""
    reads = _requests(phase, "R")
    found, compared = _differences(
        blocks, lambda block: recording.pool.scrubs(block.vdev, block.dva, block.psize, lost), _united(reads)
    )
    pairs = [after[0] > before[0] for ranges in reads.values() for before, after in pairwise(ranges)]
    if pairs and sum(pairs) < _ASCENDING * len(pairs):
        found.append(f"{sum(pairs)} of {len(pairs)} reads ascend")
    return found, compared


def replace_differences(recording: Recording, phase: Phase, blocks: list[Block]) -> tuple[list[str], int]:
    """What is different in the requests of a replacement, and how many columns were compared.

    The recording does not say which member was replaced: it is the one that explains the requests best. The new
    member has the highest number.
    """
    reads, writes = _united(_requests(phase, "R")), _united(_requests(phase, "W"))
    pool = recording.pool
    new = max(writes, default=0)
    if new < pool.members:
        return [], 0
    got = {**reads, new: writes[new]}

    def pieces(old: int, block: Block) -> list[Piece]:
        columns = pool.scrubs(block.vdev, block.dva, block.psize)
        written = [piece._replace(member=new) for piece in columns if piece.member == old]
        read = [piece for piece in columns if piece.member != old]
        if isinstance(pool.vdevs[block.vdev], Mirror):
            read = [piece for piece in read if _covers(got.get(piece.member, []), piece)][:1] or read[:1]
        return read + written if written else []

    found = [_differences(blocks, partial(pieces, old), got) for old in range(pool.members)]
    return max(found, key=lambda each: each[1] - len(each[0]))


def return_differences(
    recording: Recording, written: list[Request], resilver: list[Request], lost: frozenset[int]
) -> tuple[list[str], int]:
    """What is different after a member was away, and how many columns were compared.

    Columns of blocks that were written meanwhile are read, and hardly anything else of their size. Small columns may be
    metadata, which move with each transaction group.
    """
    columns = [piece for vdev in recording.pool.vdevs for piece in vdev.columns(0, _RECORD)]
    sizes = {piece.sectors for piece in columns if piece.sectors >= _LEAST_COLUMN}
    mirrored = isinstance(recording.pool.vdevs[0], Mirror)
    reads, before = _requests_of(resilver, "R"), _united(_requests_of(written, "W"))
    found: list[str] = []
    compared = 0
    # A side of a mirror is read in place of another one.
    anywhere = _union([each for member, ranges in reads.items() if member not in lost for each in ranges])
    for each in written:
        if not each.rwbs.startswith("W") or each.sectors not in sizes or each.sector < 0 or each.member in lost:
            continue
        compared += 1
        piece = Piece(each.member, each.sector, each.sectors, DATA)
        if not _covers(anywhere if mirrored else _union(reads.get(each.member, [])), piece):
            found.append(f"member {each.member}: {each.sector} + {each.sectors} is not read")
    strange: list[str] = []
    total = 0
    for member, ranges in reads.items():
        for start, end in ranges:
            if member not in lost and end - start in sizes and start >= 0:
                total += 1
                # A read may join columns over what lies between them.
                if not any(first < end and start < last for first, last in before.get(member, [])):
                    strange.append(f"member {member}: {start} + {end - start} was not written meanwhile")
    # Some are older blocks that point to others.
    if len(strange) * _MOVED > total:
        found += strange
    return found, compared


def _differences(
    blocks: Iterable[Block], pieces_of: Callable[[Block], list[Piece]], got: _Ranges
) -> tuple[list[str], int]:
    """Pieces that no request covers, and how many were compared."""
    found: list[str] = []
    compared = met = moved = 0
    for block in blocks:
        pieces = pieces_of(block)
        missing = [piece for piece in pieces if not _covers(got.get(piece.member, []), piece)]
        if missing and len(missing) == len(pieces):
            moved += 1
            continue
        met += 1
        compared += len(pieces)
        found += [f"member {each.member}: {each.sector} + {each.sectors} ({each.kind}) is missing" for each in missing]
    if moved * _MOVED > met + moved:
        compared += moved
        found += [f"{moved} of {met + moved} blocks are missing"] * moved
    return found, compared


def _requests(phase: Phase, direction: str) -> dict[int, list[tuple[int, int]]]:
    return _requests_of(phase.requests, direction)


def _requests_of(requests: Iterable[Request], direction: str) -> dict[int, list[tuple[int, int]]]:
    got: dict[int, list[tuple[int, int]]] = {}
    for request in requests:
        if request.rwbs.startswith(direction):
            got.setdefault(request.member, []).append((request.sector, request.sector + request.sectors))
    return got


def _united(got: _Ranges) -> dict[int, list[tuple[int, int]]]:
    return {member: _union(ranges) for member, ranges in got.items()}


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
