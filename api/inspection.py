"""A scenario from what a machine's tools print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ..calibration.inspection import inspection as inspecting
from ..calibration.inspection.inspection import Source, decoded, read_source
from ..calibration.inspection.this_machine import ThisMachine
from ..calibration.inspection.tools.outputs import MOST_CHARACTERS
from ..scenarios.documents.document import document_from
from .base import Value
from .scenario import Scenario
from .support.progress import progress_text

__all__ = [
    "MOST_CHARACTERS",
    "Inspection",
    "Source",
    "decoded",
    "inspect",
    "inspect_sources",
    "read_source",
]


_NAME = "inspected machine"
_OWN_NAME = "this machine"


class Inspection(Value):
    """A scenario of a machine, with what was read and what was assumed.

    Attributes
    ----------
    found
        Everything that was made of the outputs.
    notes
        What was left out, and what a user should know.
    """

    schema = "raidsim.inspection"

    def __init__(self, name: str, found: inspecting.Inspection, notes: Sequence[str]) -> None:
        self.name = name
        self.found = found
        self.notes = (*notes, *found.notes)

    @property
    def scenario(self) -> Scenario:
        """The scenario, to run or change it."""
        return Scenario.of(document_from(self.found.text, self.name))

    @property
    def text(self) -> str:
        """The scenario as YAML, with a comment that says where each value comes from."""
        return self.found.text

    def _document(self) -> Mapping[str, Any]:
        found = self.found
        return {"document": found.document, "found": found.found, "assumed": found.assumed, "notes": self.notes}

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [*self.found.found, *self.found.assumed]

    def __repr__(self) -> str:
        return (
            f"Inspection({self.name!r}: {len(self.found.found)} values read, {len(self.found.assumed)} assumed, "
            f"{len(self.notes)} notes)"
        )


def inspect(
    *printed: str | PathLike[str], name: str | None = None, ignore_solid_state: bool = False, progress: bool = True
) -> Inspection:
    """Make a scenario from what a machine's tools printed: mdadm, /proc/mdstat, lsblk, smartctl, storcli ...

    Parameters
    ----------
    printed
        Outputs: the text itself (of several lines), or a file that holds it. Default: this machine is inspected.
    name
        Of the scenario.
    ignore_solid_state
        If true, leave out arrays of drives without moving parts.
    progress
        If true, show progress.

    Raises
    ------
    InputError
        If an output is damaged, or nothing in it can be simulated.
    """
    sources = [_source(each, place) for place, each in enumerate(printed, start=1)]
    return inspect_sources(sources, name or (_NAME if printed else _OWN_NAME), ignore_solid_state, progress=progress)


def inspect_sources(
    sources: Sequence[Source],
    name: str,
    ignore_solid_state: bool,
    note: Callable[[str], None] = lambda _: None,
    progress: bool = True,
) -> Inspection:
    """Make a scenario of outputs, or of this machine without any; `note` is told of each note as it comes."""
    notes: list[str] = []
    if not sources:
        machine = ThisMachine()
        with progress_text("inspecting this machine", shown=progress) as told:
            sources = machine.collect(told)
        notes = machine.notes
    for each in notes:
        note(each)
    found = inspecting.inspect(sources, name, ignore_solid_state)
    for each in found.notes:
        note(each)
    return Inspection(name, found, notes)


def _source(printed: str | PathLike[str], place: int) -> Source:
    if isinstance(printed, str) and "\n" in printed:
        return Source(f"<text {place}>", printed)
    return read_source(Path(printed))
