"""A sweep as a file describes it: a scenario, what varies in it, and how often each point is run."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from ...model.core.errors import InputError
from ...model.files.description import Spec, refusal
from ...model.files.description_errors import validate
from ...model.files.yaml_files import KeyPath, Positions, parse_yaml
from ..documents.changes.merge import copied, merged, overlaid
from ..documents.changes.positions import DocumentPositions
from ..documents.document import Document, read_document
from ..documents.extends import MOST_VALUES, read_text
from ..documents.library import PREFIX, library_names
from .axes import Cell, Choices, Range, canonical, latin_hypercube

MOST_RUNS = 1_000_000
"""Runs of one sweep: at 20 a second, 14 hours on one core."""
MOST_PATHS = 64
OPTION = "sweep"
"""What errors about a value call its place."""
_LOOKED_AT = 10


def _no_truth(value: object) -> object:
    if isinstance(value, bool):
        raise refusal("true" if value else "false", "expected: a number, or a quantity with its unit")
    return value


End = Annotated[int | float | str, BeforeValidator(_no_truth)]


class RangeSpec(Spec):
    """From one end to another."""

    model_config = ConfigDict(populate_by_name=False)

    first: End = Field(alias="from")
    last: End = Field(alias="to")
    """``from`` and ``to``: two numbers, or two quantities such as "64KiB" and "1MiB"."""
    log: bool = False
    """Equal distances are equal factors."""
    step: End | None = None
    """Values are multiples of it."""

    @model_validator(mode="after")
    def _means_something(self) -> Self:
        self.axis()
        return self

    def axis(self) -> Range:
        """The values."""
        return Range(self.first, self.last, None, self.log, self.step)


class GridRangeSpec(RangeSpec):
    """The same in a number of steps."""

    steps: int = Field(ge=2, le=100_000)
    """Values, both ends included."""

    def axis(self) -> Range:
        return Range(self.first, self.last, self.steps, self.log, self.step)


def _form(value: object) -> str:
    return "range" if isinstance(value, (dict, RangeSpec)) else "list"


def _list_or_range(value: object) -> object:
    if isinstance(value, (dict, list, RangeSpec)):
        return value
    raise refusal(repr(value)[:60], "expected: a list of values, or a range with from and to")


def _checked(values: list[Any]) -> list[Any]:
    Choices(tuple(values))
    return values


_Values = Annotated[list[Any], BeforeValidator(lambda value: _checked(value) if isinstance(value, list) else value)]
_Grid = Annotated[
    Annotated[_Values, Tag("list")] | Annotated[GridRangeSpec, Tag("range")],
    Discriminator(_form),
    BeforeValidator(_list_or_range),
]
_Sampled = Annotated[
    Annotated[_Values, Tag("list")] | Annotated[RangeSpec, Tag("range")],
    Discriminator(_form),
    BeforeValidator(_list_or_range),
]


class SampleSpec(Spec):
    """Points spread over ranges at random, but evenly over each of them."""

    method: Literal["latin-hypercube"] = "latin-hypercube"
    """"latin-hypercube"."""
    points: int = Field(ge=1, le=MOST_RUNS)
    """How many; of a grid as well, this number for each of its points."""
    seed: int = Field(default=0, ge=0, lt=1 << 128)
    """The same one gives the same points."""
    ranges: dict[str, _Sampled] = Field(min_length=1, max_length=MOST_PATHS)
    """By path: ranges, or lists to choose from."""


class SweepSpec(Spec):
    """A sweep."""

    name: str | None = Field(default=None, min_length=1)
    """What to call it; the file's name unless given."""
    scenario: str | dict[str, Any]
    """A scenario file, relative to this one, a scenario of the library, or a scenario written out here."""
    vary: dict[str, _Grid] = Field(default_factory=dict, max_length=MOST_PATHS)
    """By path: lists or ranges; every combination is run."""
    sample: SampleSpec | None = None
    """Points spread over ranges."""
    replications: int = Field(default=1, ge=1, le=MOST_RUNS)
    """Runs of each point with seeds of their own."""
    figures: tuple[str, ...] = ()
    """Those that tables show, the first one first; all unless given. All are kept."""

    @model_validator(mode="after")
    def _something_varies(self) -> Self:
        if not self.vary and self.sample is None and self.replications == 1:
            raise refusal("nothing that varies", "expected: vary, sample or replications")
        for path in self.sample.ranges if self.sample is not None else ():
            if path in self.vary:
                at = ("sample", "ranges", path)
                raise refusal(f"{path}, which vary has already", "expected: each path once", at)
        sizes = [value.steps if isinstance(value, GridRangeSpec) else len(value) for value in self.vary.values()]
        points = math.prod(sizes) * (self.sample.points if self.sample is not None else 1)
        if points * self.replications > MOST_RUNS:
            found = f"{points:,} points" + (f" x {self.replications:,}" if self.replications > 1 else "")
            raise refusal(found, f"expected: {MOST_RUNS:,} runs", ("vary",) if self.vary else ("sample",))
        for i, figure in enumerate(self.figures):
            if figure in self.figures[:i]:
                raise refusal(f"{figure} twice", "expected: each figure once", ("figures", i))
        return self


