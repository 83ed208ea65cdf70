"""The least time of a design's drives, of whichever kind they are."""

from __future__ import annotations

from ....model.disk.spec import DriveSpec
from ...description.scenario import ScenarioSpec
from ...designs.required_load import TARGET
from .arm_time import ArmTime
from .drive_time import DriveTime
from .flash_time import FlashTime


def drive_time(spec: ScenarioSpec) -> DriveTime:
    """What bounds a scenario with one array of equal drives."""
    instance = spec.machine.drives[spec.arrays[TARGET].members[0]]
    drive = instance.spec()
    return ArmTime(spec, drive) if isinstance(drive, DriveSpec) else FlashTime(spec, drive)
