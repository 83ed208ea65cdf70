"""The scenarios of a study's runs, with factors applied to what is fitted.

A scenario holds only the parts that its run uses, so that runs which do not depend on a parameter are recognised as
equal when that parameter moves, and are not simulated again. Which prices of work a run pays, its simulation tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...model.drives.catalogue import drive
from ...model.layouts import LEVELS
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.description.arrays import ArraySpec
from ...scenarios.description.fio_jobs import DEVICE, FioSpec
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import DdSpec
from .document import CaseSpec, RunSpec, StudyDocument
from .parameters import ONLY, ChangedParts

ARRAY_NAME = "md0"
"""What an array is called in a case's targets."""


class RunBuilder:
    """Scenarios of a study's runs with some factors applied.

    Parameters
    ----------
    study
        The study.
    factors
        Factor by parameter name; 1 where a parameter is not named.
    """

    def __init__(self, study: StudyDocument, factors: dict[str, float]) -> None:
        self.study = study
        self._parts = ChangedParts(study, factors)
        self._cases = {case.id: case for case in study.cases}

    def scenario(self, run: str) -> ScenarioSpec:
        """The scenario of a run, or of a case, by its id, with devices called as :func:`_renamed` says."""
        return ScenarioSpec.model_validate(_renamed(self.document(run)))

    def document(self, run: str) -> dict[str, Any]:
        """The scenario as data, with the study's names."""
        study = self.study
        if run in self._cases:
            case = self._cases[run]
            arrays = {} if case.array is None else {ARRAY_NAME: study.arrays[case.array]}
            spec = RunSpec(kernel=case.kernel, workload=dd_of(study, case))
            used = used_devices(study, case.targets, arrays)
        else:
            spec, arrays = study.runs[run], {}
            used = used_devices(study, devices_of(spec))
        arrays.update({name: array for name, array in study.arrays.items() if name in used})
        workload = spec.workload
        if spec.processes is not None:
            workload = workload.model_copy(update={"processes": spec.processes})
        document: dict[str, Any] = {
            "name": run,
            "machine": self._machine(spec, arrays, used),
            "kernel": spec.kernel,
            "path_length": self._parts.path_lengths.get(spec.kernel, 1.0),
            "arrays": arrays,
            "encrypted": {name: layer for name, layer in self._parts.encrypted.items() if name in used},
            "volumes": {name: volume for name, volume in study.volumes.items() if name in used},
            "workload": workload,
        }
        if spec.file_systems:
            mounted = spec.file_systems.items()
            document["file_systems"] = {point: self._parts.file_system(each) for point, each in mounted}
        if spec.read_ahead is not None:
            document["read_ahead"] = spec.read_ahead
        return document

    def _machine(self, run: RunSpec, arrays: Mapping[str, ArraySpec], used: set[str]) -> dict[str, Any]:
        """The machine with the drives, channels, controllers and links that a run uses."""
        machine = self._parts.machines[run.machine or ONLY]
        behind = {array.controller for array in arrays.values()}
        drives = {name: _filled(spec) for name, spec in machine["drives"].items() if name in used}
        channels = {spec["channel"] for spec in drives.values()}
        controllers = {name: spec for name, spec in machine["controllers"].items() if name in behind}
        links = {link for name in channels for link in machine["channels"][name]["links"]}
        links |= {link for spec in controllers.values() for link in spec["links"]}
        return {
            **machine,
            "drives": drives,
            "channels": {name: spec for name, spec in machine["channels"].items() if name in channels},
            "controllers": controllers,
            "links": {name: spec for name, spec in machine["links"].items() if name in links},
        }


def _filled(instance: dict[str, Any]) -> dict[str, Any]:
    """A drive of a report: flash that was written once in order, unless the study gives another `state`.

    Reports measure arrays that are new or have just been through their resync. A drive is in its steady state only
    after it was overwritten at random about twice. That takes hours, and a report that did it says so (SNIA Solid State
    Storage Performance Test Specification, "preconditioning").
    """
    if instance["state"] is not None:
        return instance
    entry = drive(instance["model"])
    filled = isinstance(entry, SolidStateSpec) and not entry.in_place
    return {**instance, "state": "sequential"} if filled else instance


