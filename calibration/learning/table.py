"""Measurements of a box in a table: CSV with a row for each load, or for its reads and for its writes."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ...model.core.errors import InputError
from ...model.files.quantities import format_size
from .loads import BoxLoad, Measured

_KIB = 1024.0
BLOCKS = {"block_bytes": 1.0, "block_kib": _KIB}
LATENCIES = {"mean_latency_us": 1e-6, "mean_latency_ms": 1e-3, "mean_latency_s": 1.0}
RATES = {"iops": 1.0}
DIRECTIONS = ("read", "write", "both")
COLUMNS = (*BLOCKS, "jobs", "depth", "read_percent", "pattern", "direction", *RATES, *LATENCIES)
"""That are read; others are left alone."""
_UNLIKE_LITTLE = 0.25
"""A latency that is so far from I/Os outstanding over their rate was not measured of that load."""


class _Row(NamedTuple):
    line: int
    load: BoxLoad
    direction: str
    rate: float | None
    latency: float | None


def read_table(path: Path) -> list[Measured]:
    """What was measured.

    A load with reads and writes has a row for each, or one of both, whose latency is of all. Rows with the same load
    belong together if their directions differ.

    Raises
    ------
    InputError
        If a column or a number is missing or impossible, a direction comes twice, or rates and latencies do not fit
        together.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = reader.fieldnames or []
            _check_columns(path, names)
            rows = [_row(path, reader.line_num, fields) for fields in reader if any(fields.values())]
    except UnicodeDecodeError:
        raise InputError(str(path), "not text in UTF-8", "expected: a table in CSV") from None
    except csv.Error as error:
        raise InputError(str(path), f"not CSV: {error}", "expected: a table in CSV") from None
    except OSError as error:
        raise InputError(str(path), str(error.strerror), "expected: a table in CSV") from None
    if not rows:
        raise InputError(str(path), "no measurements", "expected: a row for each load, below the names of columns")
    return _joined(path, rows)


def _check_columns(path: Path, names: list[str] | tuple[str, ...] | object) -> None:
    there = set(names) if isinstance(names, list | tuple) else set()
    needed: tuple[tuple[str, ...], ...] = (
        tuple(BLOCKS),
        ("jobs",),
        ("depth",),
        ("read_percent",),
        (*RATES, *LATENCIES),
    )
    for any_of in needed:
        if not there & set(any_of):
            raise InputError(f"{path}: line 1", f"no column {' or '.join(any_of)}", f"expected: {', '.join(COLUMNS)}")


def _row(path: Path, line: int, fields: Mapping[str, str | None]) -> _Row:
    def number(name: str, allowed: Callable[[float], bool], words: str) -> float:
        text = (fields.get(name) or "").strip()
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not allowed(value):
            raise InputError(f"{path}: line {line}: {name}", text or "nothing", f"expected: {words}")
        return value

    def one_of(units: Mapping[str, float]) -> float | None:
        given = [name for name in units if (fields.get(name) or "").strip()]
        return number(given[0], _positive, "a number above zero") * units[given[0]] if given else None

    block = one_of(BLOCKS)
    if block is None:
        raise InputError(f"{path}: line {line}", "no size of a block", f"expected: a number in {' or '.join(BLOCKS)}")
    share = number("read_percent", lambda value: 0 <= value <= 100, "0 to 100") / 100
    load = BoxLoad(
        block,
        int(number("jobs", _whole, "a whole number, 1 or more")),
        int(number("depth", _whole, "a whole number, 1 or more")),
        share,
        _word(path, line, fields, "pattern", ("random", "sequential")) == "sequential",
    )
    of_one = "read" if share == 1 else "write" if share == 0 else "both"
    direction = _word(path, line, fields, "direction", (of_one, *(each for each in DIRECTIONS if each != of_one)))
    if (direction == "read" and share == 0) or (direction == "write" and share == 1):
        found = f"{direction}s of a load of {100 * share:g} % reads"
        raise InputError(f"{path}: line {line}: direction", found, "expected: a direction that the load has")
    rate, latency = one_of(RATES), one_of(LATENCIES)
    if rate is None and latency is None:
        raise InputError(
            f"{path}: line {line}", "neither a rate nor a latency", f"expected: {', '.join((*RATES, *LATENCIES))}"
        )
    return _Row(line, load, direction, rate, latency)


def _word(path: Path, line: int, fields: Mapping[str, str | None], name: str, words: tuple[str, ...]) -> str:
    text = (fields.get(name) or "").strip().lower() or words[0]
    if text not in words:
        raise InputError(f"{path}: line {line}: {name}", text, f"expected: {', '.join(words)}")
    return text


def _positive(value: float) -> bool:
    return math.isfinite(value) and value > 0


def _whole(value: float) -> bool:
    return math.isfinite(value) and value >= 1 and value == int(value)


def _joined(path: Path, rows: list[_Row]) -> list[Measured]:
    """Rows of one load together, in the order of their first."""
    groups: list[dict[str, _Row]] = []
    open_groups: dict[BoxLoad, dict[str, _Row]] = {}
    for row in rows:
        group = open_groups.get(row.load)
        if group is None or row.direction in group or "both" in group or row.direction == "both":
            # The same load once more: another measurement of it.
            group = open_groups[row.load] = {}
            groups.append(group)
        group[row.direction] = row
    return [_measured(path, group) for group in groups]


def _measured(path: Path, group: dict[str, _Row]) -> Measured:
    load = next(iter(group.values())).load
    line = min(row.line for row in group.values())
    shares = {"read": load.read_share, "write": 1 - load.read_share, "both": 1.0}
    means = {name: row.latency for name, row in group.items() if row.latency is not None}
    by_little = None
    if "both" in means:
        by_little = load.outstanding / means["both"]
    elif all(name in means or shares[name] == 0 for name in ("read", "write")):
        by_little = load.outstanding / math.fsum(shares[name] * mean for name, mean in means.items())
    rates = {name: row.rate for name, row in group.items() if row.rate is not None}
    if {"read", "write"} <= set(rates):
        rate: float | None = rates["read"] + rates["write"]
    else:
        rate = next((value / shares[name] for name, value in rates.items()), None)
    if rate is None:
        rate = by_little
    elif by_little is not None and abs(math.log(rate / by_little)) > _UNLIKE_LITTLE:
        took, said = (f"{1e6 * load.outstanding / value:.0f} us" for value in (rate, by_little))
        found = f"{load.outstanding} outstanding at {rate:.0f} I/Os a second, so {took} each, and a latency of {said}"
        raise InputError(f"{path}: line {line}", found, "expected: outstanding = rate x latency (Little's law)")
    if rate is None:
        raise InputError(
            f"{path}: line {line}", "a latency of one direction alone", "expected: a rate too, or both latencies"
        )
    return Measured(words(load), load, rate, means.get("read"), means.get("write"))


def words(load: BoxLoad) -> str:
    """A load in a few words."""
    size = format_size(load.block_size)
    order = "sequential" if load.sequential else "random"
    return f"{size} {order}, {load.jobs} x {load.depth}, {100 * load.read_share:.3g} % read"
