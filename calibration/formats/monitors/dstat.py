"""dstat's table, of dstat and of pcp's (dstat(1)): rates and operations of disks, and shares of the CPU.

A unit is one of 1024 bytes ("4372k"). The first row is of the time since the machine began. Each row is a report;
columns that are not of disks or the CPU are read past.
"""

from __future__ import annotations

import re

from ...text.report import FigureList, Report, Unit
from ...text.report_text import Cell, ReportText

NAME = "dstat"
SIGNATURE = re.compile(r"(?:^| )-{1,3}(?:dsk|io)/[\w-]+(?: |$)")

_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[BbkMGT]?)", re.ASCII)
_POWERS = {"": 0, "B": 0, "b": 0, "k": 1, "M": 2, "G": 3, "T": 4}
_CPU = {"usr": "cpu_user", "sys": "cpu_system", "idl": "cpu_idle", "wai": "cpu_iowait", "stl": "cpu_steal"}
_CELL = re.compile(r"(?:\d\d-\d\d )?\d\d:\d\d:\d\d|[^\s|:]+", re.ASCII)
"""A cell: what stands between blanks, bars and colons, or a time."""
_NAMES = re.compile(r"[a-z|:\s]+$")
_Column = tuple[str, Unit, str]
"""A figure, its unit and the device; the figure is "" of what is read past."""


def parse(text: ReportText) -> Report:
    """The figures of every row."""
    _rejoin(text)
    figures, report = FigureList(), 0
    labels: list[str] = []
    columns: list[_Column] = []
    number = 0
    while (number := text.after(number)) <= len(text):
        line = text.line(number)
        if _is_labels(line):
            labels = [label.strip("-") for label in line.split()]
        elif labels and _NAMES.match(line) and line.strip():
            columns = _columns(text, number, labels)
        elif not line.strip():
            labels, columns = [], []
        elif not columns:
            continue
        else:
            cells = [text.cell(number, *match.span()) for match in _CELL.finditer(line)]
            if len(cells) != len(columns):
                raise text.refused(number, f"{len(columns)} columns of dstat in one line", f"{len(cells)} columns")
            report += 1
            for (name, unit, device), cell in zip(columns, cells, strict=True):
                if name and cell.text != "-":
                    here = {"report": str(report), **({"device": device} if device else {})}
                    figures.add(name, _value(cell, unit), unit, number, **here)
        text.use(number)
    if not len(figures):
        raise text.refused(len(text) + 1, "a row of figures of disks under the heading: is the file complete?")
    return Report(NAME, None, figures.all(), ("report 1 is of the time since the machine began", *text.skipped()))


def _columns(text: ReportText, number: int, labels: list[str]) -> list[_Column]:
    """The columns of the second line of a heading: a part between bars or colons for each label."""
    parts = re.split(r"[|:]", text.line(number))
    if len(parts) != len(labels):
        raise text.refused(number, f"names below each of the {len(labels)} labels", f"{len(parts)} parts")
    columns: list[_Column] = []
    for label, part in zip(labels, parts, strict=True):
        kind, _, device = label.partition("/")
        for name in part.split():
            if kind in ("dsk", "io") and name in ("read", "writ"):
                way = "read" if name == "read" else "write"
                columns.append((f"{way}_rate", "bytes/s", device) if kind == "dsk" else (f"{way}_iops", "1/s", device))
            elif "cpu" in label and name in _CPU:
                columns.append((_CPU[name], "share", ""))
            else:
                columns.append(("", "count", ""))
    return columns


def _rejoin(text: ReportText) -> None:
    """Put together what mail has broken: labels, names below them, and rows until they have all columns."""
    anchor, wanted = 0, 0
    for number in range(1, len(text) + 1):
        line, before = text.line(number), text.line(anchor) if anchor else ""
        if not line.strip() or not before:
            goes_on = False
        elif _is_labels(before):
            goes_on = all("-" in word or "/" in word for word in line.split())
        elif _NAMES.match(before):
            goes_on = _NAMES.match(line) is not None
        else:
            goes_on = 0 < len(_CELL.findall(before)) < wanted and not _is_labels(line)
        if goes_on:
            text.join(anchor, number, " ")
        else:
            anchor = number if line.strip() else 0
        if anchor and _NAMES.match(text.line(anchor)):
            wanted = len(_CELL.findall(text.line(anchor)))


def _is_labels(line: str) -> bool:
    """Whether a line has the labels of a table, one of them of a disk."""
    return SIGNATURE.search(line) is not None and all("-" in word or "/" in word for word in line.split())


def _value(cell: Cell, unit: Unit) -> float:
    if unit == "share":
        return cell.percent()
    match = _AMOUNT.fullmatch(cell.text)
    if match is None:
        raise cell.refused("a number such as 4372k, 31M or 0")
    return cell._replace(text=match["number"]).number(1024 ** _POWERS[match["unit"]])
