"""In which order the stripe heads of an I/O are taken.

An I/O that begins in the middle of a chunk and goes on in the next member of the row touches the lower blocks of the
row in the second chunk. Since Linux 6.0 md takes those first, so that the members get ascending blocks. Source:
drivers/md/raid5.c, raid5_bio_lowest_chunk_sector and raid5_make_request.
"""

from __future__ import annotations

from ...layouts.parity import ParityLayout
from ..parity_until_4_0.row_locks import Piece


def from_lowest(layout: ParityLayout, pieces: list[Piece]) -> list[Piece]:
    """Pieces (row, data index, low, high) that follow each other, in the order in which their heads are taken.

    md asks whether a member with a higher number, apart from parity, follows the one that the I/O begins on.
    """
    row, index, low, _ = pieces[0]
    if len(pieces) == 1 or not low:
        return pieces
    members = layout.row(row)
    after = members.data[index] + 1
    while after in (members.p, members.q):
        after += 1
    return pieces if after >= layout.members else [*pieces[1:], pieces[0]]
