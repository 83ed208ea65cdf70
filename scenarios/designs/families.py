"""Families of designs: a level of the kernel's arrays or a controller, or the vdevs of a pool, on drives of one kind.

A *family* is a design without the number of its drives: what is compared with another number of drives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...model.core.errors import InputError
from ...model.files.quantities import format_size
from ...model.layouts import LEVELS, STRIPED_MIRRORS
from ...model.zfs.map.kinds import DRAID, MIRROR, RAIDZ, vdevs_for
from ...model.zfs.map.words import Alike, alike
from ..documents.changes.pool_aliases import POOL, VOLUME, pool_of
from .drive_choice import DriveChoice
from .required_load import TARGET
from .requirement import ControllerChoice, LevelChoice, RequirementSpec

CONTROLLER = "raid"
_WIDEST_MIRROR = 3
"""Copies that a RAID 1 is tried with; more are there if raid1 is asked for by `levels`."""
_WIDEST_RAIDZ = 16
"""Members of the widest raidz that is tried, like those of a group of RAID 60; wider ones are there if asked for."""
_PAIR = 2


@dataclass(frozen=True, eq=False)
class Family:
    """A design without the number of its drives.

    Attributes
    ----------
    level
        Level and variant.
    group_drives
        Drives of each inner array, of the levels that have them; of a pool those of each vdev, None for one of all.
    drive, controller
        What it is built of.
    chunk
        Bytes.
    """

    level: LevelChoice
    group_drives: int | None
    drive: DriveChoice
    controller: ControllerChoice
    chunk: int

    @property
    def layout_words(self) -> str:
        """The layout in words: "RAID 10", "RAID 10 far", "RAID 60 of 6s"."""
        level = self.level
        words = LEVELS[level.level].label
        if level.algorithm is not None:
            words += f" {level.algorithm}"
        if level.copies is not None and level.copies != 2:
            words += f" of {level.copies} copies"
        return f"{words} in groups of {self.group_drives}" if self.group_drives is not None else words

    @property
    def words(self) -> str:
        """The layout with its chunk."""
        return f"{self.layout_words}, {format_size(self.chunk)}" if self.has_chunk else self.layout_words

    @property
    def device(self) -> str:
        """What the load goes to."""
        return TARGET

    @property
    def has_chunk(self) -> bool:
        """Whether the level has chunks."""
        return LEVELS[self.level.level].has_chunk

    @property
    def has_stripe_cache(self) -> bool:
        """Whether md runs an array with parity, or one of such arrays."""
        return self.controller.is_none and "stripe_cache" in LEVELS[self.level.level].options

    @property
    def takes_spares(self) -> bool:
        """Whether a hot spare can stand by."""
        return LEVELS[self.level.level].spares

    @property
    def without_chunk(self) -> tuple[Any, ...]:
        """What is alike in families that differ by their chunks only."""
        return (self.level, self.group_drives, self.drive.identity, repr(self.controller))

    def fits(self, members: int) -> bool:
        """Whether an array of this number of members can be built."""
        known = LEVELS[self.level.level]
        if members < known.least or (self.drive.mirror is not None and not (self.mirrors_pairs and members % 2 == 0)):
            return False
        if self.group_drives is not None:
            return members % self.group_drives == 0 and members > self.group_drives
        if known.has_copies:
            copies = self.level.copies or 2
            disjoint = not self.controller.is_none or self.level.algorithm == STRIPED_MIRRORS
            return members >= copies and (not disjoint or members % copies == 0)
        return True

    @property
    def mirrors_pairs(self) -> bool:
        """Whether each two drives that follow each other are copies, and nothing else is."""
        level = self.level
        pairs = level.level == "raid1" or (LEVELS[level.level].has_copies and level.algorithm in (None, "near"))
        return pairs and level.copies in (None, 2) and self.controller.is_none

    def is_regular(self, members: int) -> bool:
        """Whether all copies of a RAID 10 lie on the same groups of drives; md builds others as well."""
        return not LEVELS[self.level.level].has_copies or members % (self.level.copies or 2) == 0

    def is_usual(self, members: int, requirement: RequirementSpec) -> bool:
        """Whether it is tried with this number of members although nobody has named its level."""
        named = "levels" in requirement.model_fields_set
        return named or self.level.level != "raid1" or members <= _WIDEST_MIRROR

    def groups(self, members: Sequence[int]) -> list[int | None]:
        """Drives of a group that it may have with one of the numbers of members."""
        known = LEVELS[self.level.level]
        if not known.has_groups:
            return [None]
        if self.level.group_drives is not None:
            return [self.level.group_drives]
        tried = range(known.group_least, known.group_usual + 1)
        sizes = {size for count in members for size in tried if count % size == 0 and count > size}
        return [*sorted(sizes)]

    def why_none(self, members: Sequence[int], beside: str) -> str:
        """Why none of the numbers of members makes such an array; `beside` says which spares stand by."""
        known = LEVELS[self.level.level]
        if max(members) < known.least:
            return f"needs at least {known.least} members{beside}"
        if known.has_groups:
            sizes = self.level.group_drives or f"{known.group_least} to {known.group_usual}"
            return f"{numbers(members)} members make no equal groups of {sizes} drives{beside}"
        if known.has_copies:
            return f"{numbers(members)} members are no multiple of {self.level.copies or 2} copies{beside}"
        return f"more than {_WIDEST_MIRROR} copies of everything; ask for it by name in levels"

    def devices(self, members: int, spares: int, requirement: RequirementSpec) -> dict[str, Any]:
        """What a scenario has besides the machine: the array of this number of members, with hot spares."""
        level = self.level
        array: dict[str, Any] = {"level": level.level, "chunk": self.chunk}
        array["members"] = disks(0, members)
        if spares:
            array["spares"] = disks(members, members + spares)
        for field in ("algorithm", "copies"):
            if getattr(level, field) is not None:
                array[field] = getattr(level, field)
        if self.group_drives is not None:
            array["groups"] = members // self.group_drives
        known = LEVELS[level.level]
        if level.level == "raid1" and (slow := self.drive.write_mostly(members)):
            array["write_mostly"] = slow
        if self.controller.is_none:
            array |= {option: value for option, value in requirement.array.items() if option in known.options}
            if requirement.bitmap is not None and "bitmap" in known.options:
                array["bitmap"] = requirement.bitmap if requirement.bitmap == "none" else f"{requirement.bitmap}B"
        else:
            array["controller"] = CONTROLLER
        return {"arrays": {TARGET: array}}


class PoolFamily(Family):
    """A pool of ZFS with one volume, or one file, of all its space; the kernel runs it."""

    @property
    def _alike(self) -> Alike:
        return alike(self.level.level)

    @property
    def layout_words(self) -> str:
        """The vdevs in words: "raidz2 in vdevs of 6", "ZFS mirrors", "2 x raidz1 of 4"."""
        vdevs, width = self._alike, self.group_drives
        if vdevs.kind == MIRROR:
            words = "ZFS mirrors" if vdevs.pairs else "ZFS mirror"
            return words if width == _PAIR or width is None else f"{words} of {width}"
        if vdevs.kind not in RAIDZ:
            return vdevs.kind if vdevs.kind.startswith(DRAID) else f"ZFS {vdevs.kind}"
        return self.level.level if width is None else f"{vdevs.kind} in vdevs of {width}"

    @property
    def device(self) -> str:
        """See :attr:`Family.device`."""
        return f"{POOL}/{VOLUME}"

    @property
    def has_chunk(self) -> bool:
        """See :attr:`Family.has_chunk`."""
        return False

    @property
    def has_stripe_cache(self) -> bool:
        """See :attr:`Family.has_stripe_cache`."""
        return False

    @property
    def takes_spares(self) -> bool:
        """See :attr:`Family.takes_spares`."""
        return True

    def fits(self, members: int) -> bool:
        """See :meth:`Family.fits`."""
        if self.drive.mirror is not None and not self.mirrors_pairs:
            return False
        width = self.group_drives or members
        return members % width == 0 and members > 0 and self._refusal(width, members // width) is None

    def _refusal(self, width: int, count: int) -> str | None:
        """Why there are not this number of vdevs of this width; None if there can be."""
        vdevs = self._alike
        if vdevs.number not in (None, count):
            return f"{width * count} members make no {vdevs.number} vdevs of {width} drives"
        try:
            vdevs_for(vdevs.kind, width, 12)
        except InputError as error:
            return f"{error.found.removeprefix('found ')}; {error.expected}"
        return None

    @property
    def mirrors_pairs(self) -> bool:
        """See :attr:`Family.mirrors_pairs`."""
        return self._alike.kind == MIRROR and self.group_drives == _PAIR

    def is_regular(self, members: int) -> bool:
        """See :meth:`Family.is_regular`."""
        return True

    def is_usual(self, members: int, requirement: RequirementSpec) -> bool:
        """See :meth:`Family.is_usual`."""
        return True

    def groups(self, members: Sequence[int]) -> list[int | None]:
        """See :meth:`Family.groups`: members of a vdev."""
        vdevs = self._alike
        if vdevs.members is not None or self.level.group_drives is not None:
            return [vdevs.members or self.level.group_drives]
        if vdevs.pairs:
            return [_PAIR]
        if vdevs.number is not None:
            return [*sorted({count // vdevs.number for count in members if count % vdevs.number == 0})]
        if vdevs.kind not in RAIDZ:
            return [None]
        tried = range(RAIDZ[vdevs.kind] + 2, _WIDEST_RAIDZ + 1)
        return [*sorted({width for count in members for width in tried if count % width == 0})]

    def why_none(self, members: Sequence[int], beside: str) -> str:
        """See :meth:`Family.why_none`."""
        vdevs, width = self._alike, self.group_drives
        if vdevs.kind in RAIDZ and width is None and vdevs.number is None:
            least = RAIDZ[vdevs.kind] + 2
            if max(members) < least:
                return f"needs at least {least} members{beside}"
            return f"{numbers(members)} members make no equal vdevs of {least} to {_WIDEST_RAIDZ} drives{beside}"
        width = width or vdevs.members or (_PAIR if vdevs.pairs else None)
        whole = [count for count in members if count and not count % (width or vdevs.number or 1)]
        found = f"{numbers(members)} members make no {vdevs.number or 'equal'} vdevs"
        if width is not None:
            found += f" of {width} drives"
        if not whole:
            return found + beside
        size = width or whole[-1] // (vdevs.number or 1)
        return self._refusal(size, whole[-1] // size) or found + beside

    def devices(self, members: int, spares: int, requirement: RequirementSpec) -> dict[str, Any]:
        """See :meth:`Family.devices`: a pool with its volume or file."""
        vdevs, width = self._alike, self.group_drives
        layout = vdevs.kind if width in (None, members) else f"{members // width} x {vdevs.kind}"
        pool = pool_of(layout, disks(0, members), disks(members, members + spares), self.layout_words)
        pool["datasets"] = {VOLUME: requirement.dataset.model_dump(exclude_unset=True)}
        return {"pools": {POOL: pool}}


def family_of(
    level: LevelChoice, group_drives: int | None, drive: DriveChoice, controller: ControllerChoice, chunk: int
) -> Family:
    """The family of an array or of a pool."""
    return (PoolFamily if level.is_pool else Family)(level, group_drives, drive, controller, chunk)


def disks(first: int, end: int) -> list[str]:
    """Names of drives in a scenario."""
    return [f"disk{number}" for number in range(first, end)]


def numbers(counts: Sequence[int]) -> str:
    """Numbers of drives in short: "24", "4 to 24"."""
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
