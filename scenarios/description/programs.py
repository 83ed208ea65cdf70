"""Benchmark programs as data: the workload that runs steps on files."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from ...model.files.description import Spec, refusal
from ..programs import AnyStep
from ..programs.remount import DropCacheStep


class ProgramsSpec(Spec):
    """Programs that work on files."""

    kind: Literal["programs"]

    steps: tuple[AnyStep, ...] = Field(min_length=1)
    """One after the other."""
    processes: int = Field(default=1, ge=1, le=1000)
    """How many run them at the same time, each with files of its own."""
    in_step: bool = True
    """Whether a step begins when all processes have ended the one before (a script that waits for its background jobs);
    otherwise no process waits for another (as scripts that are started together)."""

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        titles = [step.title for step in self.steps if not isinstance(step, DropCacheStep)]
        if not titles:
            raise refusal("nothing but remounts", "expected: at least one program", ("steps",))
        if not self.in_step and len(titles) < len(self.steps):
            raise refusal("a remount while others run", "expected: remounts of processes in step", ("in_step",))
        for i, title in enumerate(titles):
            if title in titles[:i]:
                raise refusal(f"two steps called {title!r}", "expected: a `name` of its own for each", ("steps",))
        return self
