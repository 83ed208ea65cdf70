"""raidsim against the baselines on the same predicted cells: errors, and how often it is nearer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .baselines import BASELINES, Baseline, Guess
from .cell_classes import CellClass
from .comparison import Compared, StudyComparison
from .proportion import Proportion

LEAST_IN_GROUP = 5
"""Smaller groups of cells say nothing about which of two is better."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A cell after its prediction, with all it is judged by.

    Attributes
    ----------
    study
        The study's id.
    guesses
        What each baseline says of it, or why it says nothing, by the baseline's name; none of a calibrate cell.
    """

    study: str
    compared: Compared
    cell_class: CellClass
    guesses: Mapping[str, Guess | str]

    def guessed(self, name: str) -> float | None:
        """What a baseline says, in the report's unit; None where it says nothing."""
        guess = self.guesses.get(name)
        return guess.value / self.compared.cell.scale if isinstance(guess, Guess) else None

    def guess_error_pct(self, name: str) -> float:
        """How far off a baseline is that says something: the distance in ln, in percent."""
        value = self.guessed(name)
        if value is None:
            raise ValueError(f"{name} says nothing of {self.compared.cell.id}")
        return 100.0 * abs(math.log(value / self.compared.measured))

    @property
    def answered(self) -> bool:
        """Whether all baselines say something."""
        return all(isinstance(self.guesses.get(baseline.name), Guess) for baseline in BASELINES)


@dataclass(frozen=True, slots=True)
class Match:
    """raidsim and one baseline on the same cells."""

    baseline: Baseline
    own: tuple[float, ...]
    other: tuple[float, ...]

    @property
    def n(self) -> int:
        """Cells."""
        return len(self.own)

    @property
    def nearer(self) -> int:
        """Cells in which raidsim is nearer to what was measured."""
        return sum(own < other for own, other in zip(self.own, self.other, strict=True))

    @property
    def better(self) -> bool:
        """Whether raidsim has the smaller median error."""
        return bool(np.median(self.own) < np.median(self.other))

    def document(self) -> dict[str, Any]:
        """Medians and 90th percentiles of both, None without cells."""
        nearer = Proportion(self.nearer, self.n).document()
        return {
            "n": self.n,
            **_two("", self.other),
            **_two("raidsim_", self.own),
            "raidsim_nearer_pct": nearer["pct"],
            "raidsim_nearer_limits_pct": nearer["limits_pct"],
        }


def _two(prefix: str, errors: Sequence[float]) -> dict[str, float | None]:
    return {
        f"{prefix}median_error_pct": float(np.median(errors)) if errors else None,
        f"{prefix}p90_error_pct": float(np.percentile(errors, 90)) if errors else None,
    }


def judged_cells(comparison: StudyComparison, classes: Mapping[str, CellClass]) -> tuple[Judged, ...]:
    """The cells of a study with their classes and what the baselines say of those that are predicted."""
    guesses = {baseline.name: baseline.guesses(comparison.study, classes) for baseline in BASELINES}
    return tuple(
        Judged(
            comparison.study.id,
            compared,
            classes[compared.cell.id],
            {name: known[compared.cell.id] for name, known in guesses.items() if compared.cell.id in known},
        )
        for compared in comparison.cells
    )


def matches(cells: Iterable[Judged]) -> list[Match]:
    """raidsim against each baseline on the predicted cells that all of them answer."""
    paired = [each for each in cells if each.compared.cell.use == "predict" and each.answered]
    own = tuple(each.compared.error_pct for each in paired)
    return [Match(b, own, tuple(each.guess_error_pct(b.name) for each in paired)) for b in BASELINES]


GROUPINGS: dict[str, Callable[[Judged], str]] = {
    "study": lambda each: each.study,
    "level": lambda each: each.cell_class.level,
    "load": lambda each: each.cell_class.load,
    "kind of figure": lambda each: each.cell_class.kind.name,
    "kernel": lambda each: each.cell_class.kernel,
    "processes": lambda each: processes_name(each.cell_class.processes),
}
"""What errors are told apart by."""


def processes_name(processes: int) -> str:
    """A number of processes in words."""
    return "1 process" if processes == 1 else f"{processes} processes"


def grouped(cells: Iterable[Judged], name: str) -> dict[str, list[Judged]]:
    """Cells by one of :data:`GROUPINGS`, the groups in the order of their names (numbers by their size)."""
    groups: dict[str, list[Judged]] = {}
    for each in cells:
        groups.setdefault(GROUPINGS[name](each), []).append(each)
    return dict(sorted(groups.items(), key=lambda item: _natural(item[0])))


def _natural(name: str) -> tuple[int, str]:
    head = name.split(" ", 1)[0]
    return (int(head) if head.isdigit() else 0, name)


@dataclass(frozen=True, slots=True)
class Weakness:
    """A group of cells in which a baseline has the smaller median error, or the same."""

    grouping: str
    group: str
    match: Match

    def document(self) -> dict[str, Any]:
        """With the numbers of both."""
        names = {"by": self.grouping, "group": self.group, "baseline": self.match.baseline.name}
        return {**names, **self.match.document()}


def weaknesses(cells: Sequence[Judged]) -> Iterator[Weakness]:
    """Where raidsim is not better than a baseline, of all groups that are large enough to say so."""
    for grouping in GROUPINGS:
        for group, members in grouped(cells, grouping).items():
            for match in matches(members):
                if match.n >= LEAST_IN_GROUP and not match.better:
                    yield Weakness(grouping, group, match)
