"""One file a program that a workload can run on files: how it is described, what its processes do, what it prints.

`program: NAME` of a step is found by the name in a class below :class:`.step.Step`; nothing else lists the programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args

from pydantic import BeforeValidator, Discriminator, Tag

from ...model.files.description import refusal
from ...model.files.plugins import Room, classes_in
from .step import Step


def _steps() -> Iterator[tuple[str, type[Step]]]:
    return ((kind.__module__, kind) for kind in classes_in(__name__) if issubclass(kind, Step))


def _name(step: type[Step]) -> str:
    names = get_args(step.model_fields["program"].annotation)
    return names[0] if names else ""


PROGRAMS: Room[type[Step]] = Room("program", _steps, _name)
"""Steps by their `program`."""


def _program(value: Any) -> str:
    return str(value.get("program") if isinstance(value, dict) else getattr(value, "program", None))


def _known(value: Any) -> Any:
    if _program(value) not in PROGRAMS:
        raise refusal(f"unknown program {_program(value)!r}", f"expected: {', '.join(PROGRAMS)}", ("program",))
    return value


if TYPE_CHECKING:
    AnyStep = Step
else:
    AnyStep = Annotated[
        Union[tuple(Annotated[step, Tag(name)] for name, step in PROGRAMS.items())],  # noqa: UP007
        Discriminator(_program),
        BeforeValidator(_known),
    ]
"""Any step, told apart by its program."""

__all__ = ["PROGRAMS", "AnyStep", "Step"]
