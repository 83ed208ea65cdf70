"""What a run can be asked for: the figures of every workload, what each measures, and the units reports print it in."""

from __future__ import annotations

from typing import Literal

from ...model.core.errors import InputError
from ...model.programs.iozone import Iozone
from ...scenarios.description.program_steps import DropCacheStep
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.workloads import LoadSpec, Workload
from ...scenarios.running.base.prediction import Prediction

Dimension = Literal["bytes/s", "1/s", "s", "share"]
"""What a figure measures, in SI units; a share is of 1."""
Unit = Literal["MB/s", "KB/s", "1/s", "s", "us", "%"]
"""What a report prints; its conventions say how many bytes MB and KB are."""

UNITS: dict[Dimension, tuple[Unit, ...]] = {
    "bytes/s": ("MB/s", "KB/s"),
    "1/s": ("1/s",),
    "s": ("s", "us"),
    "share": ("%",),
}
"""The units that fit a dimension."""

_WORDS: dict[Dimension, str] = {
    "bytes/s": "bytes per second",
    "1/s": "a number per second",
    "s": "seconds",
    "share": "a share",
}

_RAW: dict[str, dict[str, Dimension]] = {
    "dd": {"rate": "bytes/s", "seconds": "s", "cpu": "share"},
    "load": {"rate": "bytes/s", "iops": "1/s"},
}
_LATENCIES = ("mean_seconds", "p99_seconds")
_TIMES: dict[str, Dimension] = {"seconds": "s", "mean_seconds": "s", "cpu": "share", "cpu_seconds": "s"}
_COPYING: dict[str, Dimension] = {**_TIMES, "rate": "bytes/s"}
_BONNIE: dict[str, Dimension] = {
    **_TIMES,
    **{f"{phase}_rate": "bytes/s" for phase in ("putc", "rewrite", "write", "getc", "read")},
    **{f"{phase}_cpu": "share" for phase in ("putc", "rewrite", "write", "getc", "read", "seeks")},
    "seeks_rate": "1/s",
}
_SMALL_FILES: dict[str, Dimension] = {
    f"{what}_{order}_rate": "1/s" for order in ("in_order", "at_random") for what in ("create", "stat", "delete")
}
_PROGRAMS: dict[str, dict[str, Dimension]] = {
    "bonnie": _BONNIE,
    "bonnie++": {**_BONNIE, **_SMALL_FILES},
    "postmark": {
        **_TIMES,
        "create_seconds": "s",
        "transactions_seconds": "s",
        "delete_seconds": "s",
        "read_rate": "bytes/s",
        "write_rate": "bytes/s",
        "transactions_rate": "1/s",
    },
    "tiobench": {
        **_TIMES,
        **{f"{phase}_rate": "bytes/s" for phase in ("seq_write", "rand_write", "seq_read", "rand_read")},
        **{f"{phase}_cpu": "share" for phase in ("seq_write", "rand_write", "seq_read", "rand_read")},
    },
    "iozone": {**_TIMES, **{f"{phase.replace(' ', '_')}_rate": "bytes/s" for phase in Iozone.reported}},
}


def figures_of(workload: Workload) -> dict[str, Dimension]:
    """The figures that a run of a workload gives, as predictions and cells name them."""
    if isinstance(workload, LoadSpec):
        shares = {"read": workload.read_share, "write": 1 - workload.read_share}
        latencies = (f"{op}_{latency}" for op, share in shares.items() if share for latency in _LATENCIES)
        return _RAW[workload.kind] | dict.fromkeys(latencies, "s")
    if not isinstance(workload, ProgramsSpec):
        return _RAW[workload.kind]
    return {
        f"{step.title}.{figure}": dimension
        for step in workload.steps
        if not isinstance(step, DropCacheStep)
        for figure, dimension in _PROGRAMS.get(step.program, _COPYING).items()
    }


def dimension_of_figure(name: str) -> Dimension | None:
    """What a figure of a run measures, by its name in a prediction; None if no workload has one of that name."""
    figure = name.rpartition(".")[2]
    known = (*_PROGRAMS.values(), _COPYING, *_RAW.values())
    return next((figures[figure] for figures in known if figure in figures), None)


def dimension_of_unit(unit: Unit) -> Dimension:
    """What a unit measures."""
    return next(dimension for dimension, units in UNITS.items() if unit in units)


def in_words(dimension: Dimension) -> str:
    """What a dimension is called in a message."""
    return _WORDS[dimension]


def figure_value(prediction: Prediction, run: str, figure: str) -> float:
    """A figure of a prediction, in SI units.

    Raises
    ------
    InputError
        If the run did not give it, or gave 0: there is nothing to compare with.
    """
    value = prediction.figures.get(figure)
    if value is None or not value > 0:
        found = "no such figure" if value is None else f"{value}"
        raise InputError(f"{run}:{figure}", found, f"allowed: above 0; the run gave {', '.join(prediction.figures)}")
    return value
