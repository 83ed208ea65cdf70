"""Advice: which layouts meet a requirement."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.files.description_errors import validate
from ..model.files.yaml_files import Positions
from ..scenarios.advice import advice as answers
from ..scenarios.advice.standings import Standings
from ..scenarios.advice.verdict import Verdict
from ..scenarios.designs.requirement import DEFAULT_LEVELS, RequirementSpec, read_requirement
from .answer.tree import Answer
from .base import Drawn, processes
from .scenario import Scenario
from .support.progress import progress_share
from .tables.advice_document import document
from .tables.advise import advice_answer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "OFFERED_LEVELS",
    "Advice",
    "Design",
    "Requirement",
    "Standings",
    "advise",
    "advise_on",
    "read_requirement",
    "requirement_of",
]


OFFERED_LEVELS = tuple(choice.level for choice in DEFAULT_LEVELS)
"""RAID levels that a requirement considers unless it names others."""
_NAME = "requirement"
Requirement = Mapping[str, Any] | str | PathLike[str]
"""A requirement: a mapping as in a requirement file, or the name of such a file."""


class Design:
    """A design that was looked at.

    Attributes
    ----------
    verdict
        Everything that is known of it.
    """

    def __init__(self, verdict: Verdict, requirement: RequirementSpec) -> None:
        self.verdict = verdict
        self._requirement = requirement

    @property
    def name(self) -> str:
        """Its layout, drives and chunk in words."""
        return self.verdict.design.name

    @property
    def status(self) -> str:
        """One of "meets", "close" (an interval covers a limit), "beaten" (not run further) and "fails"."""
        return self.verdict.status

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not meet the requirement."""
        return (*(each.text for each in self.verdict.refusals), *self.verdict.reasons)

    @property
    def drives(self) -> int:
        """Drives, spares among them."""
        return self.verdict.facts.drives

    @property
    def cost(self) -> float | None:
        """Of drives and controllers; None without prices."""
        return self.verdict.facts.cost

    @property
    def p99(self) -> float:
        """The longer p99 latency (s) of reads and writes; infinite if it was not simulated."""
        return self.verdict.worst_p99

    def scenario(self) -> Scenario:
        """Return the design under the requirement's load, to run or change it."""
        return Scenario.of(self.verdict.design.document(self._requirement))

    def __repr__(self) -> str:
        return f"Design({self.name!r}: {self.status})"


class Advice(Drawn):
    """The designs that meet a requirement, best first, and why the others do not.

    Attributes
    ----------
    found
        Everything that was found.
    """

    schema = "raidsim.advice"

    def __init__(self, found: answers.Advice) -> None:
        self.found = found

    @property
    def meets(self) -> tuple[Design, ...]:
        """Designs that meet the requirement, the best first."""
        return self._designs(self.found.ranked)

    @property
    def best(self) -> tuple[Design, ...]:
        """Those of `meets` that no other design beats in everything."""
        return self.meets[: self.found.best]

    @property
    def others(self) -> tuple[Design, ...]:
        """Designs that do not, with their reasons."""
        return self._designs(each for each in self.found.verdicts if each.status != "meets")

    @property
    def would_do(self) -> tuple[Design, ...]:
        """If nothing meets it: designs of more drives that do."""
        return self._designs(self.found.would_do)

    def _designs(self, verdicts: Any) -> tuple[Design, ...]:
        return tuple(Design(each, self.found.requirement) for each in verdicts)

    def figure(self) -> Figure:
        from .pictures.advise import advice_figure

        return advice_figure(self.found)

    def _document(self) -> Mapping[str, Any]:
        return {
            "requirement": self.found.requirement.model_dump(mode="json"),
            "designs": self._rows(),
            "simulations": self.found.simulations,
        }

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        found = [*self.meets, *self.others, *self.would_do]
        return [self._row(each, place < self.found.best) for place, each in enumerate(found)]

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return advice_answer(self.found)

    def document(self) -> dict[str, Any]:
        """See :meth:`Value.document`."""
        return document(self.found)

    def _row(self, each: Design, best: bool) -> Mapping[str, Any]:
        facts = each.verdict.facts
        return {
            "name": each.name,
            "status": each.status,
            "best": best,
            "drives": each.drives,
            "cost": each.cost,
            "usable_bytes": facts.usable_bytes,
            "survives": facts.survives_any,
            "latency_p99": each.p99 if math.isfinite(each.p99) else None,
            "saturation_iops": each.verdict.saturates_at,
            "data_loss_per_year": each.verdict.loss_per_year,
            "reasons": "; ".join(each.reasons),
        }

    def __repr__(self) -> str:
        best = f"; best: {self.meets[0].name}" if self.meets else ""
        tried = len(self.found.verdicts)
        return f"Advice({self.found.requirement.name!r}: {len(self.meets)} of {tried} designs meet it{best})"


def advise(requirement: Requirement, *, workers: int | None = None, progress: bool = True) -> Advice:
    """Find the layouts that meet a requirement, ranked, and say why the others do not.

    Parameters
    ----------
    requirement
        A requirement file, or a mapping with the same keys (``load``, ``limits``, ``drives``, ``levels`` ...).
    workers
        Processes; 0 is this one. Default: one per core. They make no difference to the answer.
    progress
        If true, show progress after a second.

    Raises
    ------
    InputError
        If something in the requirement cannot be.
    """
    return advise_on(requirement_of(requirement), processes(workers), progress)


def requirement_of(requirement: Requirement) -> RequirementSpec:
    """The requirement that is meant."""
    if isinstance(requirement, Mapping):
        return validate(RequirementSpec, {"name": _NAME, **requirement}, Positions(_NAME))
    return read_requirement(Path(requirement))


def advise_on(
    requirement: RequirementSpec,
    workers: int | None = None,
    progress: bool = True,
    seen: Callable[[Standings], None] | None = None,
) -> Advice:
    """Answer a requirement that was read; `seen` takes the ranking so far, from bounds at first."""
    share = [0.0]

    def watch(done: int, known: int) -> None:
        share[0] = max(share[0], done / (known + 1))

    with progress_share("simulating designs", progress) as follow:
        follow(lambda: share[0])
        return Advice(answers.advise(requirement, workers, watch, seen))
