"""Designs to compare: every combination of some values in a scenario, and those that cannot be, with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from ...model.core.errors import InputError
from ..description.any_workload import LoadsSpec
from ..description.arrays import NONE
from ..description.devices import Devices
from ..description.scenario import ScenarioSpec
from ..description.workloads import LoadSpec
from ..documents.document import Document

MOST_DESIGNS = 64
_MOST_VALUES = 4
"""Differences that a scenario of a list is called by."""
_SPAN_UNIT = 1 << 20


SCENARIO = "scenario"
"""The path of a design that is a whole scenario; the value is the scenario's name."""


@dataclass(frozen=True)
class Design:
    """One of the scenarios that are compared.

    Attributes
    ----------
    number
        From 1.
    values
        What is special about it, by path or alias.
    spec
        The scenario; None if it cannot be.
    refused
        Why it cannot be.
    """

    number: int
    values: dict[str, Any]
    spec: ScenarioSpec | None
    refused: str | None = None

    @property
    def name(self) -> str:
        """Its values in words; those of a single design are those of the scenario."""
        return " ".join(_with_path(path, value) for path, value in self.values.items()) or "as it is"

    @property
    def label(self) -> str:
        """The values, each with the last word of its path unless it is a name, such as that of a layout."""
        return " ".join(_short(path, value) for path, value in self.values.items()) or "as it is"


def designs_of(document: Document, varied: Sequence[tuple[str, list[Any]]]) -> list[Design]:
    """All combinations of the varied values, the last one varying fastest.

    Raises
    ------
    InputError
        If a path means nothing or stands there twice, or there are too many combinations. A combination that makes no
        scenario is none of these: it is a design that is refused.
    """
    paths = [path for path, _ in varied]
    for i, path in enumerate(paths):
        if path in paths[:i]:
            raise InputError(f"--vary {path}", "found twice", "expected: all values of it in one --vary")
    count = prod(len(values) for _, values in varied)
    if count > MOST_DESIGNS:
        raise InputError("--vary", f"{count} combinations", f"expected: up to {MOST_DESIGNS} designs")
    for path, values in varied:
        _check_means_something(document, path, values)
    combinations = product(*(values for _, values in varied))
    return [
        _design(document, number, dict(zip(paths, values, strict=True)))
        for number, values in enumerate(combinations, start=1)
    ]


def _check_means_something(document: Document, path: str, values: Sequence[Any]) -> None:
    """Refuse a path that no value makes sense of."""
    first: InputError | None = None
    for value in values:
        try:
            document.changed({path: value}, "--vary")
        except InputError as refusal:
            first = first or refusal
        else:
            return
    if first is not None:
        raise first


def _design(document: Document, number: int, values: dict[str, Any]) -> Design:
    try:
        return Design(number, values, document.changed(values, "--vary").spec())
    except InputError as refusal:
        return Design(number, values, None, str(refusal))


def differences(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """What differs between documents, by path; numbers where that is too much, or nothing."""
    flat = [dict(_leaves(each.data, ())) for each in documents]
    known = list(dict.fromkeys(path for each in flat for path in each))
    different = [path for path in known if len({repr(each.get(path)) for each in flat}) > 1]
    if not 0 < len(different) <= _MOST_VALUES:
        return [{SCENARIO: f"{each.title} {place}"} for place, each in enumerate(documents, start=1)]
    return [{path: each.get(path) for path in different} for each in flat]


def _leaves(data: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if isinstance(data, Mapping):
        for key, inner in data.items():
            yield from _leaves(inner, (*path, str(key)))
    else:
        yield ".".join(path), data


def on_common_span(designs: Sequence[Design]) -> tuple[list[Design], int | None]:
    """The designs with the same requests: on as many bytes as the smallest of them has.

    Returns
    -------
    designs, span
        The span is None if every load has one of its own, or if nothing is a load of direct I/O.
    """
    specs = [design.spec for design in designs if design.spec is not None]
    rooms = [_room(spec, load) for spec in specs for load in _loads(spec) if load.span is None]
    if not rooms:
        return list(designs), None
    span = min(rooms)
    span = span // _SPAN_UNIT * _SPAN_UNIT or span
    found = []
    for design in designs:
        spec = design.spec
        if spec is not None:
            spec = _on_span(spec, span)
        found.append(replace(design, spec=spec))
    return found, span


def _loads(spec: ScenarioSpec) -> tuple[LoadSpec, ...]:
    """The loads of direct I/O of a scenario."""
    workload = spec.workload
    if isinstance(workload, LoadsSpec):
        return workload.loads
    return (workload,) if isinstance(workload, LoadSpec) else ()


def _on_span(spec: ScenarioSpec, span: int) -> ScenarioSpec:
    """The scenario with its loads on the first `span` bytes, unless they have a span of their own."""
    workload = spec.workload
    if isinstance(workload, LoadsSpec):
        loads = tuple(
            load if load.span is not None else load.model_copy(update={"span": span}) for load in workload.loads
        )
        return spec.model_copy(update={"workload": workload.model_copy(update={"loads": loads})})
    if isinstance(workload, LoadSpec) and workload.span is None:
        return spec.model_copy(update={"workload": workload.model_copy(update={"span": span})})
    return spec


def _room(spec: ScenarioSpec, load: LoadSpec) -> int:
    devices = Devices.of(spec)
    return min(devices.capacity(target) for target in load.targets) - load.start


def _with_path(path: str, value: Any) -> str:
    """A value with its path; a whole scenario is called by its name."""
    return str(value) if path == SCENARIO else f"{path}={shown(value)}"


def _short(path: str, value: Any) -> str:
    if path == SCENARIO:
        return str(value)
    if isinstance(value, str) and (value[:1].isalpha() or " x " in value) and value != NONE:
        return value
    words = [word for word in path.split(".") if not word.isdecimal()]
    return f"{words[-1]}={shown(value)}"


def shown(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return " ".join(f"{name}:{shown(inner)}" for name, inner in value.items())
    return value if isinstance(value, str) else json.dumps(value, default=str)
