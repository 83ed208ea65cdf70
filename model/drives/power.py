"""The power of a drive between idle and busy, from the two figures of its data sheet.

The power rises in a straight line with the share of time that the drive is busy (assumed): the platters and the
electronics take the idle power all the time, and each command adds its own energy.
"""

from __future__ import annotations

from ..disk.spec import DriveSpec
from ..solid_state.spec import SolidStateSpec

HOURS_A_YEAR = 8766.0


def watts(drive: DriveSpec | SolidStateSpec, busy: float) -> float | None:
    """Mean power of a drive (W); None if the catalogue lacks one of its two figures.

    Parameters
    ----------
    drive
        Which.
    busy
        Share of the time it is busy, 0 to 1; of a solid-state drive, its busiest part.

    Examples
    --------
    >>> from raidsim.model.drives.catalogue import drive
    >>> [round(watts(drive("Intel-S3700-800GB"), busy), 3) for busy in (0, 0.5, 1)]
    [0.65, 3.325, 6.0]
    """
    if drive.power_idle is None or drive.power_active is None:
        return None
    return drive.power_idle + busy * (drive.power_active - drive.power_idle)


def kwh_a_year(power: float) -> float:
    """Energy (kWh) that a constant power (W) takes in a year."""
    return power * HOURS_A_YEAR / 1e3
