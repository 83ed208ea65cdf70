"""iozone's table of text: a line for each size of file and record, rates in KiB a second (iozone.c: 1024 bytes).

The columns have a fixed width, and a phase that was not asked for (``-i``) leaves its column blank: a rate belongs to
the heading under whose end it stands. The other modes (``-O`` operations a second, ``-N`` microseconds, ``-t``
throughput of several processes) print other units or another table and are refused.
"""

from __future__ import annotations

import re

from .report import FigureList, Report
from .report_text import Cell, ReportText

NAME = "iozone"
SIGNATURE = re.compile(r"^\s*[kK]B +reclen |^\s*Iozone: Performance Test")

_KIB = 1024
_PHASES = (
    *("write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read"),
    *("record_rewrite", "stride_read", "fwrite", "frewrite", "fread", "freread"),
)
_WORDS = (
    *("write", "rewrite", "read", "reread", "read", "write", "read"),
    *("rewrite", "read", "fwrite", "frewrite", "fread", "freread"),
)
_LEAST_COLUMNS = 9
_HEADING = re.compile(r"^\s*[kK]B +reclen ")
_VERSION = re.compile(r"Version \$Revision: (\S+) \$")
_OTHER_UNITS = re.compile(r"OPS Mode|Microseconds/op Mode|Output is in (?!k?K?bytes/sec)|Children see throughput", re.I)
_ROW = re.compile(r"^\s*\d+\s+\d+(?:\s|$)", re.ASCII)
_OFF = 2
"""Characters that a rate may end away from its heading."""


def parse(text: ReportText) -> Report:
    """The figures of every line, with the sizes of file and record in bytes as context."""
    figures, version, headings = FigureList(), None, []
    for number, line in enumerate(text.lines, 1):
        other = _OTHER_UNITS.search(line)
        if other is not None:
            raise text.group(number, other, 0).refused("rates in Kbytes/sec, as iozone prints without -O, -N and -t")
        version = version or (found.group(1) if (found := _VERSION.search(line)) else None)
        if _HEADING.match(line):
            headings.append(number)
    if not headings:
        raise text.refused(len(text) + 1, "the table that begins with 'kB  reclen    write'")
    text.use(*range(1, headings[0]))
    for heading in headings:
        _table(text, heading, figures)
    for number, line in enumerate(text.lines, 1):
        if line.startswith("iozone test complete"):
            text.use(number)
    if not len(figures):
        raise text.refused(headings[-1] + 1, "a line of sizes and rates")
    return Report(NAME, version, figures.all(), text.skipped())


def _table(text: ReportText, heading: int, figures: FigureList) -> None:
    columns = text.cells(heading)[2:]
    words = tuple(cell.text for cell in columns)
    if len(words) < _LEAST_COLUMNS or words != _WORDS[: len(words)]:
        raise text.refused(heading, f"the columns {' '.join(_WORDS)} after the record size")
    text.use(heading - 1, heading)
    number = heading + 1
    while number <= len(text) and (not text.line(number).strip() or _is_row(text, number)):
        if text.line(number).strip():
            _row(text, number, columns, figures)
            text.use(number)
        number += 1


def _is_row(text: ReportText, number: int) -> bool:
    """Whether a line is of figures: it begins with a number, or looks as if it should."""
    line = text.line(number)
    return bool(_ROW.match(line)) or (line[:1].isspace() and bool(re.search(r"\d", line)))


def _row(text: ReportText, number: int, columns: list[Cell], figures: FigureList) -> None:
    cells = text.cells(number)
    if len(cells) < 3:
        raise text.refused(number, "size, record size and at least one rate (is the line complete?)")
    size, record = cells[0].number(_KIB), cells[1].number(_KIB)
    here = {"size": f"{size:.0f}", "record": f"{record:.0f}"}
    rates = cells[2:]
    if len(rates) > len(columns):
        raise rates[len(columns)].refused(f"at most {len(columns)} rates under this heading")
    places = range(len(columns)) if len(rates) == len(columns) else _places(rates, columns)
    for place, rate in zip(places, rates, strict=True):
        rate.whole()
        figures.add(f"{_PHASES[place]}_rate", rate.number(_KIB), "bytes/s", number, **here)


def _places(rates: list[Cell], columns: list[Cell]) -> list[int]:
    """Under which heading each rate stands; both are flushed right."""
    ends = [cell.column + len(cell.text) for cell in columns]
    places: list[int] = []
    for rate in rates:
        end = rate.column + len(rate.text)
        near = [place for place, each in enumerate(ends) if abs(each - end) <= _OFF]
        if len(near) != 1 or (places and near[0] <= places[-1]):
            raise rate.refused("a rate that ends under the end of its heading, as iozone prints it")
        places.append(near[0])
    return places
