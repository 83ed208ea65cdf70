"""What a design takes in the rack: chassis, rack units and power."""

from __future__ import annotations

from dataclasses import dataclass

from .designs import Design
from .requirement import RequirementSpec


@dataclass(frozen=True, slots=True)
class Room:
    """What the drives of a design take.

    Attributes
    ----------
    chassis
        How many the drives need; None if the requirement has no chassis.
    rack_units
        Their height; None without chassis.
    watts
        Of all drives and chassis; None if the requirement has no figure for the drive.
    """

    chassis: int | None
    rack_units: float | None
    watts: float | None


def room(design: Design, requirement: RequirementSpec) -> Room:
    """Count the chassis that the drives need, hot spares among them, and what these and the drives take."""
    each, one = design.family.drive.watts, requirement.chassis
    drives = None if each is None else design.drives * each
    if one is None:
        return Room(None, None, drives)
    chassis = one.needed(design.drives)
    return Room(chassis, chassis * one.rack_units, None if drives is None else drives + chassis * one.watts)
