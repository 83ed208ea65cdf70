"""Designs that a requirement lets one build: a level on a number of drives, on a controller or on the kernel.

A *family* is a design without the number of its drives: what is compared with another number of drives. Every design
becomes a scenario with one array and the requirement's load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.files.quantities import format_size
from ...model.layouts import LEVELS, STRIPED_MIRRORS
from ..description.scenario import ScenarioSpec
from ..documents.changes.positions import DocumentPositions
from ..documents.document import Document
from .drive_choice import DriveChoice
from .required_files import MOUNT
from .required_load import TARGET
from .requirement import ControllerChoice, LevelChoice, RequirementSpec

CONTROLLER = "raid"
_WIDEST_MIRROR = 3
"""Copies that a RAID 1 is tried with; more are there if raid1 is asked for by `levels`."""


@dataclass(frozen=True, eq=False)
class Family:
    """A design without the number of its drives.

    Attributes
    ----------
    level
        Level and variant.
    group_drives
        Drives of each inner array, of the levels that have them.
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
    def has_chunk(self) -> bool:
        """Whether the level has chunks."""
        return LEVELS[self.level.level].has_chunk

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


@dataclass(frozen=True, eq=False)
class Design:
    """A family with a number of drives.

    Attributes
    ----------
    family
        What it is.
    drives
        How many in all, spares among them.
    spares
        How many of them stand by.
    """

    family: Family
    drives: int
    spares: int = 0

    @property
    def name(self) -> str:
        """What it is called."""
        family = self.family
        words = f"{family.layout_words}, {self.drives} x {family.drive.words}"
        if self.spares:
            words += f" ({self.spare_words})"
        if not family.controller.is_none:
            words += f" on {family.controller.model}"
        return f"{words}, {format_size(family.chunk)}" if family.has_chunk else words

    @property
    def spare_words(self) -> str:
        """Its hot spares in words: "1 spare"; nothing if it has none."""
        return f"{self.spares} spare{'s' if self.spares > 1 else ''}" if self.spares else ""

    def document(self, requirement: RequirementSpec, workload: dict[str, Any] | None = None) -> Document:
        """The scenario as a document.

        Parameters
        ----------
        requirement
            Whose load it gets.
        workload
            The load instead of the requirement's own, without the requirement's file system.
        """
        family = self.family
        base = requirement.machine
        machine: dict[str, Any] = {"model": base} if isinstance(base, str) else dict(base or {})
        machine["drives"] = family.drive.machine_drives(self.members, self.spares)
        if requirement.chassis is not None:
            chassis = requirement.chassis.needed(self.drives) * requirement.chassis.price
            machine["price"] = machine.get("price", 0.0) + chassis
        level = family.level
        array: dict[str, Any] = {"level": level.level, "chunk": family.chunk}
        array["members"] = [f"disk{i}" for i in range(self.members)]
        if self.spares:
            array["spares"] = [f"disk{i}" for i in range(self.members, self.drives)]
        for field in ("algorithm", "copies"):
            if getattr(level, field) is not None:
                array[field] = getattr(level, field)
        if family.group_drives is not None:
            array["groups"] = self.members // family.group_drives
        known = LEVELS[level.level]
        if level.level == "raid1" and (slow := family.drive.write_mostly(self.members)):
            array["write_mostly"] = slow
        if family.controller.is_none:
            array |= {option: value for option, value in requirement.array.items() if option in known.options}
        if requirement.bitmap is not None and family.controller.is_none and "bitmap" in LEVELS[level.level].options:
            array["bitmap"] = requirement.bitmap if requirement.bitmap == "none" else f"{requirement.bitmap}B"
        if not family.controller.is_none:
            controller: dict[str, Any] = {"model": family.controller.model, "overrides": family.controller.overrides}
            if family.controller.price is not None:
                controller["price"] = family.controller.price
            machine["controllers"] = {CONTROLLER: controller}
            array["controller"] = CONTROLLER
        data = {
            "name": self.name,
            "kernel": requirement.kernel,
            "machine": machine,
            "arrays": {TARGET: array},
            "workload": workload or requirement.load.document(),
            "seed": requirement.seed,
            "service": requirement.service.document(),
        }
        beside = {"network": requirement.network, "vm": requirement.vm, "path_length": requirement.path_length}
        data |= {name: value for name, value in beside.items() if value is not None}
        if workload is None and requirement.file_system is not None:
            return self.with_files(requirement, data)
        return Document(self.name, data, DocumentPositions(self.name, {}))

    def with_files(
        self, requirement: RequirementSpec, data: dict[str, Any], warm_up: float = 1.0, duration: float = 5.0
    ) -> Document:
        """The document of a design with the requirement's file system, and the load on a file for some time (s)."""
        chosen = requirement.file_system
        assert chosen is not None
        bare = Document(self.name, data, DocumentPositions(self.name, {})).spec()
        device = bare.capacity(TARGET)
        size = chosen.file_bytes(requirement.load, device - chosen.kept_bytes(device))
        files = chosen.workload(requirement.load, size, warm_up, duration, requirement.seed)
        mounted = {MOUNT: {**chosen.document(), "on": TARGET}}
        return Document(
            self.name, {**data, "file_systems": mounted, "workload": files}, DocumentPositions(self.name, {})
        )

    def scenario(self, requirement: RequirementSpec, workload: dict[str, Any] | None = None) -> ScenarioSpec:
        """The scenario, checked; `InputError` if there can be no such machine."""
        return self.document(requirement, workload).spec()

    @property
    def key(self) -> str:
        """What tells it from every other design of a requirement."""
        family = self.family
        return f"{self.name} {family.drive.identity} {family.controller!r}"

    @property
    def members(self) -> int:
        """Drives in the array."""
        return self.drives - self.spares


