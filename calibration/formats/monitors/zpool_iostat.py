"""zpool iostat, also with -v, -l, -q, -r, -w and an interval (zpool-iostat(8); zpool_main.c, iostat_top_labels).

Numbers have a unit of 1024 ("14.8M") unless they are small or -p was given. Latencies have one of time ("585us"), or
with -p are nanoseconds; "-" is no figure. With -v, groups of drives and drives stand below their pool, and are named
with it ("tank/raidz2-0/sda"). The first report covers the time since the pool was imported.

-w counts I/Os by latency and -r by size, in a table for each pool or drive. A row of -w has the largest latency in it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...text.report import FigureList, Report, Unit
from ...text.report_text import Cell, ReportText

NAME = "zpool"
SIGNATURE = re.compile(r"^(?:pool|vdev)\s+alloc\s+free\s+read\b|^(?:latency\s+read|req_size\s+ind)\b")

_RULE = re.compile(r"^-{2,}(?:\s+-{2,})*\s*$")
_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[BKMGTPE]?)", re.ASCII)
_TIME = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ns|us|ms|s|)", re.ASCII)
_POWERS = "BKMGTPE"
_SECONDS = {"": 1e9, "ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
"""What a number of a unit is divided by."""
_INDENT = 2
_PARTS = ("logs", "cache", "special", "dedup", "spares")
"""Lines of -v without figures of their own."""
_FIRST = ("pool", "vdev", "latency", "req_size")
_BOTTOM = frozenset(
    ("alloc", "free", "read", "write", "wait", "pend", "activ", "ind", "agg", "scrub", "trim", "rebuild")
)


class _Column(NamedTuple):
    name: str
    unit: Unit


def _tops() -> dict[str, tuple[_Column, ...]]:
    """The columns below each label of the upper line."""
    tops: dict[str, tuple[_Column, ...]] = {
        "capacity": (_Column("allocated", "bytes"), _Column("free", "bytes")),
        "operations": (_Column("read_iops", "1/s"), _Column("write_iops", "1/s")),
        "bandwidth": (_Column("read_rate", "bytes/s"), _Column("write_rate", "bytes/s")),
    }
    for label in ("total_wait", "disk_wait", "syncq_wait", "asyncq_wait"):
        tops[label] = (_Column(f"read_{label}", "s"), _Column(f"write_{label}", "s"))
    for label in ("scrub", "trim", "rebuild"):
        tops[label] = (_Column(f"{label}_wait", "s"),)
    for label in (
        "syncq_read",
        "syncq_write",
        "asyncq_read",
        "asyncq_write",
        "scrubq_read",
        "trimq_write",
        "rebuildq_write",
    ):
        tops[label] = (_Column(f"{label}_pending", "count"), _Column(f"{label}_active", "count"))
    return tops


_TOPS = _tops()
_DEFAULT = ("capacity", "operations", "bandwidth")
_CLASSES = ("sync_read", "sync_write", "async_read", "async_write", "scrub", "trim", "rebuild")
_LABELS = frozenset((*_TOPS, *_CLASSES))


class _Table(NamedTuple):
    """A table: its columns, and of a histogram the device and what its rows count by."""

    columns: tuple[_Column, ...]
    device: str = ""
    by: str = ""


def parse(text: ReportText) -> Report:
    """The figures of every pool, group and drive in every report."""
    _rejoin(text)
    figures, reading = FigureList(), _Reading()
    table: _Table | None = None
    labels: list[str] = []
    number = 0
    while (number := text.after(number)) <= len(text):
        words = text.line(number).split()
        if not words:
            table, labels = None, []
        elif _is_top(words):
            labels = words
        elif words[0] in _FIRST and _BOTTOM.issuperset(words[1:]):
            table = _table(text, number, labels)
        elif table is None or (len(words) == 1 and not _RULE.match(words[0])):
            continue
        elif table.by and not _RULE.match(text.line(number)):
            _bin(text.cells(number), table, figures)
        elif not _RULE.match(text.line(number)):
            reading.row(text, number, table, figures)
        text.use(number)
    if not len(figures):
        raise text.refused(len(text) + 1, "a line of figures under the heading: is the file complete?")
    return Report(NAME, None, figures.all(), ("report 1 is of the time since the pool was imported", *text.skipped()))


def _is_top(words: list[str]) -> bool:
    """Whether a line has the labels above a heading, with or without a name before them."""
    return _LABELS.issuperset(words) or (len(words) > 1 and _LABELS.issuperset(words[1:]))


def _rejoin(text: ReportText) -> None:
    """Put together what mail has broken: a row goes on until it has all columns, a heading while labels follow."""
    anchor, wanted = 0, 0
    for number in range(1, len(text) + 1):
        words, before = text.line(number).split(), text.line(anchor).split() if anchor else []
        is_heading = before[:1] != [] and before[0] in _FIRST
        if not words or _RULE.match(text.line(number)):
            goes_on = False
        elif before and _is_top(before):
            goes_on = _LABELS.issuperset(words)
        elif is_heading:
            goes_on = _BOTTOM.issuperset(words)
        else:
            begins = words[0] in _FIRST or _is_top(words)
            goes_on = 0 < len(before) < wanted and before not in ([each] for each in _PARTS) and not begins
        if goes_on:
            text.join(anchor, number, " ")
        else:
            anchor = number if words and not _RULE.match(text.line(number)) else 0
        if anchor and text.line(anchor).split()[0] in _FIRST:
            wanted = len(text.line(anchor).split())


def _table(text: ReportText, number: int, above: list[str]) -> _Table:
    """The columns of a heading, by the labels above it."""
    cells = text.cells(number)
    labels = [word for word in above if word in _LABELS] or list(_DEFAULT)
    first = cells[0].text
    device = next((word for word in above[:1] if word not in _LABELS), "")
    columns: list[_Column] = []
    if first == "req_size":
        for label in labels:
            columns += [_Column(f"{label}_individual_ios", "count"), _Column(f"{label}_aggregated_ios", "count")]
    else:
        columns = [column for label in labels if label in _TOPS for column in _TOPS[label]]
    if first == "latency":  # the last columns have their label in the heading itself
        columns += [_TOPS[cell.text][0] for cell in cells[len(columns) + 1 :] if cell.text in _TOPS]
        columns = [_Column(f"{column.name}_ios", "count") for column in columns]
    if len(columns) != len(cells) - 1:
        raise text.refused(number, "the labels of its columns in the line above, as zpool iostat prints them")
    return _Table(tuple(columns), device, {"latency": "latency", "req_size": "size"}.get(first, ""))


class _Reading:
    """Rows of pools and drives: which report they are in, and what they stand below."""

    def __init__(self) -> None:
        self.report = 1
        self.above: list[str] = []
        self.seen: set[str] = set()

    def row(self, text: ReportText, number: int, table: _Table, figures: FigureList) -> None:
        """Take the figures of a row."""
        line, cells = text.line(number), text.cells(number)
        if len(cells) != len(table.columns) + 1:
            if cells[0].text in _PARTS:
                return
            wanted = f"a name and {len(table.columns)} columns of zpool iostat"
            raise text.refused(number, wanted, f"{len(cells)} columns")
        depth = (len(line) - len(line.lstrip())) // _INDENT
        self.above = [*self.above[:depth], cells[0].text]
        name = "/".join(self.above)
        if name in self.seen:
            self.report, self.seen = self.report + 1, set()
        self.seen.add(name)
        for column, cell in zip(table.columns, cells[1:], strict=True):
            if cell.text != "-":
                value = _seconds(cell) if column.unit == "s" else _amount(cell)
                figures.add(column.name, value, column.unit, number, report=str(self.report), device=name)


def _bin(cells: list[Cell], table: _Table, figures: FigureList) -> None:
    """A row of a histogram: how many I/Os took that long, or were that large."""
    first = cells[0]
    if len(cells) != len(table.columns) + 1:
        raise first.refused(f"a row with {len(table.columns)} counts", f"{len(cells)} columns")
    if table.by == "latency":
        _seconds(first)
    else:
        _amount(first)
    for column, cell in zip(table.columns, cells[1:], strict=True):
        if cell.text not in ("-", "0"):
            here = {"device": table.device, table.by: first.text}
            figures.add(column.name, _amount(cell), column.unit, cell.line, **here)


def _amount(cell: Cell) -> float:
    match = _AMOUNT.fullmatch(cell.text)
    if match is None:
        raise cell.refused("a number such as 120, 14.8M or 512K, or '-'")
    return cell._replace(text=match["number"]).number(1024 ** _POWERS.index(match["unit"] or "B"))


def _seconds(cell: Cell) -> float:
    match = _TIME.fullmatch(cell.text)
    if match is None:
        raise cell.refused("a time such as 585us or 12ms, or '-'")
    return cell._replace(text=match["number"]).number(per=_SECONDS[match["unit"]])
