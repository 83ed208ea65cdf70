"""From what simulations give to what a report prints, where its program adds up several runs, or it has their mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...model.core.exact_sums import sum_in_order
from ...model.programs.tiobench_report import line_figures
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.questions.replications import replication
from ...scenarios.running.base.prediction import Prediction
from .figures import figures_in
from .study import StudySpec

SUMMED = [f"{order}_{op}_{what}" for order in ("seq", "rand") for op in ("write", "read") for what in ("rate", "cpu")]
"""Figures of tiobench that its program adds up."""


def with_earlier(study: StudySpec, runs: Iterable[str]) -> list[str]:
    """Some runs of a study, each after those that its program adds to it."""
    found: dict[str, None] = {}
    for run in runs:
        found |= dict.fromkeys((*study.earlier(run), run))
    return list(found)


def reported(study: StudySpec, run: str, predictions: Mapping[str, Prediction]) -> Prediction:
    """What the report has of a run: its own figures, or the sums over it and the runs before."""
    own, before = predictions[run], study.earlier(run)
    if not before:
        return own
    names = [name for name in own.figures if name.rpartition(".")[2] in SUMMED]
    rows = [{name: predictions[each].figures[name] for name in names} for each in (*before, run)]
    return replace(own, figures={**own.figures, **line_figures(rows)})


def repeated(study: StudySpec, run: str, scenario: ScenarioSpec) -> list[ScenarioSpec]:
    """A run's scenario as often as the report repeats it: as it is, and with the random numbers of replications."""
    return [scenario, *(replication(scenario, number) for number in range(1, study.repetitions(run)))]


def mean_of(repetitions: Sequence[Prediction]) -> Prediction:
    """The first of a run's repetitions, with the means of all their figures."""
    first, *others = repetitions
    if not others:
        return first
    count = len(repetitions)
    given = [figures_in(each) for each in repetitions]
    figures = {name: sum_in_order(each[name] for each in given) / count for name in given[0]}
    return replace(first, figures=figures)
