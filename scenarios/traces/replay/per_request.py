"""What became of each I/O of a replayed trace: when it came, how long it waited and took, and what served it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ....model.core.engine import Engine
from ....model.core.errors import InputError
from ....model.core.request import FLUSH, READ, TRIM, Request
from ....model.files.atomic_file import whole_file
from ....model.files.extras import how_to_install

COLUMNS = ("arrival_s", "wait_s", "service_s", "response_s", "op", "offset", "size", "served_by")
"""Of the table, in this order: times in seconds, `offset` and `size` in bytes on the target."""
KINDS = (".csv", ".parquet")
"""Endings of the files that :meth:`RequestLog.write` writes."""
_OPS = {READ: "read", TRIM: "discard", FLUSH: "flush"}


class Row(NamedTuple):
    """One I/O; see :data:`COLUMNS`."""

    arrival_s: float
    wait_s: float
    service_s: float
    response_s: float
    op: str
    offset: int
    size: int
    served_by: str


class _Open:
    """An I/O that is under way."""

    __slots__ = ("alone", "before", "came_s", "number")

    def __init__(self, number: int, came_s: float, before: list[tuple[int, int, int]], alone: bool) -> None:
        self.number = number
        self.came_s = came_s
        self.before = before
        self.alone = alone


class RequestLog:
    """The I/Os of a replay, in the order in which they were sent.

    An I/O arrives when the trace says so, or when it is sent if the replay has no times. It waits until the target
    takes it; then it is served until it is complete. What served it is known only of an I/O that was alone from
    beginning to end, by what the drives counted meanwhile; of others it is empty.

    Parameters
    ----------
    engine
        The clock.
    drives
        The machine's drives.
    """

    def __init__(self, engine: Engine, drives: Iterable[Any]) -> None:
        self._engine = engine
        self._drives = list(drives)
        self._open: dict[Request, _Open] = {}
        self._rows: list[Row | None] = []

    @property
    def rows(self) -> list[Row]:
        """The I/Os that are complete."""
        return [row for row in self._rows if row is not None]

    def sent(self, request: Request, came_s: float) -> None:
        """An I/O is about to be sent that came at a time (s)."""
        for other in self._open.values():
            other.alone = False
        self._open[request] = _Open(len(self._rows), came_s, self._counts(), not self._open)
        self._rows.append(None)

    def ended(self, request: Request) -> None:
        """An I/O is complete."""
        open_io, now = self._open.pop(request), self._engine.now
        self._rows[open_io.number] = Row(
            float(open_io.came_s),
            request.submitted - open_io.came_s,
            now - request.submitted,
            now - open_io.came_s,
            _OPS.get(request.op, "write"),
            request.offset,
            request.size,
            self._served_by(open_io.before) if open_io.alone else "",
        )

    def _counts(self) -> list[tuple[int, int, int]]:
        """Of each drive: reads, reads that its buffer served, and writes."""
        return [(drive.reads, getattr(drive, "cache_hits", 0), drive.writes) for drive in self._drives]

    def _served_by(self, before: list[tuple[int, int, int]]) -> str:
        """What the drives have done since then, in words."""
        served: dict[str, None] = {}
        for drive, old, new in zip(self._drives, before, self._counts(), strict=True):
            reads, hits, writes = (after - count for after, count in zip(new, old, strict=True))
            if min(reads, hits, writes) < 0:
                return ""  # the counts began anew with the measurement
            disk = drive.spec.rotational
            if reads > hits:
                served["platters" if disk else "flash"] = None
            if hits:
                served["read buffer"] = None
            if writes:
                cached = disk and drive.spec.write_cache
                served["write buffer" if cached else "platters" if disk else "flash"] = None
        return " + ".join(served) or "no drive"

    def write(self, path: Path) -> None:
        """Write the table as CSV or Parquet, as the file's name ends.

        Raises
        ------
        InputError
            If Parquet is asked for and pyarrow is not installed.
        """
        if path.suffix == ".csv":
            with whole_file(path) as unfinished, unfinished.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(COLUMNS)
                writer.writerows(self.rows)
            return
        try:
            import pyarrow  # type: ignore[import-untyped]
            import pyarrow.parquet  # type: ignore[import-untyped]
        except ImportError:
            found = "found .parquet, which needs pyarrow"
            raise InputError("--per-request", found, f"{how_to_install('sweep')}, or a file .csv") from None
        columns = list(zip(*self.rows, strict=True)) or [()] * len(COLUMNS)
        table = pyarrow.table({name: list(values) for name, values in zip(COLUMNS, columns, strict=True)})
        with whole_file(path) as unfinished:
            pyarrow.parquet.write_table(table, unfinished)
