"""How the ARC divides its size: metadata against data, and recently against frequently used blocks of each.

A hit in a ghost list says that its list was too small, and shifts the shares in proportion to the bytes. Source:
module/zfs/arc.c (arc_evict_adj, arc_evict); shares are fixed-point numbers of 32 bits.
"""

from __future__ import annotations

from typing import Final

from .buffers import GHOST, MFU, MRU, BufferList

ONE: Final = 1 << 32
METADATA_BALANCE: Final = 500
"""Weight of ghost hits of metadata over those of data (percent, zfs_arc_meta_balance)."""


class Balance:
    """The shares.

    Attributes
    ----------
    metadata
        Share of metadata.
    recent_data, recent_metadata
        Share of recently used blocks in data, and in metadata.
    """

    __slots__ = ("_ghosts", "metadata", "recent_data", "recent_metadata")

    def __init__(self) -> None:
        self.metadata: int = ONE // 4
        self.recent_data: int = ONE // 2
        self.recent_metadata: int = ONE // 2
        self._ghosts: list[int] = [0, 0, 0, 0]

    def adapt(self, lists: list[BufferList]) -> None:
        """Shift the shares by what was found in the ghost lists since the last call."""
        hits: list[int] = [lists[GHOST + place].take_hits() for place in range(GHOST)]
        sizes = self._ghosts
        self.metadata = shifted(
            self.metadata, sum(sizes), hits[MRU + 1] + hits[MFU + 1], hits[MRU] + hits[MFU], METADATA_BALANCE
        )
        self.recent_data = shifted(self.recent_data, sizes[MRU] + sizes[MFU], hits[MRU], hits[MFU], 100)
        self.recent_metadata = shifted(
            self.recent_metadata, sizes[MRU + 1] + sizes[MFU + 1], hits[MRU + 1], hits[MFU + 1], 100
        )
        held = [lists[place].size for place in range(GHOST)]
        self._ghosts = [(sum(held) - held[place]) // 2 for place in range(GHOST)]


def shifted(share: int, total: int, up: int, down: int, balance: int) -> int:
    """A share after ghost hits of `up` bytes on its side and `down` on the other, of ghost lists of `total` bytes."""
    if total < 8 or up + down == 0:
        return share
    if up + down >= total // 4:
        scale = (up + down) // (total // 8)
        up //= scale
        down //= scale
    shift = min(64 - total.bit_length(), 32)
    other = ONE - share
    if share >= 4 * other:
        up //= share // (2 * other + 1)
    up = (up << shift) // (total >> (32 - shift))
    if other >= 4 * share:
        down //= other // (2 * share + 1)
    down = (down << shift) // (total >> (32 - shift))
    return share + up - down * 100 // balance