def families(requirement: RequirementSpec) -> list[tuple[Family, tuple[int, ...]]]:
    """Every family that the requirement allows, with its numbers of drives, in the order of the requirement."""
    found: list[tuple[Family, tuple[int, ...]]] = []
    for drive in requirement.drives:
        for controller in requirement.controllers:
            for level in requirement.levels:
                if requirement.hot_spares and not LEVELS[level.level].spares:
                    continue
                for group in _groups(level, [count - requirement.hot_spares for count in drive.count]):
                    for chunk in requirement.chunks if LEVELS[level.level].has_chunk else requirement.chunks[:1]:
                        family = Family(level, group, drive, controller, chunk)
                        counts = _counts(family, requirement, drive.count)
                        if counts:
                            found.append((family, counts))
    return found


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A level that a requirement allows and of which it lets one build nothing.

    Attributes
    ----------
    name
        What it is, of which drives.
    reason
        Why there is no design of it.
    """

    name: str
    reason: str


def left_out(requirement: RequirementSpec) -> list[LeftOut]:
    """Levels and groups without any design on some drive and controller, each with its reason."""
    found: list[LeftOut] = []
    for drive in requirement.drives:
        for controller in requirement.controllers:
            for level in requirement.levels:
                built = Family(level, level.group_drives, drive, controller, requirement.chunks[0])
                reason = _why_none(built, requirement)
                if reason is not None:
                    counts = _numbers(drive.count)
                    on = "" if controller.is_none else f" on {controller.model}"
                    found.append(LeftOut(f"{built.layout_words} of {counts} x {drive.words}{on}", reason))
    return found


def _why_none(family: Family, requirement: RequirementSpec) -> str | None:
    """Why no number of drives makes an array of this level; None if one does."""
    known, spares = LEVELS[family.level.level], requirement.hot_spares
    if spares and not known.spares:
        return "takes no hot spares"
    members = [count - spares for count in family.drive.count]
    if family.drive.mirror is not None and not family.mirrors_pairs:
        return "drives of two kinds are for mirrored pairs: raid1, raid10 near, without a controller"
    groups = _groups(family.level, members)
    tried = [Family(family.level, group, family.drive, family.controller, family.chunk) for group in groups]
    if any(_counts(each, requirement, family.drive.count) for each in tried):
        return None
    beside = f", with {spares} standing by" if spares else ""
    if max(members) < known.least:
        return f"needs at least {known.least} members{beside}"
    if known.has_groups:
        sizes = family.level.group_drives or f"{known.group_least} to {known.group_usual}"
        return f"{_numbers(members)} members make no equal groups of {sizes} drives{beside}"
    if known.has_copies:
        return f"{_numbers(members)} members are no multiple of {family.level.copies or 2} copies{beside}"
    return f"more than {_WIDEST_MIRROR} copies of everything; ask for it by name in levels"


def _numbers(counts: Sequence[int]) -> str:
    """Numbers of drives in short: "24", "4 to 24"."""
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _counts(family: Family, requirement: RequirementSpec, counts: Iterable[int]) -> tuple[int, ...]:
    usual = "levels" not in requirement.model_fields_set and family.level.level == "raid1"
    fitting = [count for count in counts if family.fits(count - requirement.hot_spares)]
    pairs = [count for count in fitting if family.is_regular(count - requirement.hot_spares)]
    fitting = pairs or fitting
    return tuple(count for count in fitting if not usual or count - requirement.hot_spares <= _WIDEST_MIRROR)


def _groups(level: LevelChoice, members: list[int]) -> list[int | None]:
    """Sizes of groups that divide one of the numbers of members."""
    known = LEVELS[level.level]
    if not known.has_groups:
        return [None]
    if level.group_drives is not None:
        return [level.group_drives]
    tried = range(known.group_least, known.group_usual + 1)
    sizes = {size for count in members for size in tried if count % size == 0 and count > size}
    return [*sorted(sizes)]


def impossible(design: Design) -> str | None:
    """Why the design cannot be plugged together; None if it can."""
    controller = design.family.controller.spec()
    drive = design.family.drive.spec()
    if controller is None:
        return None
    if design.family.level.level not in controller.levels:
        return f"{controller.model} offers {', '.join(controller.levels)}"
    if design.drives > controller.ports:
        return f"{controller.model} has {controller.ports} ports"
    if not _plugs_in(drive.interface, controller.drive_interface):
        return f"{drive.interface} drives do not plug into {controller.model} ({controller.drive_interface})"
    return None


def _plugs_in(drive: str, controller: str) -> bool:
    """Whether a controller's ports take the drive; SAS ports take SATA drives as well (SAS-1, STP)."""
    kinds = ("SAS", "SATA", "SCSI", "PATA", "FC")
    of_drive = next((kind for kind in kinds if kind in drive), drive)
    of_controller = next((kind for kind in kinds if kind in controller), controller)
    return of_drive == of_controller or (of_drive, of_controller) == ("SATA", "SAS")
