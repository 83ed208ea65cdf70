"""How far off a prediction of a scenario may be: what published reports have shown of figures of its kind.

The table of :mod:`.discrepancy` holds how far the predictions of reports were off where nothing was fitted. A scenario
is no report, so all of them count. What its own parameters leave open comes on top.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ...scenarios.comparison.redundancy import top_parts
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.description.idle import IdleSpec
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec, Workload
from .discrepancy import FigureClass, StudyErrors, learnt, load_table

_YEAR = re.compile(r"-(\d{4})$")

WORDS: dict[FigureClass, str] = {
    "raw": "raw devices",
    "programs": "programs on files",
    "cpu": "shares of the CPU",
    "random": "random access",
}
"""What the classes of figures are called."""


@dataclass(frozen=True, slots=True)
class ModelInterval:
    """A 90 % interval for figures of some kind.

    Attributes
    ----------
    kinds
        The classes of figures that it was learnt from.
    factor
        How far it reaches either way.
    cells, studies
        How many predicted figures it was learnt from, and of how many reports.
    years
        The first and the last year of these.
    """

    kinds: tuple[FigureClass, ...]
    factor: float
    cells: int
    studies: int
    years: tuple[int, int]

    def around(self, value: float) -> tuple[float, float]:
        """The interval around a prediction."""
        return value / self.factor, value * self.factor


def figure_kind(workload: Workload) -> FigureClass:
    """The class that the rate of a workload belongs to."""
    if isinstance(workload, ProgramsSpec):
        return "programs"
    if isinstance(workload, FioSpec):
        return "random" if any(workload.is_random(job) for job in workload.job_names) else "raw"
    if isinstance(workload, LoadSpec) and workload.pattern != "sequential":
        return "random"
    return "raw"


def scenario_interval(spec: ScenarioSpec) -> ModelInterval | None:
    """What the reports say of a scenario's rate; None without a load or enough reports, or with solid-state drives."""
    if isinstance(spec.workload, IdleSpec):
        return None
    drives = spec.machine.drives
    if any(not drives[name].entry().rotational for part in top_parts(spec) for name in part.leaves):
        return None
    return model_interval(figure_kind(spec.workload))


@lru_cache(maxsize=4)
def model_interval(kind: FigureClass) -> ModelInterval | None:
    """What the reports say of a class of figures; None if there are too few."""
    return interval_of(load_table().studies, kind)


def interval_of(studies: Mapping[str, StudyErrors], kind: FigureClass) -> ModelInterval | None:
    """The same from a table's studies."""
    found = learnt(studies.values(), kind)
    if found is None:
        return None
    known = {
        name: [errors.cells for each, errors in study.items() if each in found.kinds] for name, study in studies.items()
    }
    used = {name: sum(cells) for name, cells in known.items() if cells}
    years = [int(year[1]) for name in used if (year := _YEAR.search(name)) is not None]
    return ModelInterval(
        kinds=found.kinds,
        factor=math.exp(found.half_width),
        cells=sum(used.values()),
        studies=len(used),
        years=(min(years, default=0), max(years, default=0)),
    )
