"""The power of a drive between idle and busy, from the two figures of its data sheet, or of its class.

The power rises in a straight line with the share of time that the drive is busy (assumed): the platters and the
electronics take the idle power all the time, and each command adds its own energy. A drive without a figure is taken
for one of its class (``catalogue/power_classes.yaml``), and whoever shows it says so.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import Field

from ..disk.spec import DriveSpec
from ..files.description import PositiveSize, Power, Rotation, Spec
from ..files.description_errors import validate
from ..files.yaml_files import read_yaml
from ..solid_state.spec import SolidStateSpec

CLASSES = Path(__file__).parent / "catalogue" / "power_classes.yaml"
HOURS_A_YEAR = 8766.0


class PowerClass(Spec):
    """Drives that take about the same: what one of them is, and what it takes."""

    name: str
    """What the class is called."""
    flash: bool = False
    """Whether they are solid-state drives."""
    interface: str = ""
    """How their interface begins; any unless given."""
    servers: bool | None = None
    """Of solid-state drives: whether they are protected from a loss of power; either unless given."""
    rotation: tuple[Rotation, Rotation] | None = None
    """Turns per minute, from and below."""
    heads: tuple[int, int] | None = None
    """How many heads, from and to."""
    per_head: PositiveSize | None = None
    """The least capacity of a surface; any unless given."""
    actuators: int | None = None
    """How many arms; any unless given."""
    at_most: PositiveSize | None = None
    """The largest capacity; any unless given."""
    idle: Power
    """What one takes without commands."""
    active: Power
    """What one takes while commands come without a pause."""
    spread: float = Field(ge=1)
    """Factor between these and those of the drives that they were taken from."""
    source: str
    """Those drives."""

    def has(self, drive: DriveSpec | SolidStateSpec) -> bool:
        """Whether a drive belongs to it."""
        if not drive.interface.startswith(self.interface):
            return False
        if isinstance(drive, SolidStateSpec):
            return self.flash and self.servers in (None, drive.power_loss_protection)
        return (
            not self.flash
            and (self.rotation is None or self.rotation[0] <= drive.rotation < self.rotation[1])
            and (self.heads is None or self.heads[0] <= drive.heads <= self.heads[1])
            and (self.per_head is None or drive.capacity >= self.per_head * drive.heads)
            and self.actuators in (None, drive.actuators)
            and (self.at_most is None or drive.capacity <= self.at_most)
        )


class _Classes(Spec):
    classes: tuple[PowerClass, ...]
    """As the file has them."""


@lru_cache(maxsize=1)
def power_classes() -> tuple[PowerClass, ...]:
    """All classes, in the order in which a drive is looked for in them."""
    data, positions = read_yaml(CLASSES)
    return validate(_Classes, {"classes": data}, positions).classes


def power_class(drive: DriveSpec | SolidStateSpec) -> PowerClass | None:
    """The class whose figures stand in for those that a drive lacks; None if it lacks none, or belongs to no class.

    Parameters
    ----------
    drive
        Which.

    Examples
    --------
    >>> from raidsim.model.drives.catalogue import drive
    >>> power_class(drive("WD-Gold-24TB")).name
    '7,200 rpm, in helium'
    >>> power_class(drive("Intel-S3700-800GB")) is None
    True
    """
    if drive.power_idle is not None and drive.power_active is not None:
        return None
    return next((each for each in power_classes() if each.has(drive)), None)


def watts(drive: DriveSpec | SolidStateSpec, busy: float) -> float | None:
    """Mean power of a drive (W), of its class where the catalogue lacks a figure; None if there is no class either.

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
    idle, active = drive.power_idle, drive.power_active
    alike = power_class(drive)
    if alike is not None:
        # One figure of its own bounds the other one.
        idle = min(alike.idle, active or alike.idle) if idle is None else idle
        active = max(alike.active, idle) if active is None else active
    return None if idle is None or active is None else idle + busy * (active - idle)


def kwh_a_year(power: float) -> float:
    """Energy (kWh) that a constant power (W) takes in a year."""
    return power * HOURS_A_YEAR / 1e3
