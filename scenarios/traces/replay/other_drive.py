"""A scenario with another drive in place of its own."""

from __future__ import annotations

from typing import Any

from ....model.disk.spec import DriveSpec
from ....model.drives.catalogue import hard_disk_names, named_drive, solid_state_names
from ...description.scenario import ScenarioSpec


def with_drive(scenario: ScenarioSpec, name: str) -> ScenarioSpec:
    """The scenario with one model of drive in place of every drive of its machine.

    The workload is not checked against it: a replay has another one.

    Parameters
    ----------
    scenario
        Whose drives are replaced; they keep their names, channels and queues.
    name
        Of a drive in the catalogue, or the path of a drive's file.

    Raises
    ------
    InputError
        If there is no such drive.
    """
    drive, _ = named_drive(name)
    # A machine names a drive of the catalogue; one of a file is that with all fields overridden.
    model = (hard_disk_names() if isinstance(drive, DriveSpec) else solid_state_names())[0]
    changed: dict[str, Any] = {"model": model, "overrides": drive.model_dump()}
    if isinstance(drive, DriveSpec):
        changed["state"] = None
    machine = scenario.machine
    drives = {each: instance.model_copy(update=changed) for each, instance in machine.drives.items()}
    return scenario.model_copy(update={"machine": machine.model_copy(update={"drives": drives})})
