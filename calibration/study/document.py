"""A study as it is written: what its file may hold. :mod:`.study` checks that it all fits together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from ...model.core.exact_sums import sum_in_order
from ...model.files.description import Fraction, PositiveSize, Spec, refusal
from ...model.kernels import KernelName
from ...scenarios.description.any_workload import Workload
from ...scenarios.description.arrays import ArraySpec, EncryptedSpec, VolumeSpec
from ...scenarios.description.file_systems import FileSystemSpec
from ...scenarios.description.machine import MachineSpec
from .expansion import expanded_study
from .figures import Unit

Use = Literal["calibrate", "predict"]
Report = Literal["seed", "further", "modern", "drive"]
"""Groups of studies; see :attr:`StudyDocument.report`."""


class SourceSpec(Spec):
    """Where the numbers are from."""

    author: str
    """Who measured."""
    date: str
    """When it was published."""
    where: str
    """Where it can be found."""
    notes: str
    """What else is to be known of it."""


class Conventions(Spec):
    """Bytes in the report's units; those that it uses."""

    MB: int | None = Field(default=None, gt=0)
    """Bytes of the report's MB: 1,000,000 or 1,048,576."""
    KB: int | None = Field(default=None, gt=0)
    """Bytes of its KB: 1,000 or 1,024."""


class WorkloadSpec(Spec):
    """What the cases of the study run: dd with this block size, over this much of every target."""

    block_size: PositiveSize
    """dd's ``bs``."""
    size: PositiveSize
    """Of each target."""


class CaseSpec(Spec):
    """One measured run of dd on raw devices, in one line: a run and its cell."""

    id: str = Field(min_length=1)
    """Name of the run and its cell."""
    use: Use
    """Whether it may be fitted to."""
    kernel: KernelName
    """Name in the catalogue of kernels."""
    direction: Literal["read", "write"]
    """Of dd."""
    targets: tuple[str, ...] = Field(min_length=1)
    """Drives, or ``md0`` for the array named by `array`."""
    array: str | None = None
    """The array that ``md0`` is."""
    seconds: float = Field(gt=0)
    rate: float = Field(gt=0)
    """What was measured: elapsed seconds, and the report's MB/s."""


class RunSpec(Spec):
    """One simulation, which gives many figures."""

    machine: str | None = None
    """One of `machines`; not where the study has only one."""
    kernel: KernelName
    """Name in the catalogue of kernels."""
    file_systems: dict[str, FileSystemSpec] = Field(default_factory=dict)
    """What is mounted, by mount point."""
    workload: Workload
    """In a file: a whole workload, or the name of one of the study's `workloads`."""
    processes: int | None = Field(default=None, ge=1, le=1000)
    """Of a workload of programs, instead of the number it has."""
    read_ahead: PositiveSize | None = None
    """Of every mounted device (``blockdev --setra``, ``vfs.read_max``); the kernel's unless given."""
    after: tuple[str, ...] = ()
    """Of tiobench: the runs that tiobench.pl made before this one, in order. Up to 0.3.2 it adds their amounts and
    times to those of the line it prints."""
    whole: bool = False
    """Simulated at its full size for comparison, not at a scale: what is said of it is a small difference at its
    end."""
    repetitions: int = Field(default=1, ge=1, le=100)
    """Number of runs whose mean is compared and fitted, each with its own random numbers: the report has such a mean,
    or chance, as the angles of spindles and where a directory comes to lie, decides much of its number."""

    @model_validator(mode="after")
    def _processes_of_programs(self) -> Self:
        if self.processes is not None and self.workload.kind != "programs":
            found = f"processes of a {self.workload.kind} workload"
            raise refusal(found, "expected: with kind programs", ("processes",))
        return self


