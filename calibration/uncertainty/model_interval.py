"""How far off a prediction of a scenario may be: what published reports have shown of figures of its kind.

The table of :mod:`.discrepancy` holds how far the predictions of reports were off where nothing was fitted. A scenario
is no report, so all of them count. What its own parameters leave open comes on top: of a controller's firmware times
it is included (:mod:`.controller_spread`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ...scenarios.description.any_workload import IdleSpec, Workload
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ..fit.quantile import NORMAL_QUANTILE
from .controller_spread import ControllerSpread, firmware_sds
from .discrepancy import Device, FigureClass, Kind, StudyErrors, device_of, is_resynced, learnt, load_table, with_queue

_YEAR = re.compile(r"-(\d{4})$")

_DEVICE_WORDS: dict[Device, str] = {
    "disk": "hard disks",
    "flash": "solid-state drives",
    "memory": "block devices in memory",
}
_KIND_WORDS: dict[Kind, str] = {
    "raw": "sequential rates",
    "programs": "programs on files",
    "cpu": "shares of the CPU",
    "random": "random access",
    "latency": "mean latencies",
    "tail": "latency percentiles",
    "queued random": "random access with deep queues",
    "queued latency": "mean latencies with deep queues",
    "queued tail": "latency percentiles with deep queues",
    "resync": "rates during a check or rebuild",
}


def class_words(figure_class: FigureClass) -> str:
    """A class of figures in words."""
    device, kind = figure_class
    return f"{_KIND_WORDS[kind]} of {_DEVICE_WORDS[device]}"


@dataclass(frozen=True, slots=True)
class ModelInterval:
    """A 90 % interval for figures of some kind.

    Attributes
    ----------
    asked
        The class of figures that it is for.
    classes
        Those that it was learnt from; more than the one where that has few figures.
    factor
        How far it reaches either way.
    cells, studies
        How many predicted figures it was learnt from, and of how many reports.
    years
        The first and the last year of these.
    """

    asked: FigureClass
    classes: tuple[FigureClass, ...]
    factor: float
    cells: int
    studies: int
    years: tuple[int, int]

    def widened(self, sd: float) -> ModelInterval:
        """The interval with a further independent uncertainty: a standard deviation of ln of the figure."""
        return replace(self, factor=math.exp(math.hypot(math.log(self.factor), NORMAL_QUANTILE * sd)))

    def around(self, value: float) -> tuple[float, float]:
        """The interval around a prediction."""
        return value / self.factor, value * self.factor

    @property
    def evidence(self) -> str:
        """What it was learnt from, in words."""
        asked = class_words(self.asked)
        figures = f"{self.cells} figures from {self.studies} reports of {self.years[0]} to {self.years[1]}"
        if self.classes == (self.asked,):
            return f"{asked}: {figures}"
        if self.asked in self.classes:
            return f"{asked}, of which there are few, and similar figures: {figures}"
        return f"figures of other kinds, as no report has {asked}: {figures}"


@dataclass(frozen=True, slots=True)
class RunIntervals:
    """The intervals of the figures that a run shows; None where too few reports have such figures.

    Attributes
    ----------
    rate
        Of throughput and IOPS.
    latency, tail
        Of mean latencies, and of their percentiles.
    controllers
        What controllers' firmware times add to them; None if it is next to nothing.
    """

    rate: ModelInterval | None = None
    latency: ModelInterval | None = None
    tail: ModelInterval | None = None
    controllers: ControllerSpread | None = None


UNKNOWN = RunIntervals()


def run_intervals(
    spec: ScenarioSpec, offered: bool = False, controllers: ControllerSpread | None = None
) -> RunIntervals:
    """What the reports say of a run's figures; of the rate nothing if it is what was offered, and no prediction.

    With `controllers`, what their firmware times leave open is included.
    """
    rate = None if offered else scenario_interval(spec)
    latency, tail = scenario_interval(spec, "latency"), scenario_interval(spec, "tail")
    if controllers is not None:
        rate = rate and rate.widened(controllers.rate_sd)
        latency, tail = (each and each.widened(controllers.latency_sd) for each in (latency, tail))
    return RunIntervals(rate, latency, tail, controllers)


def evidence_lines(specs: Iterable[ScenarioSpec]) -> list[str]:
    """How far single figures of scenarios were off on real machines, in words: a line for each kind of figure."""
    found: dict[str, None] = {}
    firmware: dict[str, float] = {}
    for spec in specs:
        each = run_intervals(spec)
        firmware |= {spec.machine.controllers[name].model: sd for name, sd in firmware_sds(spec).items()}
        for words, interval in (("rate", each.rate), ("mean latency", each.latency), ("latency percentile", each.tail)):
            if interval is not None:
                found[f"{words}: within a factor of {interval.factor:.2g} ({interval.evidence})"] = None
    if not found:
        return ["How far such figures are off on real machines is not known: too few reports have any."]
    return [
        "On real machines, 90 % of measured figures were this near to the prediction:",
        *(f"  {line}" for line in found),
        *(
            f"The firmware times of {model}, which no data sheet gives, are taken to be known to a factor of "
            f"{math.exp(NORMAL_QUANTILE * sd):.2g}; that comes on top"
            for model, sd in firmware.items()
        ),
    ]


def figure_kind(workload: Workload) -> Kind:
    """The kind of figure that the rate of a workload is."""
    if isinstance(workload, ProgramsSpec):
        return "programs"
    if isinstance(workload, FioSpec):
        return "random" if any(workload.is_random(job) for job in workload.job_names) else "raw"
    if isinstance(workload, LoadSpec) and workload.pattern != "sequential":
        return "random"
    return "raw"


def scenario_interval(spec: ScenarioSpec, kind: Kind | None = None) -> ModelInterval | None:
    """What the reports say of a scenario's rate, or of another kind of figure of it.

    Parameters
    ----------
    spec
        The scenario.
    kind
        Of figure; that of the workload's rate unless given.

    Returns
    -------
    ModelInterval or None
        None without a load, or with too few reports.
    """
    if isinstance(spec.workload, IdleSpec):
        return None
    if is_resynced(spec):
        kind = "resync"
    return model_interval((device_of(spec), with_queue(kind or figure_kind(spec.workload), spec)))


@lru_cache(maxsize=16)
def model_interval(figure_class: FigureClass) -> ModelInterval | None:
    """What the reports say of a class of figures; None if there are too few."""
    return interval_of(load_table().studies, figure_class)


def interval_of(studies: Mapping[str, StudyErrors], figure_class: FigureClass) -> ModelInterval | None:
    """The same from a table's studies."""
    found = learnt(studies.values(), figure_class)
    if found is None:
        return None
    used = {
        name: cells
        for name, study in studies.items()
        if (cells := sum(study[device][kind].cells for device, kind in found.classes if kind in study.get(device, {})))
    }
    years = [int(year[1]) for name in used if (year := _YEAR.search(name)) is not None]
    return ModelInterval(
        asked=figure_class,
        classes=found.classes,
        factor=math.exp(found.half_width),
        cells=sum(used.values()),
        studies=len(used),
        years=(min(years, default=0), max(years, default=0)),
    )
