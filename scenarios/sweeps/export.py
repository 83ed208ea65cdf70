"""Tables of a sweep's results, for other programs: CSV and Parquet.

A line is a run: which it is, what varied, how it ended, its figures, how sure the means are, the highest utilization of
each kind of part, and the bottleneck. Quantities are in SI units.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from ...model.files.atomic_file import whole_file
from ...model.files.extras import how_to_install
from .axes import Cell
from .result_store import ResultStore, RunRow

_FIXED = ("point", "replication")
_GROUP = 10_000
"""Rows that are made ready at a time."""


class ResultTable:
    """The results of one sweep as a table.

    Parameters
    ----------
    store, sweep
        Where they are.
    figures
        Those that it shall have; all unless given.

    Attributes
    ----------
    columns
        Names, in order. What varies keeps its path, with "vary." before it if something else is called so.
    """

    def __init__(self, store: ResultStore, sweep: int, figures: Sequence[str] = ()) -> None:
        self._store = store
        self._sweep = sweep
        self._figures = list(figures) or store.names(sweep, "figures")
        shown = set(figures)
        self._estimates = [name for name in store.names(sweep, "estimates") if not shown or name in shown]
        self._kinds = store.kinds(sweep)
        self._paths = store.record(sweep).paths
        measured = (
            *self._figures,
            *(f"{name}.half_width" for name in self._estimates),
            *(f"busiest.{kind}" for kind in self._kinds),
            *("saturated", "bottleneck", "error"),
        )
        taken = {*_FIXED, "status", *measured}
        paths = [f"vary.{path}" if path in taken else path for path in self._paths]
        self.columns = (*_FIXED, *paths, "status", *measured)

    def rows(self) -> Iterator[tuple[Cell | bool | None, ...]]:
        """The lines, in order of point and replication; None where there is nothing."""
        for row in self._store.rows(self._sweep):
            yield self._cells(row)

    def _cells(self, row: RunRow) -> tuple[Cell | bool | None, ...]:
        done = row.status == "done"
        busiest: dict[str, float] = {}
        for usage in row.usages:
            busiest[usage.kind] = max(busiest.get(usage.kind, 0.0), usage.utilization)
        widths = {name: estimate.half_width for name, estimate in row.estimates.items()}
        return (
            row.point,
            row.replication,
            *(row.values.get(path) for path in self._paths),
            row.status,
            *(row.figures.get(name) for name in self._figures),
            *(_finite(widths.get(name)) for name in self._estimates),
            *(busiest.get(kind) for kind in self._kinds),
            row.saturated if done else None,
            row.bottleneck if done else None,
            row.error or None,
        )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def write_csv(table: ResultTable, path: Path | str) -> None:
    """Write a table as CSV: numbers as short as they can be without losing a bit, nothing where there is nothing.

    Raises
    ------
    InputError
        If it cannot be written; the file is then as it was.
    """
    with _replaced(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        for row in table.rows():
            writer.writerow(["" if cell is None else _text(cell) for cell in row])


def _text(cell: Cell | bool) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return repr(cell) if isinstance(cell, float) else str(cell)


def write_parquet(table: ResultTable, path: Path | str) -> None:
    """The same as Parquet; a column is of whole numbers, numbers, truths or text.

    Raises
    ------
    InputError
        If it cannot be written, or `pyarrow` is not installed.
    """
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        found = f"it needs the module {error.name}"
        raise InputError("--parquet", found, how_to_install("sweep")) from None
    kinds = _kinds_of(table)
    types = {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_(), str: pyarrow.string()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in zip(table.columns, kinds, strict=True)])
    with _replaced(path) as unfinished, pyarrow.parquet.ParquetWriter(unfinished, schema) as writer:
        rows = table.rows()
        while group := list(islice(rows, _GROUP)):
            columns = [
                pyarrow.array([_as(kind, cell) for cell in cells], types[kind])
                for kind, cells in zip(kinds, zip(*group, strict=True), strict=True)
            ]
            writer.write_table(pyarrow.table(columns, schema=schema))


def _kinds_of(table: ResultTable) -> list[type]:
    """What each column holds: the widest kind of all its cells."""
    order = (bool, int, float, str)
    found: list[type | None] = [None] * len(table.columns)
    for row in table.rows():
        for i, cell in enumerate(row):
            kind = type(cell)
            held = found[i]
            if cell is not None and held is not kind:
                found[i] = kind if held is None else _wider(held, kind, order)
    return [kind or float for kind in found]


def _wider(one: type, other: type, order: Sequence[type]) -> type:
    return max(one, other, key=order.index)


def _as(kind: type, cell: Cell | bool | None) -> Any:
    if cell is None:
        return None
    return _text(cell) if kind is str else kind(cell)


@contextmanager
def _replaced(path: Path | str) -> Iterator[Path]:
    """A file in the folder of `path` to write to, which replaces it when complete."""
    path = Path(path)
    allowed = "expected: a file in a folder that is there and may be written to"
    if path.is_dir():
        raise InputError(str(path), "this is a folder", allowed)
    try:
        with whole_file(path) as unfinished:
            yield unfinished
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(str(path)[:200], f"cannot be written ({reason})", allowed) from None