class SweepPlan:
    """The points of a sweep, in a fixed order: the last path of the grid changes first, samples before that.

    Parameters
    ----------
    spec
        What the file says.
    document
        The scenario that is varied.
    name
        What the sweep is called.

    Attributes
    ----------
    paths
        What varies, the grid's first.
    points, replications
        How many there are.
    """

    def __init__(self, spec: SweepSpec, document: Document, name: str) -> None:
        self.spec = spec
        self.document = document
        self.name = name
        self._grid = {path: _axis(value) for path, value in spec.vary.items()}
        self._sampled = {} if spec.sample is None else {path: _axis(each) for path, each in spec.sample.ranges.items()}
        self._samples = 1 if spec.sample is None else spec.sample.points
        self.paths = (*self._grid, *self._sampled)
        self.points = math.prod(axis.count for axis in self._grid.values()) * self._samples
        self.replications = spec.replications
        self.figures = spec.figures

    @property
    def runs(self) -> int:
        """Points times replications."""
        return self.points * self.replications

    def values(self, point: int) -> dict[str, Any]:
        """What a scenario is changed to at a point, by path."""
        rest, sample = divmod(point, self._samples)
        values: dict[str, Any] = {}
        for path, axis in reversed(self._grid.items()):
            rest, position = divmod(rest, axis.count)
            values[path] = axis.at(position)
        values = dict(reversed(values.items()))
        for path, sampled in self._sampled.items():
            values[path] = sampled.sampled(float(self._shares[path][sample]))
        return values

    def extremes(self, path: str) -> tuple[Any, Any]:
        """Two values of a path, as different as they come."""
        if path in self._grid:
            axis = self._grid[path]
            return axis.at(0), axis.at(axis.count - 1)
        sampled = self._sampled[path]
        return sampled.sampled(0.0), sampled.sampled(math.nextafter(1.0, 0.0))

    def cells(self, values: dict[str, Any]) -> dict[str, Cell]:
        """The same as a table shows it: numbers in SI units, or text."""
        axes = {**self._grid, **self._sampled}
        return {path: axes[path].cell(value) for path, value in values.items()}

    @cached_property
    def _shares(self) -> dict[str, NDArray[np.float64]]:
        sample = self.spec.sample
        if sample is None:
            return {}
        return {path: latin_hypercube(sample.points, sample.seed, path) for path in self._sampled}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of what the points are; what it is called and which figures are shown have no part in it."""
        sample = self.spec.sample
        told = {
            "scenario": self.document.data,
            "vary": [[path, axis.told()] for path, axis in self._grid.items()],
            "sample": None if sample is None else [sample.method, sample.points, sample.seed],
            "ranges": [[path, axis.told()] for path, axis in self._sampled.items()],
            "replications": self.replications,
        }
        return hashlib.sha256(canonical(told).encode()).hexdigest()[:32]


def _axis(value: list[Any] | RangeSpec) -> Choices | Range:
    return value.axis() if isinstance(value, RangeSpec) else Choices(tuple(value))


def read_sweep(path: Path | str, sets: Mapping[str, Any] | None = None) -> SweepPlan:
    """The sweep in a file.

    Parameters
    ----------
    path
        The file.
    sets
        What is changed in its scenario, by path.

    Raises
    ------
    InputError
        About the sweep, its scenario, or a path that means nothing in it.
    """
    path = Path(path)
    data, positions = parse_yaml(read_text(path, str(path)), str(path), MOST_VALUES)
    spec = validate(SweepSpec, data, positions)
    document = _scenario(spec.scenario, path, positions).changed(sets or {})
    plan = SweepPlan(spec, document, spec.name or path.stem)
    _check_paths(plan, positions)
    _check_some_points(plan)
    return plan


def plan_of(told: Mapping[str, Any], document: Document, name: str, place: str) -> SweepPlan:
    """The sweep of a scenario that is there already.

    Parameters
    ----------
    told
        What a sweep's file would say of it, without the scenario.
    document
        The scenario.
    name
        What the sweep is called.
    place
        What errors name.

    Raises
    ------
    InputError
        About the sweep, or a path that means nothing in its scenario.
    """
    positions = Positions(place)
    plan = SweepPlan(validate(SweepSpec, {"scenario": {}, **told}, positions), document, name)
    _check_paths(plan, positions)
    _check_some_points(plan)
    return plan


def _scenario(scenario: str | dict[str, Any], path: Path, positions: Positions) -> Document:
    """The document that a sweep's file names, or holds."""
    at = ("scenario",)
    if isinstance(scenario, str):
        return _named(scenario, path, positions, at)
    lines = {inner[1:]: line for inner, line in positions.lines.items() if inner[:1] == at}
    own = DocumentPositions(positions.file, lines)
    data = copied({key: value for key, value in scenario.items() if key != "extends"})
    if "extends" in scenario:
        base = _named(scenario["extends"], path, positions, (*at, "extends"))
        whole = merged(base.data, data)
        return Document(
            str(path), whole, overlaid(DocumentPositions(base.name, base.positions.lines), own, whole, data)
        )
    return Document(str(path), data, own)


