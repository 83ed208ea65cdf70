"""Any workload: one load or several at the same time, dd, programs, fio, or nothing."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from ...model.files.description import Duration, PositiveDuration, Spec, refusal
from .fio_jobs import FioSpec
from .programs import ProgramsSpec
from .workloads import MOST_OUTSTANDING, DdSpec, LoadSpec, Precision, longer_with_precision

_OF_ALL = ("warm_up", "duration", "precision", "phases")
"""Fields of a load that one of several has not: the run is the same for all."""


class NamedLoad(LoadSpec):
    """One of several loads: the fields of a load, a name, and when it is there.

    Attributes
    ----------
    name
        What its figures are called by.
    begin, end
        From when to when it is there, in simulated time of the measurement. Unless given it is there from the first
        moment of the warm-up to the end.
    """

    kind: Literal["load"] = "load"
    name: str = Field(pattern=r"^[^.\s]+$")
    begin: Duration | None = None
    end: PositiveDuration | None = None

    @model_validator(mode="after")
    def _of_the_run(self) -> Self:
        for field in _OF_ALL:
            if getattr(self, field) != LoadSpec.model_fields[field].default:
                allowed = "expected: none" if field == "phases" else "expected: in workload, for all loads"
                raise refusal(f"{field} of one of several loads", allowed, (field,))
        return self


class LoadsSpec(Spec):
    """Several loads at the same time, of which each has results of its own.

    Attributes
    ----------
    loads
        The loads. In a document they stand in the list `workloads`.
    warm_up, duration
        Simulated time before the measurement, and of the measurement; with `precision` the least of the first, and
        the longest of both together.
    precision
        How well the throughput of each load must be known, or its mean latency if it sends at a rate (half-width of the
        90 % interval); the run goes on until each is.
    """

    kind: Literal["several"]
    loads: tuple[NamedLoad, ...]
    warm_up: Duration = 1.0
    duration: PositiveDuration = 10.0
    precision: Precision | None = None

    @model_validator(mode="before")
    @classmethod
    def _longer_with_precision(cls, data: Any) -> Any:
        return longer_with_precision(data)

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
    """Nothing: the machine only rebuilds or checks an array.

    Attributes
    ----------
    targets
        Arrays that do something. Only a study has to name them, whose runs have the devices that they use.
    warm_up, duration
        Simulated time before the measurement, and of the measurement.
    """

    kind: Literal["idle"]
    targets: tuple[str, ...] = ()
    warm_up: Duration = 1.0
    duration: PositiveDuration = 10.0


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
    Annotated[DdSpec, Tag("dd")]
    | Annotated[LoadSpec, Tag("load")]
    | Annotated[LoadsSpec, Tag("several")]
    | Annotated[ProgramsSpec, Tag("programs")]
    | Annotated[FioSpec, Tag("fio")]
    | Annotated[IdleSpec, Tag("idle")],
    Discriminator(_kind),
    BeforeValidator(_known_kind),
]
"""Any workload."""
