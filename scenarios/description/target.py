"""The device that an option names, or that a scenario's workload goes to."""

from __future__ import annotations

from ...model.core.errors import InputError
from .devices import Devices
from .programs import ProgramsSpec
from .scenario import ScenarioSpec


def target_of(scenario: ScenarioSpec, named: str | None = None) -> str:
    """The device that `named` means, or that the scenario's own workload goes to.

    Raises
    ------
    InputError
        If there is no such device, if the host does not see it, or if the workload goes to several.
    """
    devices = Devices(scenario.machine, scenario.arrays, scenario.encrypted)
    seen = [name for name in devices.names if name not in devices.hidden]
    allowed = f"allowed: {', '.join(seen)}"
    if named is not None:
        if named not in seen:
            hidden = devices.hidden.get(named)
            found = f"unknown device {named!r}" if hidden is None else f"{named}, which is behind {hidden}"
            raise InputError("--target", found, allowed)
        return named
    workload = scenario.workload
    if isinstance(workload, ProgramsSpec):
        own = list(dict.fromkeys(spec.on for spec in scenario.file_systems.values()))
    else:
        own = list(dict.fromkeys(workload.targets))
    if len(own) != 1:
        found = f"not given, and the scenario's workload goes to {f'{len(own)} devices' if own else 'no device'}"
        raise InputError("--target", found, allowed)
    return own[0]