def _named(name: object, path: Path, positions: Positions, at: KeyPath) -> Document:
    """A document in the folder of the sweep's file or below it, or in the library."""
    place = f"{positions.place(at)}: field {'.'.join(map(str, at))}"
    allowed = f"expected: a file in the same folder or below it, or {PREFIX}NAME"
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise InputError(place, f"found {name!r}"[:80], allowed)
    if name.startswith(PREFIX):
        return read_document(name)
    parts = (*PurePosixPath(name).parts, *PureWindowsPath(name).parts)
    if ".." in parts or PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor:
        raise InputError(place, f"found {name!r}"[:80], allowed)
    file = path.parent / name
    if not os.path.lexists(file) and name in library_names():
        return read_document(f"{PREFIX}{name}")
    if not os.path.realpath(file).startswith(os.path.realpath(path.parent) + os.sep):
        raise InputError(place, f"{name!r} leads out of the folder"[:80], allowed)
    if not os.path.exists(file):
        raise InputError(place, f"there is no file {name!r}, and no such scenario in the library"[:120], allowed)
    return read_document(file)


def _check_paths(plan: SweepPlan, positions: Positions) -> None:
    """Refuse paths that mean nothing in the scenario, and one that another one writes over."""
    for path in plan.paths:
        key = ("vary", path) if path in plan.spec.vary else ("sample", "ranges", path)
        place = f"{positions.place(key)}: {'vary' if key[0] == 'vary' else 'sample.ranges'}"
        values = plan.extremes(path)
        plan.document.changed({path: values[0]}, place)
        if values[0] == values[1]:
            continue
        others = {other: plan.extremes(other)[0] for other in plan.paths}
        first, last = (plan.document.changed({**others, path: value}, place) for value in values)
        if first.data == last.data:
            later = [other for other in plan.paths if other != path and _hides(plan, other, path)]
            found = f"{', '.join(later) or 'another path'} changes the same"
            raise InputError(f"{place} {path}", found, "expected: each thing once")


def _check_some_points(plan: SweepPlan) -> None:
    """Refuse a sweep of which no point can be, as far as a few of them tell; others may be refused one by one."""
    refusals = []
    for point in sorted({round(i * (plan.points - 1) / _LOOKED_AT) for i in range(_LOOKED_AT + 1)}):
        try:
            plan.document.changed(plan.values(point), OPTION).spec()
        except InputError as error:
            refusals.append(error)
        else:
            return
    raise refusals[0]


def _hides(plan: SweepPlan, over: str, path: str) -> bool:
    """Whether one path writes over what another one has changed."""
    last = plan.extremes(over)[0]
    first, second = (plan.document.changed({path: value, over: last}) for value in plan.extremes(path))
    return first.data == second.data
