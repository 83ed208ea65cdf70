"""What a design takes in the rack: chassis, rack units, power and energy."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.core.exact_sums import sum_in_order
from ...model.drives.power import kwh_a_year
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
        Of all drives, the hot spares idle, and of all chassis, at a utilization of the other drives; None if neither
        the requirement nor the catalogue has a figure for the drive.
    energy_price
        Of a kWh; None if the requirement has none.
    """

    chassis: int | None
    rack_units: float | None
    watts: float | None
    energy_price: float | None = None

    @property
    def kwh_a_year(self) -> float | None:
        """Energy of a year (kWh)."""
        return None if self.watts is None else kwh_a_year(self.watts)

    @property
    def energy_cost_a_year(self) -> float | None:
        """Price of that energy."""
        energy = self.kwh_a_year
        return None if energy is None or self.energy_price is None else energy * self.energy_price


def room(design: Design, requirement: RequirementSpec, busy: float = 1.0) -> Room:
    """Count the chassis that the drives need, hot spares among them, and what these and the drives take.

    Parameters
    ----------
    design, requirement
        What is built, and for what.
    busy
        Mean share of the time that each drive is busy, 0 to 1, hot spares aside.
    """
    drive, one = design.family.drive, requirement.chassis
    working, idle = [each.power(busy) for each in drive.kinds], drive.power(0.0)
    known = [watts for watts in working if watts is not None]
    drives = None
    if idle is not None and len(known) == len(working):
        drives = design.members * sum_in_order(known) / len(known) + design.spares * idle
    if one is None:
        return Room(None, None, drives, requirement.energy_price)
    chassis = one.needed(design.drives)
    watts = None if drives is None else drives + chassis * one.watts
    return Room(chassis, chassis * one.rack_units, watts, requirement.energy_price)
