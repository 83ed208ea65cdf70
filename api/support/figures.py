"""Figures as people read them: the unit of each, its heading, and which are shown first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...calibration.study.figures import dimension_of_figure
from ...model.files.quantities import format_duration, format_size
from ...model.statistics.batch_means import Estimate
from ...scenarios.comparison.array_facts import ArrayFacts
from ...scenarios.comparison.side_by_side import Measured
from ...scenarios.sweeps.axes import Cell
from ..answer.numbers import with_interval
from ..answer.tree import Column

SPEED = {
    "iops": Column("I/Os per s", show=with_interval),
    "rate": Column("MB/s", show=with_interval, scale=1e-6),
    "read_mean_seconds": Column("read mean\n", "ms", with_interval, 1e3),
    "read_p99_seconds": Column("read p99\n", "ms", with_interval, 1e3),
    "write_mean_seconds": Column("write mean\n", "ms", with_interval, 1e3),
    "write_p99_seconds": Column("write p99\n", "ms", with_interval, 1e3),
}
"""Figures of a load, each as a column of a table."""
_DEFAULT_FIGURES = ("rate", "iops", "read_mean_seconds", "read_p99_seconds", "write_mean_seconds", "seconds")
_UNITS = {"bytes/s": ("MB/s", 1e-6), "1/s": ("1/s", 1.0), "s": ("s", 1.0), "share": ("%", 100.0)}


def speed_figures(designs: Sequence[Measured]) -> list[str]:
    """Figures in the order of their columns; what dd asks of the page cache is no figure of dd."""
    there = list(dict.fromkeys(name for each in designs for name in each.estimates))
    dd = any(each.design.spec is not None and each.design.spec.workload.kind == "dd" for each in designs)
    return [name for name in SPEED if name in there and not (dd and name == "iops")]


def speed_columns(names: Sequence[str], designs: Sequence[Mapping[str, Estimate]]) -> dict[str, Column]:
    """A column for each of these figures; times that are all below a millisecond are in microseconds."""
    columns = {name: SPEED[name] for name in names}
    for name, column in columns.items():
        values = [figures[name].mean for figures in designs if name in figures]
        if column.unit == "ms" and values and max(values) < 1e-3:
            columns[name] = replace(column, unit="µs", scale=1e6)
    return columns


def unit_of(figure: str) -> tuple[str, float]:
    """Unit of a program's figure, and what turns SI units into it."""
    dimension = dimension_of_figure(figure)
    return ("", 1.0) if dimension is None else _UNITS[dimension]


def usual(names: Sequence[str]) -> list[str]:
    """The figures that are shown where none is asked for."""
    usual = [name for name in _DEFAULT_FIGURES if name in names]
    if "iops" in usual:
        usual = [name for name in usual if name != "seconds"]
    return usual or list(names)


def value_words(path: str, value: Cell) -> str:
    """A size as people write it, other numbers with no more digits than count."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and value >= 512 and not value % 512 and is_size(path):
        return format_size(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def is_size(path: str) -> bool:
    """Whether what stands at a path is bytes."""
    return path.rpartition(".")[2] in ("chunk", "outer_chunk", "block_size", "read_size", "write_size", "span", "size",
                                       "start", "memory", "read_ahead", "run_length", "cache")  # fmt: skip


def scaled(name: str) -> tuple[float, str]:
    """What a figure is multiplied by to be shown, and its unit then."""
    if name == "seconds":
        return 1.0, "s"
    if name.endswith("seconds"):
        return 1e3, "ms"
    return (1e-6, "MB/s") if name.endswith("rate") and "." not in name else (1.0, "")


def heading(name: str) -> str:
    """A figure's name and unit."""
    unit = scaled(name)[1]
    return f"{name.removesuffix('_seconds')} ({unit})" if unit else name


def survived(facts: ArrayFacts) -> str:
    """Drives that may fail without loss of data: whichever they are, and with luck ("1 to 4")."""
    if facts.survives_at_most > facts.survives_any:
        return f"{facts.survives_any} to {facts.survives_at_most}"
    return str(facts.survives_any)


def rebuild_time(seconds: float | None) -> str:
    """The time of a rebuild, or that there is none, or that it does not move."""
    if seconds is None:
        return "none"
    return "stands still" if math.isinf(seconds) else format_duration(seconds)