class CellSpec(Spec):
    """One measured number: a figure of a run, as the report prints it."""

    id: str = Field(min_length=1)
    """Its name."""
    use: Use
    """Whether it may be fitted to."""
    run: str
    """The run that gives it."""
    figure: str
    """Which figure of that run."""
    measured: float = Field(ge=0)
    """The number as printed. A 0 has no ratio, so it is compared by its difference, and is not fitted to."""
    unit: Unit
    """Its unit, as the conventions have it."""
    within: float | None = Field(default=None, gt=0)
    """Largest prediction that agrees with a measured 0, in the cell's unit: what the report would print as 0."""

    @model_validator(mode="after")
    def _comparable(self) -> Self:
        if self.measured and self.within is not None:
            raise refusal(f"within beside a measured {self.measured:g}", "expected: with a measured 0", ("within",))
        if not self.measured and self.within is None:
            found = "a measured 0 without within"
            raise refusal(found, "expected: within, the largest prediction that agrees with it", ("within",))
        if not self.measured and self.use == "calibrate":
            raise refusal("calibrate of a measured 0, which has no ratio", "expected: predict", ("use",))
        return self


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


FigureNames = Annotated[tuple[str, ...], BeforeValidator(_as_list), Field(min_length=1)]
"""``RUN:FIGURE``, or a list of them."""


