"""How long the flash of an array lasts at a number of bytes a day, by its data sheet: a figure without a simulation.

A byte that is written to the array is written to its drives several times. Whole stripes add the parity or the copies;
a small write of parity also writes all parity chunks of its stripe (Patterson, Gibson and Katz, SIGMOD 1988). The data
sheet's endurance holds for random writes within the drive (JEDEC JESD219A), so no other write amplification is added.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...model.layouts import Layout
from ...model.solid_state.spec import SolidStateSpec
from .bounds.member_visits import visits_for

_DAYS = 365.25
_SMALL = 4096
"""Bytes of a small write: a page."""


@dataclass(frozen=True, slots=True)
class Endurance:
    """How long an array of equal solid-state drives lasts.

    Attributes
    ----------
    per_drive
        Bytes that each drive may be written by its data sheet.
    small_writes, whole_stripes
        Bytes written to all drives for each byte of random writes of 4 KiB, and of writes of whole stripes.
    small_years, stripe_years
        How long the array lasts with each (years).
    """

    per_drive: int
    small_writes: float
    whole_stripes: float
    small_years: float
    stripe_years: float


def endurance(layout: Layout, drive: SolidStateSpec, written: float) -> Endurance | None:
    """Work out how long an array lasts; None if the drive has no endurance in the catalogue.

    Parameters
    ----------
    layout
        Of the array, with all members written evenly.
    drive
        Each member.
    written
        Bytes a day that the array is written.
    """
    if drive.endurance is None:
        return None
    visits = visits_for(layout, True, _SMALL)
    small = visits.writes + visits.returns
    whole = layout.members * drive.capacity / layout.capacity
    years = drive.endurance * layout.members / (written * _DAYS)
    return Endurance(drive.endurance, small, whole, years / small, years / whole)
