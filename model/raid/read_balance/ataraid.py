"""Read balance of FreeBSD's ATA "pseudo RAID" (ataraid, /dev/ar0), FreeBSD 6.

It is software that runs the metadata of fakeraid controllers: nVidia MediaShield, Promise FastTrak, Silicon Image,
Intel, VIA and others all end up in this one function. RAID 0+1 is done by the same rule, chunk by chunk: each disk of
the stripe has a position and a mirror, and positions are compared in the array's addresses. But one flag for the whole
array says whose turn it is. When the readers of a stripe of two have lost their places, as after a jump of a file, the
turn passes twice for the first one, so that the second one takes the same disks: that can cost RAID 0+1 all that
RAID 1 gets out of two readers.

Source: sys/dev/ata/ata-raid.c of 2006, ata_raid_strategy; ata-raid.h, AR_PROXIMITY.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import ModelError
from ...core.request import Request
from .base import SECTOR, ReadBalance
from .options import BalanceOptions, Mirrors


class Turn:
    """Which side the last read of an array went to.

    Attributes
    ----------
    on_mirror
        Whether it was the mirror's.
    """

    __slots__ = ("on_mirror",)

    def __init__(self) -> None:
        self.on_mirror = False


class AtaRaid(ReadBalance):
    """The source if the read is near where it was last sent, else the mirror if it is near that, else the other one.

    "Near" is within 2,048 sectors either way of the end of the last request that was sent there, read or write. A
    sequential reader therefore stays on the disk it began on; a read at another address goes to the disk that was not
    used last. So two readers settle on one disk each, and three or more push each other about.

    Parameters
    ----------
    mirrors
        Number of slots: 2.
    proximity_bytes
        How far "near" is, in addresses of the array.
    columns
        Mirrors that the array is striped over, of which this is one; its addresses are smaller by this factor.
    turn
        Shared by all of them.
    """

    __slots__ = ("_turn", "proximity_bytes")
    name = "ataraid"
    only_raid1 = True
    only_mirrors = 2
    as_disk = True  # what is too large is cut before it: ata_raid_attach, d_maxsize; g_disk_start in geom_disk.c
    marks_clean = False

    def __init__(
        self, mirrors: int, proximity_bytes: int = 2048 * SECTOR, columns: int = 1, turn: Turn | None = None
    ) -> None:
        if mirrors != self.only_mirrors:
            raise ModelError(f"ataraid: {mirrors} mirrors; always {self.only_mirrors}")
        super().__init__(mirrors)
        self.proximity_bytes = proximity_bytes // columns
        self._turn = turn or Turn()

    @classmethod
    def for_members(cls, mirrors: Mirrors, options: BalanceOptions) -> AtaRaid:
        """All mirrors of a stripe share one turn."""
        turn = mirrors.shared.setdefault(cls.name, Turn())
        return cls(len(mirrors.names), columns=mirrors.columns, turn=turn)

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        turn = self._turn
        if len(candidates) == 1:
            turn.on_mirror = candidates[0] == 1
        elif self._near(0, request):
            turn.on_mirror = False
        elif self._near(1, request):
            turn.on_mirror = True
        else:
            turn.on_mirror = not turn.on_mirror
        return 1 if turn.on_mirror else 0

    def _near(self, slot: int, request: Request) -> bool:
        distance: int = request.offset - self.head[slot]
        return abs(distance) <= self.proximity_bytes

    def started(self, slot: int, request: Request) -> None:
        """The position is that of what was sent last."""
        super().started(slot, request)
        self.head[slot] = request.offset + request.size

    def ended(self, slot: int, end: int) -> None:
        """Completions do not move it."""
        self.pending[slot] -= 1
