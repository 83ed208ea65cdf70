"""Figures as people read them: the unit of each, its heading, and which are shown first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...calibration.study.figures import dimension_of_figure
from ...model.files.quantities import format_duration, format_size
from ...model.statistics.batch_means import Estimate
from ...scenarios.comparison.array_facts import ArrayFacts
from ...scenarios.comparison.side_by_side import Measured
from ...scenarios.sweeps.axes import Cell

SPEED: dict[str, tuple[str, float]] = {
    "iops": ("I/Os per s", 1.0),
    "rate": ("MB/s", 1e-6),
    "read_mean_seconds": ("read mean\n(ms)", 1e3),
    "read_p99_seconds": ("read p99\n(ms)", 1e3),
    "write_mean_seconds": ("write mean\n(ms)", 1e3),
    "write_p99_seconds": ("write p99\n(ms)", 1e3),
}
"""Title of each column, and what turns SI units into its unit."""
_DEFAULT_FIGURES = ("rate", "iops", "read_mean_seconds", "read_p99_seconds", "write_mean_seconds", "seconds")
_UNITS = {"bytes/s": ("MB/s", 1e-6), "1/s": ("1/s", 1.0), "s": ("s", 1.0), "share": ("%", 100.0)}


def speed_figures(designs: Sequence[Measured]) -> list[str]:
    """Figures in the order of their columns; what dd asks of the page cache is no figure of dd."""
    there = list(dict.fromkeys(name for each in designs for name in each.estimates))
    dd = any(each.design.spec is not None and each.design.spec.workload.kind == "dd" for each in designs)
    return [name for name in SPEED if name in there and not (dd and name == "iops")]


def speed_titles(designs: Sequence[Mapping[str, Estimate]]) -> dict[str, tuple[str, float]]:
    """Title and scale of each column; times that are all below a millisecond are in microseconds."""
    titles = dict(SPEED)
    for name, (title, _) in SPEED.items():
        values = [figures[name].mean for figures in designs if name in figures]
        if name.endswith("_seconds") and values and max(values) < 1e-3:
            titles[name] = (title.replace("(ms)", "(µs)"), 1e6)
    return titles


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


def once_in(years: float) -> str:
    """Years between losses of data, with two digits, as no more are known."""
    if years > 1e9:
        return "more than 1e9 years"
    rounded = float(f"{years:.2g}")
    return f"{rounded:,.0f} years" if rounded >= 10 else f"{rounded:g} years"


def probability(value: float) -> str:
    """A probability in percent; very small ones as a power of ten."""
    if not value:
        return "0"
    return f"{100 * value:.2g} %" if value >= 1e-4 else f"{value:.1e}"


def three_digits(value: float) -> str:
    """A number with three significant digits, and all digits before the point."""
    if not math.isfinite(value):
        return "unknown"
    if not value:
        return "0"
    return f"{value:,.{places_of(value)}f}"


def places_of(value: float) -> int:
    """Decimal places with which a number has three significant digits."""
    return min(9, max(0, 2 - math.floor(math.log10(abs(value))))) if value else 0


def capacity(size: int) -> str:
    """Bytes in the unit that drives are sold by (1 TB = 10^12 bytes)."""
    for unit, factor in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{three_digits(size / factor)} {unit}"
    return f"{size:,} bytes"