def _renamed(document: dict[str, Any]) -> dict[str, Any]:
    """A scenario whose arrays, encrypted devices and volumes are called after their number, as their drivers do.

    Two runs on arrays that differ only in their names, or in the chunk of a level that has none, are the same.
    """
    names = {name: f"md{i}" for i, name in enumerate(document["arrays"])}
    names |= {name: f"crypt{i}" for i, name in enumerate(document["encrypted"])}
    names |= {name: f"volume{i}" for i, name in enumerate(document["volumes"])}
    arrays = {}
    for name, array in document["arrays"].items():
        changes: dict[str, Any] = {"members": tuple(names.get(member, member) for member in array.members)}
        if not LEVELS[array.level].has_chunk:
            changes["chunk"] = ArraySpec.model_fields["chunk"].default
        arrays[names[name]] = array.model_copy(update=changes)
    workload = document["workload"]
    if isinstance(workload, FioSpec):
        workload = workload.model_copy(update=_renamed_job(workload, names))
    elif not isinstance(workload, ProgramsSpec):
        workload = workload.model_copy(update={"targets": tuple(names.get(each, each) for each in workload.targets)})
    mounted = document.get("file_systems", {}).items()
    return {
        **document,
        "arrays": arrays,
        "encrypted": {
            names[name]: {**layer, "on": names.get(layer["on"], layer["on"])}
            for name, layer in document["encrypted"].items()
        },
        "volumes": {
            names[name]: volume.model_copy(update={"on": tuple(names.get(each, each) for each in volume.on)})
            for name, volume in document["volumes"].items()
        },
        "file_systems": {point: {**each, "on": names.get(each["on"], each["on"])} for point, each in mounted},
        "workload": workload,
    }


def _renamed_job(workload: FioSpec, names: Mapping[str, str]) -> dict[str, Any]:
    """What changes in jobs of fio when devices are renamed, in their text and in the values of their variables."""
    pattern = re.compile(re.escape(DEVICE) + r"([\w.-]+)")

    def renamed(text: str) -> str:
        return pattern.sub(lambda found: DEVICE + names.get(found[1], found[1]), text)

    def of_variable(name: str, value: str) -> str:
        return names.get(value, value) if f"{DEVICE}${{{name}}}" in workload.job else renamed(value)

    target = workload.target
    return {
        "job": renamed(workload.job),
        "variables": {name: of_variable(name, value) for name, value in workload.variables.items()},
        "target": target if target is None else names.get(target, target),
    }


def dd_of(study: StudyDocument, case: CaseSpec) -> DdSpec:
    """The workload of a case."""
    if study.workload is None:
        raise KeyError(f"{study.id} has no workload for its cases")
    return DdSpec(
        direction=case.direction,
        block_size=study.workload.block_size,
        size=study.workload.size,
        targets=case.targets,
    )


def devices_of(run: RunSpec) -> tuple[str, ...]:
    """Names of the devices that a run works on."""
    mounted = tuple(each.on for each in run.file_systems.values())
    return mounted if isinstance(run.workload, ProgramsSpec) else (*run.workload.targets, *mounted)


def used_devices(
    study: StudyDocument, first: Iterable[str], more_arrays: Mapping[str, ArraySpec] | None = None
) -> set[str]:
    """Names of some devices and of all that they are built of."""
    arrays = {**study.arrays, **(more_arrays or {})}
    used: set[str] = set()
    waiting = list(first)
    while waiting:
        name = waiting.pop()
        if name in used:
            continue
        used.add(name)
        if name in arrays:
            array = arrays[name]
            waiting += [*array.members, *array.spares, *((array.journal,) if array.journal is not None else ())]
        elif name in study.encrypted:
            waiting.append(study.encrypted[name].on)
        elif name in study.volumes:
            waiting += study.volumes[name].on
    return used
