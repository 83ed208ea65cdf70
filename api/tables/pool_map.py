"""Where a pool of ZFS puts blocks: a drawing of a vdev's members, and the requests of each block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

from ...model.core.errors import InputError
from ...model.files.quantities import format_size
from ...model.zfs.map.draid import Draid
from ...model.zfs.map.kinds import vdevs_for
from ...model.zfs.map.mirror import Mirror
from ...model.zfs.map.vdev import PARITY, SECTOR_BYTES, Piece, joined
from ...model.zfs.map.words import vdev_words
from ..answer.numbers import percent
from ..answer.tree import Answer, Column, Part, Row, Table, Words

MOST_BLOCKS = 26
_MOST_ROWS = 24
_PARITIES = "PQR"


class PoolMap:
    """Blocks that follow each other in the first data vdev of a pool.

    Parameters
    ----------
    words
        The vdevs in the words of `zpool create`; a number after a kind is a number of members ("raidz2 6").
    sizes
        Physical size of each block in bytes: after compression.
    ashift
        log2 of the allocation unit.
    offset
        Offset of the first block in the vdev.
    lost
        Numbers of members that are lost.

    Raises
    ------
    InputError
        If there is no such vdev, or a block cannot lie or be read there.
    """

    def __init__(self, words: str, sizes: Sequence[int], ashift: int, offset: int, lost: frozenset[int]) -> None:
        each = vdev_words(_with_members(words.split()))[0]
        self.kind, self.names = each.kind, each.members
        self.vdev = vdevs_for(each.kind, len(each.members), ashift)[0]
        self.lost = lost
        for member in lost:
            if not 0 <= member < self.vdev.members:
                raise InputError("--failed", f"found member {member}", f"expected: 0 to {self.vdev.members - 1}")
        if not 0 < len(sizes) <= MOST_BLOCKS:
            raise InputError("--record", f"found {len(sizes)} blocks", f"expected: 1 to {MOST_BLOCKS}")
        wrong = next((size for size in sizes if not 512 <= size <= 16 << 20), None)
        if wrong is not None:
            raise InputError("--record", f"found {format_size(wrong)}", "expected: 512B to 16MiB")
        # Blocks of dRAID begin with a row of their group.
        unit = self.vdev.asize(1) if isinstance(self.vdev, Draid) else self.vdev.unit_bytes
        if offset % unit:
            raise InputError("--offset", f"found {offset} bytes", f"expected: a multiple of {format_size(unit)}")
        self.blocks: list[tuple[int, int]] = []
        for size in sizes:
            self.blocks.append((offset, size))
            offset += self.vdev.asize(size)

    def cells(self) -> dict[tuple[int, int], str]:
        """What is in each (member, row): "A0" is unit 0 of block A, "AP", "AQ" and "AR" its parity, "A-" padding."""
        found: dict[tuple[int, int], str] = {}
        for number, (offset, size) in enumerate(self.blocks):
            name, parities = chr(ord("A") + number), cycle(_PARITIES[: self.vdev.parity])
            for piece in self.vdev.writes(offset, size):
                text = f"{name}{next(parities)}" if piece.kind == PARITY else f"{name}-"
                found.update(dict.fromkeys(self._places(piece), text))
            mirror = isinstance(self.vdev, Mirror)
            unit = 0
            for piece in self.vdev.scrubs(offset, size) if mirror else self.vdev.reads(offset, size):
                places = self._places(piece)
                start = 0 if mirror else unit
                found.update((place, f"{name}{start + row}") for row, place in enumerate(places))
                unit += len(places)
        return found

    def _places(self, piece: Piece) -> list[tuple[int, int]]:
        """(member, row) of the units of a piece."""
        first = piece.sector // self.vdev.unit_sectors
        return [(piece.member, first + row) for row in range(piece.sectors // self.vdev.unit_sectors)]

    def answer(self, rows: int | None) -> Answer:
        """The drawing and the requests."""
        unit = format_size(self.vdev.unit_bytes)
        head = f"{self.kind} of {self.vdev.members}, units of {unit} (ashift {self.vdev.ashift})"
        return Answer(head, list(self._parts(rows)))

    def _parts(self, most: int | None) -> Iterator[Part]:
        cells = self.cells()
        rows = sorted({row for _, row in cells})
        shown = rows[: most or _MOST_ROWS]
        members = range(self.vdev.members)
        names = [f"({self.names[member]})" if member in self.lost else self.names[member] for member in members]
        yield Table(
            "",
            [Column("row"), *(Column(name, whole=True) for name in names)],
            [[str(row), *(cells.get((member, row), "") for member in members)] for row in shown],
        )
        if len(rows) > len(shown):
            yield Words(f"... and {len(rows) - len(shown):,} more rows (--rows)", "note")
        yield Words("A0 is the first unit of block A, AP its parity, A- padding.", "note")
        yield Table("the blocks", list(map(Column, ("block", "size", "takes"))) + _REQUESTS, list(self._facts()))

    def _facts(self) -> Iterator[Row]:
        for number, (offset, size) in enumerate(self.blocks):
            asize = self.vdev.asize(size)
            reads = [piece.sectors for piece in self.vdev.reads(offset, size, self.lost)]
            writes = [place[2] for place in joined(self.vdev.writes(offset, size, self.lost))]
            name = chr(ord("A") + number)
            yield [name, format_size(size), format_size(asize), size / asize, _counted(reads), _counted(writes)]

    def document(self) -> dict[str, Any]:
        """JSON: `kind`, `members`, `ashift`, `lost`, and of each block `offset`, `size`, `asize`, `reads` and `writes`.

        A read is [member, sector, sectors, kind], a write [member, sector, sectors]. Sectors have 512 bytes and count
        from the end of the front labels, 4 MiB from the member's beginning.
        """
        return {
            "kind": self.kind,
            "members": self.names,
            "ashift": self.vdev.ashift,
            "lost": sorted(self.lost),
            "blocks": [
                {
                    "offset": offset,
                    "size": size,
                    "asize": self.vdev.asize(size),
                    "reads": [list(piece) for piece in self.vdev.reads(offset, size, self.lost)],
                    "writes": [list(place) for place in joined(self.vdev.writes(offset, size, self.lost))],
                }
                for offset, size in self.blocks
            ],
        }


_REQUESTS = [Column("data", show=percent), Column("a read is"), Column("a write is")]


def _with_members(words: Sequence[str]) -> list[str]:
    """Words with the names of members where only their number is given."""
    found: list[str] = []
    for word in words:
        if word.isdigit() and found:
            if not 1 <= int(word) <= 255:
                raise InputError("--pool", f"found {word} members", "expected: 1 to 255")
            found += [f"disk{number}" for number in range(int(word))]
        else:
            found.append(word)
    return found


def _counted(sectors: Sequence[int]) -> str:
    """Requests by size, the largest first: "3 x 44 KiB + 40 KiB"."""
    sizes = sorted(set(sectors), reverse=True)
    return " + ".join(
        f"{sectors.count(size)} x {format_size(size * SECTOR_BYTES)}"
        if sectors.count(size) > 1
        else format_size(size * SECTOR_BYTES)
        for size in sizes
    )
