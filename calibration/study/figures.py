"""What a run can be asked for: the figures of every workload, what each measures, and the units reports print it in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...scenarios.description.any_workload import Workload
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.workloads import DdSpec, LoadSpec
from ...scenarios.programs import PROGRAMS
from ...scenarios.programs.remount import DropCacheStep
from ...scenarios.programs.step import Dimension
from ...scenarios.running.base.prediction import DriveActivity, Prediction

Unit = Literal["MB/s", "KB/s", "GB/s", "MiB/s", "KiB/s", "GiB/s", "1/s", "k/s", "M/s", "s", "ms", "us", "min", "h", "%"]
"""What a report prints; its conventions say how many bytes MB and KB are, a GB is a thousand or 1,024 of these MB."""

UNITS: dict[Dimension, tuple[Unit, ...]] = {
    "bytes/s": ("MB/s", "KB/s", "GB/s", "MiB/s", "KiB/s", "GiB/s"),
    "1/s": ("1/s", "k/s", "M/s"),
    "s": ("s", "ms", "us", "min", "h"),
    "share": ("%",),
}
"""The units that fit a dimension."""
SI_VALUES: dict[Unit, float] = {
    "MiB/s": 2.0**20,
    "KiB/s": 2.0**10,
    "GiB/s": 2.0**30,
    "1/s": 1.0,
    "k/s": 1e3,
    "M/s": 1e6,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "min": 60.0,
    "h": 3600.0,
    "%": 0.01,
}
"""What 1 of a unit is; the others depend on the report's conventions."""

_WORDS: dict[Dimension, str] = {
    "bytes/s": "bytes per second",
    "1/s": "a number per second",
    "s": "seconds",
    "share": "a share",
}

_RAW: dict[str, dict[str, Dimension]] = {
    "dd": {"rate": "bytes/s", "seconds": "s", "cpu": "share"},
    "load": {"rate": "bytes/s", "iops": "1/s", "cpu": "share"},
    "fio": {"rate": "bytes/s", "seconds": "s", "iops": "1/s"},
    "idle": {},
}
_RESYNC: dict[str, Dimension] = {"resync_rate": "bytes/s"}
"""Of any run in which an array is rebuilt or checked: bytes per second and member, of the slowest."""
_DRIVE: dict[str, Dimension] = {"iops": "1/s", "mean_seconds": "s", "utilization": "share"}
"""Of the drives of any run, as iostat shows them."""
_DRIVES: dict[str, Dimension] = {
    f"{which}drive_{figure}": dimension for which in ("", "least_", "most_") for figure, dimension in _DRIVE.items()
}
"""Mean of all drives, and the drive with the least and with the most."""
_LATENCIES = ("mean_seconds", "p50_seconds", "p90_seconds", "p99_seconds", "p999_seconds")
_FIO: dict[str, Dimension] = {
    **{f"{op}_{figure}": "s" for op in ("read", "write", "trim", "sync") for figure in _LATENCIES},
    **{
        f"{op}_{figure}seconds": "s"
        for op in ("read", "write", "trim")
        for figure in ("completion_", "longest_", "submission_", "longest_submission_")
    },
    **{f"{op}_iops": "1/s" for op in ("read", "write", "trim")},
    **{f"{op}_rate": "bytes/s" for op in ("read", "write", "trim")},
    "user_cpu": "share",
    "system_cpu": "share",
}
"""Of each job."""


def figures_of(workload: Workload) -> dict[str, Dimension]:
    """The figures that a run of a workload gives, as predictions and cells name them."""
    return {**_own_figures(workload), **_RESYNC, **_DRIVES}


def _own_figures(workload: Workload) -> dict[str, Dimension]:
    if isinstance(workload, LoadSpec):
        shares = {"read": workload.read_share, "write": 1 - workload.read_share}
        latencies = (f"{op}_{latency}" for op, share in shares.items() if share for latency in _LATENCIES)
        return _RAW[workload.kind] | dict.fromkeys(latencies, "s")
    if isinstance(workload, FioSpec):
        of_jobs = {f"{job}.{figure}": each for job in workload.job_names for figure, each in _FIO.items()}
        return _RAW[workload.kind] | of_jobs
    if isinstance(workload, DdSpec) and workload.direction == "read" and len(workload.targets) > 1:
        processes = range(1, len(workload.targets) + 1)
        return {**_RAW[workload.kind], **{f"dd{number}.rate": "bytes/s" for number in processes}}
    if not isinstance(workload, ProgramsSpec):
        return _RAW[workload.kind]
    return {
        f"{step.title}.{figure}": dimension
        for step in workload.steps
        if not isinstance(step, DropCacheStep)
        for figure, dimension in step.figures.items()
    }


def dimension_of_figure(name: str) -> Dimension | None:
    """What a figure of a run measures, by its name in a prediction; None if no workload has one of that name."""
    figure = name.rpartition(".")[2]
    known = (*(step.figures for step in PROGRAMS.values()), *_RAW.values(), _RESYNC, _DRIVES, _FIO)
    return next((figures[figure] for figures in known if figure in figures), None)


def dimension_of_unit(unit: Unit) -> Dimension:
    """What a unit measures."""
    return next(dimension for dimension, units in UNITS.items() if unit in units)


def in_words(dimension: Dimension) -> str:
    """What a dimension is called in a message."""
    return _WORDS[dimension]


def figures_in(prediction: Prediction) -> dict[str, float]:
    """All figures that a prediction gives, those of its drives too, by name and in SI units."""
    return {**(_of_drives(prediction.drives) if prediction.drives else {}), **prediction.figures}


def _of_drives(drives: Sequence[DriveActivity]) -> dict[str, float]:
    columns = {
        "iops": [each.iops for each in drives],
        "mean_seconds": [each.mean_s for each in drives],
        "utilization": [each.kernel_utilization for each in drives],
    }
    found = {}
    for figure, values in columns.items():
        found[f"drive_{figure}"] = sum_in_order(values) / len(values)
        found[f"least_drive_{figure}"] = min(values)
        found[f"most_drive_{figure}"] = max(values)
    return found


def figure_value(prediction: Prediction, run: str, figure: str) -> float:
    """A figure of a prediction, in SI units; 0 or more.

    Raises
    ------
    InputError
        If the run did not give it.
    """
    figures = figures_in(prediction)
    value = figures.get(figure)
    if value is None or not value >= 0:
        found = "no such figure" if value is None else f"{value}"
        raise InputError(f"{run}:{figure}", found, f"expected: a number; the run gave {', '.join(figures)}")
    return value
