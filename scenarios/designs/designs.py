"""Designs that a requirement lets one build: a level on a number of drives, on a controller or on the kernel.

Every design becomes a scenario with one array, or one pool of ZFS, and the requirement's load.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...model.files.quantities import format_size
from ..description.scenario import ScenarioSpec
from ..documents.changes.positions import DocumentPositions
from ..documents.document import Document
from .families import CONTROLLER, Family, family_of, numbers
from .required_files import MOUNT
from .requirement import RequirementSpec


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
        if not family.controller.is_none:
            controller: dict[str, Any] = {"model": family.controller.model, "overrides": family.controller.overrides}
            if family.controller.price is not None:
                controller["price"] = family.controller.price
            machine["controllers"] = {CONTROLLER: controller}
        data = {
            "name": self.name,
            "kernel": requirement.kernel,
            "machine": machine,
            **family.devices(self.members, self.spares, requirement),
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
        device = bare.capacity(self.family.device)
        size = chosen.file_bytes(requirement.load, device - chosen.kept_bytes(device))
        files = chosen.workload(requirement.load, size, warm_up, duration, requirement.seed)
        mounted = {MOUNT: {**chosen.document(), "on": self.family.device}}
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
                built = family_of(level, None, drive, controller, requirement.chunks[0])
                if requirement.hot_spares and not built.takes_spares:
                    continue
                for group in built.groups([count - requirement.hot_spares for count in drive.count]):
                    for chunk in requirement.chunks if built.has_chunk else requirement.chunks[:1]:
                        family = family_of(level, group, drive, controller, chunk)
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
                built = family_of(level, level.group_drives, drive, controller, requirement.chunks[0])
                reason = _why_none(built, requirement)
                if reason is not None:
                    counts = numbers(drive.count)
                    on = "" if controller.is_none else f" on {controller.model}"
                    found.append(LeftOut(f"{built.layout_words} of {counts} x {drive.words}{on}", reason))
    return found


def _why_none(family: Family, requirement: RequirementSpec) -> str | None:
    """Why no number of drives makes an array of this level; None if one does."""
    spares = requirement.hot_spares
    if spares and not family.takes_spares:
        return "takes no hot spares"
    members = [count - spares for count in family.drive.count]
    tried = [
        family_of(family.level, group, family.drive, family.controller, family.chunk)
        for group in family.groups(members)
    ]
    if family.drive.mirror is not None and not any(each.mirrors_pairs for each in tried):
        return "drives of two kinds are for mirrored pairs: raid1, raid10 near, mirrors, without a controller"
    if any(_counts(each, requirement, family.drive.count) for each in tried):
        return None
    return family.why_none(members, f", with {spares} standing by" if spares else "")


def _counts(family: Family, requirement: RequirementSpec, counts: Iterable[int]) -> tuple[int, ...]:
    spares = requirement.hot_spares
    fitting = [count for count in counts if family.fits(count - spares)]
    fitting = [count for count in fitting if family.is_regular(count - spares)] or fitting
    return tuple(count for count in fitting if family.is_usual(count - spares, requirement))


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
