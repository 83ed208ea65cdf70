"""All runs that the cells and claims of a study need, at given parameters, and their results as the report has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample, with_common_scales
from ..study.reported import SUMMED, mean_of, repeated, reported
from ..study.runs import RunBuilder
from ..study.study import StudySpec
from .asked import Asked


class StudyRuns:
    """The runs of a study.

    Parameters
    ----------
    study
        The study.
    factors
        Factor by parameter name; 1 where a parameter is not named.

    Attributes
    ----------
    asked
        By name: the run, and its repetitions with other random numbers.
    """

    def __init__(self, study: StudySpec, factors: Mapping[str, float]) -> None:
        self.study = study
        builder = RunBuilder(study, dict(factors))
        tasks = {run: repeated(study, run, builder.scenario(run)) for run in study.wanted_runs}
        scaled = with_common_scales(Sample(), (each[0] for run, each in tasks.items() if not study.whole(run)))
        whole = Sample(scale=1)
        self.asked = {
            run: tuple(Asked.of(scenario, whole if study.whole(run) else scaled) for scenario in scenarios)
            for run, scenarios in tasks.items()
        }

    @property
    def every(self) -> list[Asked]:
        """All of them, in the study's order."""
        return [asked for repetitions in self.asked.values() for asked in repetitions]

    def figures(self) -> dict[str, set[str]]:
        """The figures that cells and claims take from each run."""
        study = self.study
        found: dict[str, set[str]] = {run: set() for run in self.asked}
        for cell in (*study.all_cells, *study.zero_cells):
            found[cell.run].add(cell.figure)
        for name in (name for claim in study.claims for pair in claim.pairs for name in pair):
            run, _, figure = name.rpartition(":")
            found[run].add(figure)
        for run in list(found):
            if earlier := study.earlier(run):
                titles = {figure.rpartition(".")[0] for figure in found[run]}
                for each in (*earlier, run):
                    found[each] |= {f"{title}.{summed}" for title in titles for summed in SUMMED}
        return found

    def predictions(self, result: Callable[[Asked], Prediction]) -> dict[str, Prediction]:
        """What the report has of each run, from the result of each simulation."""
        means = {run: mean_of([result(each) for each in asked]) for run, asked in self.asked.items()}
        return {run: reported(self.study, run, means) for run in means}

    def named(self) -> Iterator[tuple[str, Asked]]:
        """Each run with its name."""
        return ((run, asked) for run, repetitions in self.asked.items() for asked in repetitions)
