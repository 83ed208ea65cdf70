"""Any workload: one load or several at the same time, dd, programs, fio, or nothing."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, ValidationError, model_validator

from ...model.files.description import BuiltWhenUsed, Duration, PositiveDuration, Spec, refusal
from .fio_jobs import FioSpec
from .load_parts import LoadsPhase, refuse_the_same_name
from .programs import ProgramsSpec
from .workloads import MOST_OUTSTANDING, DdSpec, LoadSpec, Precision, changes_refused, measured_until_known

_OF_ALL = ("warm_up", "duration", "precision", "phases")
"""Fields of a load that one of several has not: the run is the same for all."""


class NamedLoad(LoadSpec):
    """One of several loads: the fields of a load, a name, and when it is there."""

    kind: Literal["load"] = "load"

    name: str = Field(pattern=r"^[^.\s]+$")
    """What its figures are called by."""
    begin: Duration | None = None
    end: PositiveDuration | None = None
    """From when to when it is there, in simulated time of the measurement. Unless given it is there from the first
    moment of the warm-up to the end."""

    @model_validator(mode="before")
    @classmethod
    def _measured_until_known(cls, data: Any) -> Any:
        return data

    @model_validator(mode="after")
    def _of_the_run(self) -> Self:
        for field in _OF_ALL:
            if getattr(self, field) != LoadSpec.model_fields[field].default:
                raise refusal(f"{field} of one of several loads", "expected: in workload, for all loads", (field,))
        return self


class LoadsSpec(Spec):
    """Several loads at the same time, of which each has results of its own."""

    kind: Literal["several"]

    loads: tuple[NamedLoad, ...]
    """The loads. In a document they stand in the list `workloads`."""
    warm_up: Duration = 1.0
    duration: PositiveDuration = 10.0
    """Simulated time before the measurement, and of the measurement; with `precision` the least of the first (0 unless
    given), and the most of what comes after that (10 minutes unless given)."""
    precision: Precision | None = None
    """How well the throughput of each load must be known, or its mean latency if it sends at a rate (half-width of the
    90 % interval); the run goes on until each is. 5 % if nothing is given of `warm_up`, `duration` and `precision`."""
    phases: tuple[LoadsPhase, ...] = ()
    """Parts of the day, each with the loads that run then."""

    @model_validator(mode="before")
    @classmethod
    def _measured_until_known(cls, data: Any) -> Any:
        return measured_until_known(data)

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if not self.loads:
            raise refusal("no load", "expected: one or more", ("loads",))
        names = [load.name for load in self.loads]
        for i, load in enumerate(self.loads):
            if load.name in names[:i]:
                raise refusal(f"{load.name} twice", "expected: each name once", ("loads", i, "name"))
            begin, end = self.times(load)
            if not begin < end:
                field = "end" if load.end is not None else "begin"
                found = f"a load from {begin:g} s to {end:g} s of a measurement of {self.duration:g} s"
                raise refusal(found, "expected: an end after its beginning, within the duration", ("loads", i, field))
            if self.precision is not None and (load.begin is not None or load.end is not None):
                field = "begin" if load.begin is not None else "end"
                found = f"{field} of a load that is measured to a precision"
                raise refusal(
                    found, "expected: loads that are there all the time, or no precision", ("loads", i, field)
                )
        outstanding = sum(load.depth * load.jobs * len(load.targets) for load in self.loads)
        if outstanding > MOST_OUTSTANDING:
            raise refusal(
                f"{outstanding:,} I/Os outstanding", f"expected: {MOST_OUTSTANDING:,} of all loads", ("loads",)
            )
        return self

    @model_validator(mode="after")
    def _phases_fit(self) -> Self:
        refuse_the_same_name(self.phases)
        loads = {load.name for load in self.loads}
        for i, phase in enumerate(self.phases):
            if phase.name in loads:
                raise refusal(f"{phase.name}, which is a load", "expected: another name", ("phases", i, "name"))
        there = {load.name for _, _, part in self.parts() for load in part.loads}
        for i, load in enumerate(self.loads):
            if load.name not in there:
                raise refusal(f"{load.name}, which no phase has", "expected: a load of a phase", ("loads", i, "name"))
        return self

    def parts(self) -> list[tuple[str, float, LoadsSpec]]:
        """The phases: name, how long it lasts (s), and the loads during it; the loads themselves ("") without any."""
        if not self.phases:
            return [("", self.duration, self)]
        found = []
        for i, phase in enumerate(self.phases):
            fields = {
                "kind": "several",
                "loads": self._loads_of(phase, i),
                "warm_up": self.warm_up if phase.warm_up is None else phase.warm_up,
                "duration": self.duration if phase.duration is None else phase.duration,
                "precision": self.precision,
            }
            try:
                found.append((phase.name, phase.lasts, LoadsSpec.model_validate(fields)))
            except ValidationError as error:
                # Times that the phase's own duration does not have, or too many I/Os outstanding.
                context = error.errors(include_url=False)[0].get("ctx", {})
                field = "duration" if len(context["at"]) > 1 else "workloads"
                raise refusal(context["found"], context["expected"], ("phases", i, field)) from None
        return found

    def _loads_of(self, phase: LoadsPhase, number: int) -> tuple[NamedLoad, ...]:
        """The loads of a phase with its own fields."""
        if phase.workloads is None:
            return self.loads
        names = [load.name for load in self.loads]
        found: list[NamedLoad] = []
        for i, changes in enumerate(phase.workloads):
            place = ("phases", number, "workloads", i)
            if changes.name not in names:
                raise refusal(f"unknown load {changes.name!r}", f"expected: {', '.join(names)}", (*place, "name"))
            if changes.name in [load.name for load in found]:
                raise refusal(f"{changes.name} twice", "expected: each load once", (*place, "name"))
            which = names.index(changes.name)
            mine = self.loads[which].model_dump(exclude_none=True, exclude={"phases"})
            try:
                found.append(NamedLoad.model_validate(changes.over(mine)))
            except ValidationError as error:
                raise changes_refused(error, place, ("loads", which)) from None
        return tuple(found)

    def times(self, load: NamedLoad) -> tuple[float, float]:
        """From when to when a load is there during the measurement (s)."""
        end = self.duration if load.end is None else min(load.end, self.duration)
        return load.begin or 0.0, end

    @property
    def targets(self) -> tuple[str, ...]:
        """What the loads go to, each once."""
        return tuple(dict.fromkeys(target for load in self.loads for target in load.targets))

    def changed(self, **values: Any) -> LoadsSpec:
        """The same with other values in every load."""
        return self.model_copy(update={"loads": tuple(load.model_copy(update=values) for load in self.loads)})


class IdleSpec(Spec):
    """Nothing: the machine only rebuilds or checks an array."""

    kind: Literal["idle"]

    targets: tuple[str, ...] = ()
    """Arrays that do something. Only a study has to name them, whose runs have the devices that they use."""
    warm_up: Duration = 1.0
    duration: PositiveDuration = 10.0
    """Simulated time before the measurement, and of the measurement."""


def _known_kind(value: Any) -> Any:
    kind = _kind(value)
    if kind not in _KINDS:
        raise refusal(f"unknown kind {kind!r}", f"expected: {', '.join(_KINDS)}", ("kind",))
    return value


def _kind(value: Any) -> str:
    """Which workload a document describes; dd unless it says so."""
    return str(value.get("kind", "dd")) if isinstance(value, dict) else str(getattr(value, "kind", "dd"))


_KINDS = ("dd", "load", "several", "programs", "fio", "idle")

Workload = Annotated[
    Annotated[DdSpec, BuiltWhenUsed(), Tag("dd")]
    | Annotated[LoadSpec, BuiltWhenUsed(), Tag("load")]
    | Annotated[LoadsSpec, BuiltWhenUsed(), Tag("several")]
    | Annotated[ProgramsSpec, BuiltWhenUsed(), Tag("programs")]
    | Annotated[FioSpec, BuiltWhenUsed(), Tag("fio")]
    | Annotated[IdleSpec, BuiltWhenUsed(), Tag("idle")],
    Discriminator(_kind),
    BeforeValidator(_known_kind),
]
"""Any workload."""
