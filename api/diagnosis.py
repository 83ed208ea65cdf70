"""Is an array as fast as it should be, and if not, why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ..calibration.diagnosis import diagnose as diagnosing
from ..calibration.diagnosis.measured import is_measured, measurements
from ..calibration.inspection.inspection import Source, read_source
from ..calibration.inspection.tools.outputs import all_measured, opened
from ..model.core.errors import InputError
from ..scenarios.documents.document import Document, document_from
from .answer.tree import Answer
from .base import Value, processes
from .inspection import inspect_sources
from .scenario import Scenario
from .support.progress import progress_share
from .tables.diagnose import diagnosis_answer, verdict_words

_STATE = {
    "arrays.": frozenset({"degraded", "rebuilding", "checking", "reshaping"}),
    "pools.": frozenset({"degraded pool", "resilvering", "scrubbing"}),
}
"""What mdadm, /proc/mdstat and zpool status show, by the beginning of the fields that tell of them."""


class Diagnosis(Value):
    """What an array reached, what it should reach, and what most likely is wrong.

    Attributes
    ----------
    name
        What was inspected.
    found
        Predictions, what the outputs show to be wrong, and causes with their probabilities.
    notes
        What was left out, and what a user should know.
    """

    schema = "raidsim.diagnosis"

    def __init__(self, name: str, found: diagnosing.Diagnosis, notes: Sequence[str]) -> None:
        self.name = name
        self.found = found
        self.notes = tuple(notes)

    @property
    def verdict(self) -> str:
        """The answer in a few sentences."""
        return verdict_words(self.found)

    @property
    def share(self) -> float:
        """Speed that was measured over what the machine should do."""
        return self.found.share

    @property
    def causes(self) -> tuple[str, ...]:
        """Names of the causes, the most probable first; two at once are joined by " and "."""
        return tuple(" and ".join(cause.name for cause, _ in each.causes) for each in self.found.ranked)

    @property
    def scenario(self) -> Scenario:
        """The machine as it was described."""
        return Scenario.of(self.found.case.document)

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return diagnosis_answer(self.name, self.found, self.notes)

    def _document(self) -> Mapping[str, Any]:
        found = self.found
        return {
            "name": self.name,
            "target": found.case.target,
            "verdict": self.verdict,
            "share": found.share,
            "share_as_described": found.share_as_described,
            "factor": found.factor,
            "nothing_else_wrong": found.fits,
            "seen": [{"cause": each.name, "words": each.words, "share": left} for each, left in found.seen],
            "causes": self._rows(),
            "would_not_show": found.untold,
            "measured": [{"job": job.name, **job.figures} for job in found.measured.jobs],
            "should": found.should,
            "as_described": found.as_described,
            "notes": self.notes,
        }

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [
            {
                "cause": " and ".join(cause.name for cause, _ in each.causes),
                "member": ", ".join(form.member for _, form in each.causes if form.member),
                "value": ", ".join(form.value for _, form in each.causes if form.value),
                "probability": each.probability,
                "share": each.share,
            }
            for each in self.found.ranked
        ]

    def __repr__(self) -> str:
        return f"Diagnosis({self.name!r}: {self.verdict})"


def diagnose(
    *printed: str | PathLike[str],
    measured: Sequence[str | PathLike[str]] = (),
    machine: str | PathLike[str] | None = None,
    target: str | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Diagnosis:
    """Compare what an array reached with what it should reach, and find what most likely is wrong.

    Parameters
    ----------
    printed
        Files with what the machine's tools printed (mdadm, /proc/mdstat, lsblk, smartctl, lscpu ...), and reports of
        fio (JSON or text), dd and iostat, in any order, each in its own file or pasted together.
    measured
        Further files with reports.
    machine
        A scenario with the machine, instead of outputs.
    target
        The device that was measured. Default: what the reports name, or the only array.
    workers
        Processes; 0 is this one. Default: one per core. They make no difference to the results.
    progress
        If true, show progress after a second.

    Raises
    ------
    InputError
        If an output or a report is damaged, nothing describes the machine, or no job of fio was measured.
    """
    paths = [Path(each) for each in printed]
    reports = [path for path in paths if is_measured(path)]
    sources = [read_source(path) for path in paths if path not in reports]
    parts = {source.name: opened(source.text, source.name) for source in sources}
    further = [read_source(Path(each)) for each in measured if not is_measured(Path(each))]
    in_others = [part for source in further for part in opened(source.text, source.name)[1]]
    whole = [Path(each) for each in measured if not any(part.text.name == str(each) for part in in_others)]
    found = measurements([*reports, *whole], [*(part for _, own in parts.values() for part in own), *in_others])
    outputs = [source for source in sources if not all_measured(*parts[source.name])]
    name, document, notes, excluded, names = _machine(outputs, machine)
    found = found.named(names, document.spec().machine.drives)
    with progress_share("causes", shown=progress) as follow:
        answer = diagnosing.diagnose(
            document, found, target=target, excluded=excluded, workers=processes(workers), follow=follow
        )
    return Diagnosis(name, answer, [*found.left_out, *notes])


def _machine(
    sources: Sequence[Source], machine: str | PathLike[str] | None
) -> tuple[str, Document, list[str], frozenset[str], dict[str, str]]:
    """Name and document of the machine, notes about it, causes that its outputs rule out, and names of drives."""
    if machine is not None:
        if sources:
            raise InputError(sources[0].name, "found with --machine", "expected: one description of the machine")
        scenario = Scenario.load(machine)
        return scenario.name, scenario.document, [], frozenset(), {}
    if not sources:
        expected = "expected: a file with what mdadm, lsblk or smartctl printed, or --machine SCENARIO"
        raise InputError("FILE", "nothing describes the machine", expected)
    inspection = inspect_sources(list(sources), Path(sources[0].name).stem, ignore_solid_state=False, progress=False)
    told = tuple(str(each["path"]) for each in inspection.found.found)
    shown = [state for part, state in _STATE.items() if any(path.startswith(part) for path in told)]
    return (
        inspection.name,
        document_from(inspection.text, inspection.name),
        [note for note in inspection.notes if "it is a measurement" not in note],
        frozenset[str]().union(*shown),
        inspection.found.names,
    )
