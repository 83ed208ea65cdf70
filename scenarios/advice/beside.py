"""Designs under several loads: the required one, whose I/Os are judged, and those that run at the same time."""

from __future__ import annotations

from ...model.core.errors import InputError
from ..description.any_workload import LoadsSpec, NamedLoad
from ..description.devices import Devices
from ..description.scenario import ScenarioSpec
from ..description.workloads import LoadSpec
from ..designs.required_load import TARGET
from ..designs.requirement import RequirementSpec

REQUIRED = "required"
"""What the required load is called among several."""


def with_others(spec: ScenarioSpec, requirement: RequirementSpec) -> ScenarioSpec:
    """The scenario of a design with the other loads, if there are any.

    Raises
    ------
    InputError
        If a load reaches beyond the array of this design, or has the required one's name.
    """
    load = spec.workload
    if not requirement.beside or not isinstance(load, LoadSpec):
        return spec
    devices = Devices.of(spec)
    own = {TARGET: load.targets[0]}
    others = [
        other.model_copy(update={"targets": tuple(own.get(each, each) for each in other.targets)})
        for other in requirement.beside
    ]
    for i, other in enumerate(others):
        for target in other.targets:
            if target not in devices.names:
                raise InputError(f"beside[{i}].targets", f"found {target!r}", f"expected: {TARGET}")
            beyond = other.beyond(target, devices.capacity(target))
            if beyond is not None:
                field, found = beyond
                raise InputError(f"beside[{i}].{field}", f"found {found}", f"expected: a part of {spec.name}")
    of_run = {"warm_up", "duration", "precision", "phases"}
    required = NamedLoad.model_validate({**load.model_dump(exclude_unset=True, exclude=of_run), "name": REQUIRED})
    several = LoadsSpec(kind="several", loads=(required, *others), warm_up=load.warm_up, duration=load.duration)
    return spec.model_copy(update={"workload": several})
