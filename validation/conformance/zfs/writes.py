"""Recorded writes of blocks: the columns and the padding of each block that a phase writes."""

from __future__ import annotations

from collections.abc import Sequence

from ....model.zfs.map.vdev import Piece, joined
from .operations import Operation, touched
from .pieces import Owned, PieceIndex
from .recording import Block, Recording, Request

_PAGES = 255 * 8
"""Sectors of the most pages of a request, if no two are adjacent in memory."""


def write_differences(
    recording: Recording, requests: Sequence[Request], done: Operation, blocks: list[Block], lost: frozenset[int]
) -> tuple[list[str], int]:
    """What is different in the writes of blocks, and how many requests were compared.

    A block none of whose sectors is written has moved since: its place was recorded later.

    Parameters
    ----------
    recording
        The pool.
    requests
        What the members got.
    done
        What was written.
    blocks
        The file's blocks.
    lost
        Members that are lost.
    """
    asked = touched(done.calls, blocks[0].lsize) if blocks else set()
    places = {
        number: joined(recording.pool.writes(block.vdev, block.dva, block.psize, lost))
        for number, block in enumerate(blocks)
        if block.offset in asked
    }
    index = PieceIndex(Owned(Piece(*place, ""), number) for number, found in places.items() for place in found)
    left = {number: set(found) for number, found in places.items()}
    met: set[int] = set()
    for request in _whole(requests):
        met.update(owned.block for owned in index.within(*request))
        for owned in index.exactly(*request, gap=0):
            left[owned.block].discard(owned.piece[:3])
    found = [
        f"block at {blocks[number].offset}: {sector} + {sectors} of member {member} not written"
        for number in sorted(met)
        for member, sector, sectors in sorted(left[number])
    ]
    return found, sum(len(places[number]) for number in met)


def _whole(requests: Sequence[Request]) -> list[tuple[int, int, int]]:
    """(member, sector, sectors) of the writes; one that the block layer split where its pages end is one again."""
    found: list[tuple[int, int, int]] = []
    latest: dict[int, int] = {}
    for each in requests:
        if "W" not in each.rwbs:
            continue
        before = latest.get(each.member)
        if before is not None:
            _, start, length = found[before]
            if start + length == each.sector and length % _PAGES == 0:
                found[before] = (each.member, start, length + each.sectors)
                continue
        latest[each.member] = len(found)
        found.append((each.member, each.sector, each.sectors))
    return found