def _paired(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    if len(left) != len(right):
        raise refusal(f"{len(left)} on the left and {len(right)} on the right", "expected: as many of both")
    return tuple(zip(left, right, strict=True))


def _mean_ratio(pairs: Iterable[tuple[str, str]], figures: Callable[[str], float]) -> float:
    ratios = [_ratio(figures(left), figures(right)) for left, right in pairs]
    return sum_in_order(ratios) / len(ratios)


def _ratio(left: float, right: float) -> float:
    """Left over right; infinite over a 0, and of two zeros no number, which is in no bounds."""
    if right:
        return left / right
    return math.inf if left else math.nan


class PairsSpec(Spec):
    """Figures and what they are divided by: ``RUN:FIGURE`` each, or as many of both."""

    left: FigureNames
    right: FigureNames
    """The figures, and what they are divided by."""

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        _paired(self.left, self.right)
        return self

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """One of the left and one of the right each."""
        return _paired(self.left, self.right)


class ClaimSpec(Spec):
    """An ordering or a ratio that the report states in words."""

    id: str = Field(min_length=1)
    """Its name."""
    gist: str
    where: str
    """What it says, and where in the source."""
    left: FigureNames
    right: FigureNames
    """``RUN:FIGURE`` each, or as many of both."""
    ratio: tuple[float | None, float | None]
    """What left/right (the mean of the ratios) lies within; null: no bound."""
    against: PairsSpec | None = None
    """Pairs whose mean ratio the other is divided by: it gains more here than there. Not to be fitted to."""
    use: Use = "predict"
    """Whether it may be fitted to: then the fit pays for how far it is beyond a bound."""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        _paired(self.left, self.right)
        if self.against is not None and self.use == "calibrate":
            raise refusal("use: calibrate beside against", "expected: one of them", ("use",))
        low, high = self.ratio
        if low is None and high is None:
            raise refusal("no bound", "expected: a number in one place at least", ("ratio",))
        if not 0 <= (low or 0) <= (float("inf") if high is None else high):
            raise refusal(f"{low} to {high}", "expected: from a number, 0 or more, up to one no smaller", ("ratio",))
        return self

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All that is divided by each other, of `against` too."""
        own = _paired(self.left, self.right)
        return own if self.against is None else own + self.against.pairs

    def value(self, figures: Callable[[str], float]) -> float:
        """The mean ratio, over that of `against`, from the figure of each name."""
        own = _mean_ratio(_paired(self.left, self.right), figures)
        return own if self.against is None else _ratio(own, _mean_ratio(self.against.pairs, figures))

    def allows(self, ratio: float) -> bool:
        """Whether a ratio lies within the bounds."""
        low, high = self.ratio
        return (low is None or ratio >= low) and (high is None or ratio <= high)


class MissingSpec(Spec):
    """A number of the report that no run gives yet, and what it needs."""

    id: str = Field(min_length=1)
    """Its name."""
    use: Use = "predict"
    """What it would be used for."""
    measured: float | None = None
    """The number as printed."""
    unit: Unit | None = None
    """Its unit."""
    needs: str = Field(min_length=1)
    """What the model, or the report, has not."""


class ParameterSpec(Spec):
    """A fitted parameter: a factor on the values at `paths`, with a ln-normal prior of standard deviation `sd`."""

    name: str
    """Shown with the fit."""
    paths: tuple[str, ...] = Field(min_length=1)
    """The values that it multiplies."""
    sd: Fraction
    """Standard deviation of the prior of ln(factor)."""
    reason: str
    """Why it is as uncertain as that."""

    @field_validator("sd")
    @classmethod
    def _above_zero(cls, value: float) -> float:
        if not value > 0:
            raise refusal("0", "expected: above 0 %")
        return value


class SuspectSpec(Spec):
    """What is thought to be missing in the model where cells come out wrong, or claims do not hold."""

    cases: tuple[str, ...] = ()
    """Ids of cases."""
    cells: tuple[str, ...] = ()
    """Ids of cells."""
    claims: tuple[str, ...] = ()
    """Ids of claims."""
    mechanism: str
    """What is thought to be missing."""

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if not self.names:
            raise refusal("a suspect of nothing", "expected: ids in cells, cases or claims")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of all it is suspected of."""
        return (*self.cases, *self.cells, *self.claims)


class StudyDocument(Spec):
    """A benchmark report as its file has it; the parts may still not fit together."""

    id: str
    """Its name, the file's."""
    title: str
    """The report's."""
    report: Report = "further"
    """"seed": one of the five reports that the model is judged by; "modern": one on arrays of 2015 and later; "drive":
    one on single drives. :func:`.study.chosen_studies` takes the last two only when asked. "further": any other."""
    source: SourceSpec
    """Where it is from."""
    conventions: Conventions = Conventions()
    """What the report's units mean."""
    only_machine: MachineSpec | None = Field(default=None, alias="machine")
    machines: dict[str, MachineSpec] = Field(default_factory=dict)
    """The machine (`machine` in a file), or several by name."""
    arrays: dict[str, ArraySpec] = Field(default_factory=dict)
    encrypted: dict[str, EncryptedSpec] = Field(default_factory=dict)
    volumes: dict[str, VolumeSpec] = Field(default_factory=dict)
    """By name; a run has those that it uses."""
    workload: WorkloadSpec | None = None
    cases: tuple[CaseSpec, ...] = ()
    """Runs of dd on raw devices, one line each."""
    workloads: dict[str, Workload] = Field(default_factory=dict)
    """That several runs have, by name."""
    runs: dict[str, RunSpec] = Field(default_factory=dict)
    cells: tuple[CellSpec, ...] = ()
    """What is simulated, and the measured numbers."""
    claims: tuple[ClaimSpec, ...] = ()
    """Orderings and ratios that it states in words."""
    parameters: tuple[ParameterSpec, ...] = ()
    """What is fitted."""
    suspects: tuple[SuspectSpec, ...] = ()
    """What comes out wrong, and why it may."""
    missing: tuple[MissingSpec, ...] = ()
    """Numbers of the report that no run gives."""

    @model_validator(mode="before")
    @classmethod
    def _written_out(cls, data: Any) -> Any:
        return expanded_study(data) if isinstance(data, dict) else data

    @property
    def machine(self) -> MachineSpec:
        """The machine of a study that has one."""
        if self.only_machine is None:
            raise KeyError(f"{self.id} has several machines")
        return self.only_machine

    def machine_of(self, run: RunSpec) -> MachineSpec:
        """The machine that a run is on."""
        return self.machine if run.machine is None else self.machines[run.machine]
