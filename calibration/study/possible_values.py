"""A described number times a factor, as a machine can have it.

Memory comes in whole pages, the buffers of drives and controllers in whole sectors, the extents of a file system in
whole blocks, and heads or cache segments in whole numbers. Everything that applies a factor to a description does it
here, so that a fit, a prediction, a report and a sensitivity speak of the same machine.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from ...model.file_system import FileSystemSettings
from ...model.files.description import Fraction, Size
from ...scenarios.description.machine import PAGE, MachineSpec

SECTOR = 512
"""Bytes."""


def possible_value(owner: Any, field: str, factor: float) -> Any:
    """Return a field's value times a factor, as its type allows it.

    A size is rounded down to whole units, so that a part stays within its whole. A count becomes the nearest whole
    number. A value beyond a bound of the field becomes the bound.

    Parameters
    ----------
    owner
        The description that has the field, or a mapping with a plain number.
    field
        Its name.
    factor
        Above 0.

    Returns
    -------
    int or float
        An int, one unit or more, where the described value is one.
    """
    if not isinstance(owner, BaseModel):
        return owner[field] * factor
    value, marks = getattr(owner, field), field_marks(type(owner), field)
    if not isinstance(value, int):
        return _within(value * factor, marks, 1.0 if is_of(Fraction, marks) else math.inf)
    if not is_of(Size, marks):
        return _within(max(1, round(value * factor)), marks, math.inf)
    unit = _unit(owner, value)
    return max(1, math.floor(value * factor / unit)) * unit


def field_marks(kind: type[BaseModel], field: str) -> list[Any]:
    """Return what annotates a field's type, or the members of a union of types."""
    described = kind.model_fields[field]
    return [*described.metadata, *_annotations(described.annotation)]


def is_of(kind: Any, marks: Iterable[Any]) -> bool:
    """Whether a field with these marks is of an annotated type, such as a size."""
    own = set(get_args(kind)[1:])
    return any(isinstance(mark, Hashable) and mark in own for mark in marks)


def _annotations(annotation: Any) -> list[Any]:
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return list(parts[1:])
    return [each for part in parts for each in _annotations(part)]


def _unit(owner: BaseModel, value: int) -> int:
    """Bytes that a size is a whole number of; 1 where the described size is no whole number of sectors."""
    if isinstance(owner, MachineSpec):
        return PAGE
    usual = owner.block if isinstance(owner, FileSystemSettings) else SECTOR
    return next((unit for unit in (usual, SECTOR) if value % unit == 0), 1)


def _within(value: float, marks: Iterable[Any], most: float) -> float:
    """The nearest value that the bounds of a field include."""
    for mark in marks:
        value = max(value, getattr(mark, "ge", value))
        value = min(value, getattr(mark, "le", value))
    return min(value, most)
