"""Fitted parameters: which values their paths name, and the study's parts with factors applied."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from ...model.files.description import Duration, Frequency, Rate, Size
from ...model.kernels import kernel_names
from ...scenarios.description.file_systems import FileSystemSpec
from ...scenarios.description.machine import MachineSpec
from .document import StudyDocument
from .possible_values import field_marks, is_of, possible_value

PATHS = (
    "machine.links.NAME.rate, machine.channels.NAME.rate, machine.cpu.prices.NAME, machine.drives.NAME.FIELD, "
    "machine.controllers.NAME.FIELD, machine.memory, machine.resident (with several machines: machines.NAME instead "
    "of machine), encrypted.NAME.rate, file_systems.KIND.FIELD, kernels.NAME.path_length"
)
"""What a parameter may stand for, in words."""

ONLY = "machine"
"""What the machine of a study with a single one is called inside."""

_UNITS = ((Size, "bytes"), (Duration, "s"), (Rate, "bytes/s"), (Frequency, "Hz"))
_CATALOGUED = ("drives", "controllers")
"""Parts whose values are those of a catalogue's entry, with overrides."""


def value_at(study: StudyDocument, path: str, factor: float | None = None) -> Any:
    """The value that a parameter's path names, in SI units; a kernel's path length is 1.

    With a factor: the value times that, as a machine can have it (:mod:`.possible_values`).

    Raises
    ------
    KeyError, AttributeError
        If it names nothing.
    """
    owner, key = _named(study, path)
    if factor is not None:
        return possible_value(owner, key, factor)
    return owner[key] if isinstance(owner, dict) else getattr(owner, key)


def unit_at(study: StudyDocument, path: str) -> str:
    """The unit of the value that a parameter's path names: bytes, s, bytes/s, Hz, cycles, or none."""
    owner, key = _named(study, path)
    if not isinstance(owner, BaseModel):
        return ""
    if key.endswith("_cycles"):
        return "cycles"
    marks = field_marks(type(owner), key)
    return next((unit for kind, unit in _UNITS if is_of(kind, marks)), "")


def _named(study: StudyDocument, path: str) -> tuple[Any, str]:
    """What holds the value that a path names, and its key there."""
    keys = path.split(".")
    if keys[0] == "kernels" and keys[-1] == "path_length" and ".".join(keys[1:-1]) in kernel_names():
        return {"path_length": 1.0}, "path_length"
    if keys[0] == "encrypted" and len(keys) == 3:
        return study.encrypted[keys[1]], keys[2]
    if keys[0] == "file_systems" and len(keys) == 3:
        return _mounted(study, keys[1]).settings(), keys[2]
    name, rest = _machine_path(keys)
    machine = study.machine if name == ONLY else study.machines[name]
    return _of_machine(machine, rest)


def _mounted(study: StudyDocument, kind: str) -> FileSystemSpec:
    """A file system of a kind, as the first run that has one mounts it."""
    mounted = (each for run in study.runs.values() for each in run.file_systems.values() if each.kind == kind)
    try:
        return next(mounted)
    except StopIteration:
        raise KeyError(kind) from None


def _machine_path(keys: list[str]) -> tuple[str, list[str]]:
    """The machine's name, and the keys inside it."""
    if keys[0] == "machine" and len(keys) > 1:
        return ONLY, keys[1:]
    if keys[0] == "machines" and len(keys) > 2:
        return keys[1], keys[2:]
    raise KeyError(".".join(keys))


def _of_machine(machine: MachineSpec, keys: list[str]) -> tuple[Any, str]:
    if keys[0] in _CATALOGUED:
        part, name, field = keys
        return getattr(machine, part)[name].spec(), field
    here: Any = machine
    for key in keys[:-1]:
        here = here[key] if isinstance(here, dict) else getattr(here, key)
    return here, keys[-1]


class ChangedParts:
    """The parts of a study with factors applied, as plain data.

    Parameters
    ----------
    study
        The study.
    factors
        Factor by parameter name; 1 where a parameter is not named.

    Attributes
    ----------
    machines, encrypted
        By name; the machine of a study with only one is :data:`ONLY`.
    path_lengths
        Factor by kernel.
    """

    def __init__(self, study: StudyDocument, factors: dict[str, float]) -> None:
        self.machines: dict[str, dict[str, Any]] = {name: m.model_dump() for name, m in study.machines.items()}
        if study.only_machine is not None:
            self.machines[ONLY] = study.only_machine.model_dump()
        self.encrypted: dict[str, dict[str, Any]] = {name: e.model_dump() for name, e in study.encrypted.items()}
        self.path_lengths: dict[str, float] = {}
        self._file_systems: dict[str, dict[str, float]] = {}
        together: dict[str, float] = {}
        for parameter in study.parameters:
            for path in parameter.paths:
                together[path] = together.get(path, 1.0) * factors.get(parameter.name, 1.0)
        for path, factor in together.items():
            self._apply(study, path, factor)

    def _apply(self, study: StudyDocument, path: str, factor: float) -> None:
        keys = path.split(".")
        if keys[0] == "file_systems":
            self._file_systems.setdefault(keys[1], {})[keys[2]] = factor
            return
        value = value_at(study, path, factor)
        if keys[0] == "kernels":
            self.path_lengths[".".join(keys[1:-1])] = value
        elif keys[0] == "encrypted":
            self.encrypted[keys[1]][keys[2]] = value
        else:
            name, rest = _machine_path(keys)
            here = self.machines[name]
            if rest[0] in _CATALOGUED:
                here[rest[0]][rest[1]]["overrides"][rest[2]] = value
                return
            for key in rest[:-1]:
                here = here[key]
            here[rest[-1]] = value

    def file_system(self, mounted: FileSystemSpec) -> dict[str, Any]:
        """A mounted file system with the factors on its kind."""
        changed: dict[str, Any] = mounted.model_dump()
        for field, factor in self._file_systems.get(mounted.kind, {}).items():
            changed["overrides"][field] = possible_value(mounted.settings(), field, factor)
        return changed
