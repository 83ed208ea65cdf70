"""A study: one published benchmark report as data, every cell of it a case.

Each case is marked ``calibrate`` or ``predict`` in the file, before anything is fitted. Cells that the model cannot
predict yet are cases too, with what they need; they are reported as missing.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from ..model.errors import InputError
from ..model.kernels import KernelName, kernel_names
from ..model.spec import Fraction, PositiveSize, Spec, refusal
from ..model.spec_errors import load_spec
from ..scenarios.arrays import ArraySpec
from ..scenarios.machine import MachineSpec
from ..scenarios.scenario import Devices, ScenarioSpec
from ..scenarios.workloads import DdSpec

_FOLDER = Path(__file__).parent / "studies"
ARRAY_NAME = "md0"
"""What an array is called in a case's targets."""

Use = Literal["calibrate", "predict"]


class SourceSpec(Spec):
    """Where the numbers are from."""

    author: str
    date: str
    where: str
    notes: str


class Conventions(Spec):
    """What the report means by its units."""

    MB: int = Field(gt=0)
    """Bytes in the report's MB."""


class CaseSpec(Spec):
    """One measured run of dd: a cell of the report.

    Attributes
    ----------
    targets
        Drives, or ``md0`` for the array named by `array`.
    seconds, rate
        What was measured: elapsed seconds, and the report's MB/s.
    """

    id: str = Field(min_length=1)
    use: Use
    kernel: KernelName
    direction: Literal["read", "write"]
    targets: tuple[str, ...] = Field(min_length=1)
    array: str | None = None
    seconds: float = Field(gt=0)
    rate: float = Field(gt=0)


class OpenCaseSpec(Spec):
    """A cell that cannot be predicted yet, and what that needs."""

    id: str = Field(min_length=1)
    use: Use
    megabytes: float = Field(gt=0)
    seconds: float = Field(gt=0)
    rate: float = Field(gt=0)
    needs: str


class ParameterSpec(Spec):
    """A fitted parameter: a factor on the values at `paths`, with a ln-normal prior of standard deviation `sd`."""

    name: str
    paths: tuple[str, ...] = Field(min_length=1)
    sd: Fraction
    reason: str

    @field_validator("sd")
    @classmethod
    def _above_zero(cls, value: float) -> float:
        if not value > 0:
            raise refusal("0", "allowed: above 0 %")
        return value


class SuspectSpec(Spec):
    """What is thought to be missing in the model where cases come out wrong."""

    cases: tuple[str, ...] = Field(min_length=1)
    mechanism: str


class WorkloadSpec(Spec):
    """What the cases of the study run: dd with this block size, over this much of every target."""

    block_size: PositiveSize
    size: PositiveSize


