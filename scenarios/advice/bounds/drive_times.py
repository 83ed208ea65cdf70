"""The least time of a design's drives, of whichever kind they are."""

from __future__ import annotations

from ....model.disk.spec import DriveSpec
from ...description.scenario import ScenarioSpec
from ...description.workloads import LoadSpec
from .arm_time import ArmTime
from .below import below
from .drive_time import DriveTime
from .flash_time import FlashTime


def drive_time(spec: ScenarioSpec) -> DriveTime:
    """What bounds a scenario with one array or pool; of drives of two kinds, nothing that depends on their speed."""
    assert isinstance(spec.workload, LoadSpec)
    members = [spec.machine.drives[name] for name in below(spec, spec.workload.targets[0]).members]
    drive = members[0].spec()
    found = ArmTime(spec, drive) if isinstance(drive, DriveSpec) else FlashTime(spec, drive)
    found.equal = len({(each.model, repr(each.overrides)) for each in members}) == 1
    return found
