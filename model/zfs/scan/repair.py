"""A block that a scan reads, and whose missing columns it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mypy_extensions import i64

from ...core.request import READ, WRITE
from ..allocation.allocator import Place
from ..map.mirror import Mirror
from ..map.vdev import Piece
from ..pool.member_io import ASYNC_WRITE, REBUILD, SCRUB
from ..pool.members import Members
from .cpu import ScanCpu


class Repair:
    """Reads a block's columns, verifies it, and writes what new members lack.

    A scrub reads all columns, of a mirror all sides. A resilver reads all other columns, of a mirror one side, and
    writes those of the new members (vdev_raidz_io_done, vdev_mirror_io_done).

    Parameters
    ----------
    members
        Of the pool.
    place
        The block.
    written
        Columns that are to be written; none of a scrub.
    issuer
        Whose I/O it is.
    cpu
        Who computes its checksum; None: nobody does.
    done
        Called when all is done.
    sequential
        If true, all I/O is in the class of a sequential rebuild.
    """

    __slots__ = ("_cpu", "_done", "_issuer", "_members", "_place", "_sequential", "_written")

    def __init__(
        self,
        members: Members,
        place: Place,
        written: Sequence[Piece],
        issuer: i64,
        cpu: ScanCpu | None,
        done: Callable[[], None],
        sequential: bool = False,
    ) -> None:
        self._members = members
        self._place = place
        self._written = written
        self._issuer = issuer
        self._cpu = cpu
        self._done = done
        self._sequential = sequential

    def read(self) -> None:
        """Begin."""
        members, place = self._members, self._place
        priority = REBUILD if self._sequential else SCRUB
        if self._written and isinstance(members.pool.vdevs[place.vdev], Mirror):
            members.read(place, priority, self._issuer, self._read)
        else:
            pieces = members.pool.scrubs(place.vdev, place.offset, place.psize, members.lost)
            members.transfer(READ, pieces, priority, self._issuer, self._read)

    def _read(self) -> None:
        if self._cpu is None:
            self._write()
        else:
            self._cpu.verify(self._place.psize, self._write)

    def _write(self) -> None:
        if not self._written:
            self._done()
            return
        priority = REBUILD if self._sequential else ASYNC_WRITE
        self._members.transfer(WRITE, self._written, priority, self._issuer, self._done)


def lacking(members: Members, place: Place, new: frozenset[int]) -> list[Piece]:
    """Columns of a block that are on new members, where a rebuild writes them."""
    pool = members.pool
    vdev, first = pool.vdevs[place.vdev], pool.first[place.vdev]
    found = []
    for piece in vdev.columns(place.offset, place.psize):
        if piece.member + first in new:
            where = vdev.stand_in(piece, place.offset)
            found.append(Piece(where.member + first, where.sector, where.sectors, where.kind))
    return found