class StudySpec(Spec):
    """A benchmark report as data."""

    id: str
    title: str
    source: SourceSpec
    conventions: Conventions
    workload: WorkloadSpec
    machine: MachineSpec
    arrays: dict[str, ArraySpec] = Field(default_factory=dict)
    parameters: tuple[ParameterSpec, ...] = ()
    cases: tuple[CaseSpec, ...]
    open_cases: tuple[OpenCaseSpec, ...] = ()
    suspects: tuple[SuspectSpec, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        Devices(self.machine, self.arrays).check()
        _unique("cases", [case.id for case in self.cases])
        _unique("open_cases", [*(case.id for case in self.cases), *(case.id for case in self.open_cases)])
        _unique("parameters", [fitted.name for fitted in self.parameters])
        for i, parameter in enumerate(self.parameters):
            for path in parameter.paths:
                self._check_path(path, ("parameters", i))
        for i, case in enumerate(self.cases):
            self._check_case(case, ("cases", i))
        known = {case.id for case in self.cases}
        for i, suspect in enumerate(self.suspects):
            for name in suspect.cases:
                if name not in known:
                    raise refusal(f"unknown case {name!r}", "allowed: ids of cases", ("suspects", i, "cases"))
        return self

    def _check_case(self, case: CaseSpec, at: tuple[str | int, ...]) -> None:
        if case.array is not None and case.array not in self.arrays:
            raise refusal(f"unknown array {case.array!r}", f"allowed: {', '.join(self.arrays)}", (*at, "array"))
        known = (*self.machine.drives, *((ARRAY_NAME,) if case.array is not None else ()))
        for target in case.targets:
            if target not in known:
                raise refusal(f"unknown target {target!r}", f"allowed: {', '.join(known)}", (*at, "targets"))
            room = self._capacity(case.array if target == ARRAY_NAME else None, target)
            if self.workload.size > room:
                found = f"the workload's {self.workload.size} bytes on {target}, which has {room}"
                raise refusal(found, "allowed: within the device", (*at, "targets"))
        stated = case.rate * case.seconds * self.conventions.MB
        moved = self.workload.size * len(case.targets)
        if abs(math.log(stated / moved)) > 0.02:
            found = f"{case.seconds} s at {case.rate} MB/s are {stated:.6g} bytes"
            raise refusal(found, f"allowed: the workload's {moved} bytes within 2 %", at)

    def _capacity(self, array: str | None, target: str) -> int:
        drives = self.machine.drives
        if array is None:
            return drives[target].spec().capacity
        spec = self.arrays[array]
        return spec.layout([drives[member].spec().capacity for member in spec.members]).capacity

    def _check_path(self, path: str, at: tuple[str | int, ...]) -> None:
        try:
            value = value_at(self, path)
        except (KeyError, AttributeError):
            value = None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise refusal(
                f"{path} is no positive number of the machine or a kernel",
                "allowed: machine.links.NAME.rate, machine.channels.NAME.rate, machine.cpu.prices.NAME, "
                "machine.drives.NAME.FIELD, kernels.NAME.path_length",
                (*at, "paths"),
            )

    def suspected(self, case: str) -> str | None:
        """The mechanism suspected behind a wrong prediction of a case, if one is written down."""
        return next((suspect.mechanism for suspect in self.suspects if case in suspect.cases), None)

    @property
    def calibrate_cases(self) -> list[CaseSpec]:
        """The cases that are fitted."""
        return [case for case in self.cases if case.use == "calibrate"]


def _unique(where: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise refusal(f"{name} stands there twice", "allowed: once", (where,))
        seen.add(name)


def value_at(study: StudySpec, path: str) -> Any:
    """The value that a parameter's path names, in SI units; a kernel's path length is 1."""
    keys = path.split(".")
    if keys[0] == "kernels" and keys[-1] == "path_length" and ".".join(keys[1:-1]) in kernel_names():
        return 1.0
    if keys[0] != "machine" or len(keys) < 3:
        raise KeyError(path)
    if keys[1] == "drives":
        return getattr(study.machine.drives[keys[2]].spec(), keys[3])
    here: Any = study.machine
    for key in keys[1:]:
        here = here[key] if isinstance(here, dict) else getattr(here, key)
    return here


class CaseBuilder:
    """Scenarios of a study's cases with some factors applied.

    Parameters
    ----------
    study
        The study.
    factors
        Factor by parameter name; 1 where a parameter is not named.
    """

    def __init__(self, study: StudySpec, factors: dict[str, float]) -> None:
        self.study = study
        self._path_length: dict[str, float] = {}
        changes: dict[str, Any] = study.machine.model_dump()
        together: dict[str, float] = {}
        for parameter in study.parameters:
            for path in parameter.paths:
                together[path] = together.get(path, 1.0) * factors.get(parameter.name, 1.0)
        for path, factor in together.items():
            self._apply(changes, path, value_at(study, path) * factor)
        self._machine: dict[str, Any] = changes

    def _apply(self, machine: dict[str, Any], path: str, value: float) -> None:
        keys = path.split(".")
        if keys[0] == "kernels":
            self._path_length[".".join(keys[1:-1])] = value
            return
        if keys[1] == "drives":
            machine["drives"][keys[2]]["overrides"][keys[3]] = value
            return
        here = machine
        for key in keys[1:-1]:
            here = here[key]
        here[keys[-1]] = value

    def scenario(self, case: CaseSpec) -> ScenarioSpec:
        """The scenario of one case: only with the drives and prices it uses, so that equal ones are recognised."""
        study = self.study
        arrays = {} if case.array is None else {ARRAY_NAME: study.arrays[case.array]}
        used = {*case.targets, *(member for array in arrays.values() for member in array.members)}
        drives = {name: spec for name, spec in self._machine["drives"].items() if name in used}
        channels = {spec["channel"] for spec in drives.values()}
        prices = dict(self._machine["cpu"]["prices"])
        base = study.machine.cpu.prices
        for unused in _unused_prices(case.direction, [array.level for array in arrays.values()]):
            prices[unused] = getattr(base, unused)
        machine = {
            **self._machine,
            "cpu": {**self._machine["cpu"], "prices": prices},
            "drives": drives,
            "channels": {name: spec for name, spec in self._machine["channels"].items() if name in channels},
        }
        return ScenarioSpec(
            name=case.id,
            machine=MachineSpec.model_validate(machine),
            kernel=case.kernel,
            path_length=self._path_length.get(case.kernel, 1.0),
            arrays=arrays,
            workload=DdSpec(
                direction=case.direction,
                block_size=study.workload.block_size,
                size=study.workload.size,
                targets=case.targets,
            ),
        )


def _unused_prices(direction: str, levels: list[str]) -> list[str]:
    """Prices that a case never pays, whatever they are."""
    unused = ["write_call" if direction == "read" else "read_call"]
    if "raid1" not in levels:
        unused.append("clone")
    if not {"raid4", "raid5", "raid6"} & set(levels):
        unused += ["stripe", "xor_rate"]
    return unused


def study_names() -> list[str]:
    """The studies that come with raidsim."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def load_study(name: str) -> StudySpec:
    """A study by its name, or from a file by its path.

    Raises
    ------
    InputError
        If there is no such study, or something in the file is wrong; names file, line and field.
    """
    if name in study_names():
        return load_spec(StudySpec, _FOLDER / f"{name}.yaml")
    path = Path(name)
    if not path.exists() and path.suffix not in (".yaml", ".yml"):
        raise InputError("study", f"{name!r} is neither a study nor a file", f"allowed: {', '.join(study_names())}")
    return load_spec(StudySpec, path)
