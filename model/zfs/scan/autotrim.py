"""Autotrim: freed space is trimmed a while later, metaslab by metaslab (`autotrim=on`).

Each vdev has a thread. A metaslab's turn comes once in zfs_trim_txg_batch transaction groups, so that freed ranges
grow together, and some are used again before. While a metaslab is trimmed it gives no space; that ends five groups
later. Ranges that are too small then are forgotten. Source: OpenZFS 2.3 module/zfs/vdev_trim.c (vdev_autotrim_thread,
vdev_trim_ranges), metaslab.c (metaslab_sync_done).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from mypy_extensions import i64

from ..allocation.metaslabs import Metaslabs
from ..map.vdev import Piece
from ..pool.members import Members
from ..pool.transaction_groups import TransactionGroups
from .settings import TrimSettings
from .trim import MemberTrim, divided, takes_trims

GROUPS_KEPT: Final = 5
"""Transaction groups that a trimmed metaslab gives no space in (TXG_CONCURRENT_STATES + TXG_DEFER_SIZE)."""


class AutoTrim:
    """The thread of one vdev.

    Parameters
    ----------
    members, groups
        Of the pool.
    metaslabs, vdev
        Of the vdev, and its number.
    settings
        Module parameters.
    issuer
        Of its I/O.

    Attributes
    ----------
    trimmed_bytes
        What it has trimmed on all members.
    """

    __slots__ = ("_groups", "_issuer", "_members", "_metaslabs", "_settings", "_vdev", "trimmed_bytes")

    def __init__(
        self,
        members: Members,
        groups: TransactionGroups,
        metaslabs: Metaslabs,
        vdev: int,
        settings: TrimSettings,
        issuer: i64,
    ) -> None:
        self._members = members
        self._groups = groups
        self._metaslabs = metaslabs
        self._vdev = vdev
        self._settings = settings
        self._issuer = issuer
        self.trimmed_bytes = 0

    def run(self) -> Generator[Any, Any, None]:
        """Trim for ever."""
        batch, metaslabs = self._settings.txg_batch, self._metaslabs
        shift = 0
        while True:
            for number in range(shift % batch, metaslabs.count, batch):
                freed = metaslabs.take_freed(number)
                leaves = takes_trims(self._members, self._vdev) if freed else []
                if not leaves:
                    continue
                metaslabs.disabled = number
                for leaf in leaves:
                    trim = MemberTrim(
                        self._members, self._ranges(freed, leaf), self._settings, self._issuer, self._trimmed
                    )
                    trim.fill()
                    if not trim.over.fired:
                        yield trim.over
                for _ in range(GROUPS_KEPT):
                    yield self._groups.next_end()
                metaslabs.disabled = -1
            yield self._groups.next_end()
            shift += 1

    def _ranges(self, freed: list[tuple[int, int]], leaf: int) -> list[Piece]:
        """What of a member the freed ranges of a vdev cover, as far as it is trimmed."""
        pool = self._members.pool
        vdev, number = pool.vdevs[self._vdev], leaf - pool.first[self._vdev]
        return [
            each
            for first, last in freed
            for piece in vdev.trims(first, last)
            if piece.member == number
            for each in divided(Piece(leaf, piece.sector, piece.sectors, piece.kind), self._settings)
        ]

    def _trimmed(self, size: int) -> None:
        self.trimmed_bytes += size
