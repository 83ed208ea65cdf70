"""vdbench's report of storage (Vdbench User's Guide, "Report file examples"): rows of intervals, and their averages.

An MB is 2^20 bytes, response times are milliseconds. A run definition ("rd1") and the interval are context; the
averages of a run ("avg_2-5") have the interval "average".
"""

from __future__ import annotations

import re

from ...text.report import FigureList, Report, Unit
from ...text.report_text import ReportText

NAME = "vdbench"
SIGNATURE = re.compile(r"^\w{3} \d{1,2}, \d{4}\s+interval\s+i/o\b")

_HEADING = SIGNATURE
_RUN = re.compile(r"^[\d:.]+ Starting RD=(?P<name>[^;\s]+)")
_ROW = re.compile(r"^\d{1,2}:\d\d:\d\d\.\d+\s+(?P<interval>\d+|(?:avg|std|max)_\S+)(?=\s|$)", re.ASCII)
_VERSION = re.compile(r"^Vdbench distribution: vdbench(?P<version>\d+)")
_OTHER = re.compile(r"^(?:Copyright |For documentation, |\d{1,2}:\d\d:\d\d\.\d+ [A-Za-z])")
"""Lines that say what vdbench does."""
_MIB = 1 << 20
_COLUMNS: dict[tuple[str, str], tuple[str, Unit, float, float]] = {
    ("i/o", "rate"): ("iops", "1/s", 1, 1),
    ("MB/sec", "1024**2"): ("rate", "bytes/s", _MIB, 1),
    ("bytes", "i/o"): ("request_size", "bytes", 1, 1),
    ("read", "pct"): ("read_share", "share", 1, 100),
    ("resp", "time"): ("response_time", "s", 1, 1000),
    ("read", "resp"): ("read_response_time", "s", 1, 1000),
    ("write", "resp"): ("write_response_time", "s", 1, 1000),
    ("read", "max"): ("read_response_max", "s", 1, 1000),
    ("write", "max"): ("write_response_max", "s", 1, 1000),
    ("resp", "max"): ("response_max", "s", 1, 1000),
    ("resp", "stddev"): ("response_deviation", "s", 1, 1000),
    ("queue", "depth"): ("queue_depth", "count", 1, 1),
    ("cpu%", "sys+u"): ("cpu_busy", "share", 1, 100),
    ("cpu%", "sys"): ("cpu_system", "share", 1, 100),
}
"""By the words of both lines of the heading: the figure, its unit, and two factors that a number is times and per."""
_ABOVE, _BELOW = (frozenset(words) for words in zip(*_COLUMNS, strict=True))


def parse(text: ReportText) -> Report:
    """The figures of every interval of every run."""
    _rejoin(text)
    figures, version, run = FigureList(), None, ""
    above: list[str] = []
    columns: list[tuple[str, Unit, float, float]] = []
    number = 0
    while (number := text.after(number)) <= len(text):
        line = text.line(number)
        row = _ROW.match(line)
        if starts := _RUN.match(line):
            run = starts["name"]
        elif told := _VERSION.match(line):
            version = told["version"]
        elif _HEADING.match(line):
            above = line[line.index("interval") :].split()[1:]
        elif above and _BELOW.issuperset(words := line.split()) and words:
            if len(above) != len(words) or not all(pair in _COLUMNS for pair in zip(above, words, strict=True)):
                raise text.refused(number, "the second line of vdbench's heading, a word below each of the first")
            columns, above = [_COLUMNS[pair] for pair in zip(above, words, strict=True)], []
        elif row is not None and columns:
            cells = text.cells(number, row.end())
            if len(cells) != len(columns):
                raise text.refused(number, f"{len(columns)} columns behind the interval", f"{len(cells)} columns")
            average = row["interval"].startswith("avg_")
            if average or row["interval"].isdecimal():
                here = {"run": run, "interval": "average" if average else row["interval"]}
                for (name, unit, times, per), cell in zip(columns, cells, strict=True):
                    if cell.text != "NaN":
                        figures.add(name, cell.number(times, per), unit, number, **here)
        elif not _OTHER.match(line):
            continue
        text.use(number)
    if not len(figures):
        raise text.refused(len(text) + 1, "a row of an interval below the heading: is the file complete?")
    return Report(NAME, version, figures.all(), text.skipped())


def _rejoin(text: ReportText) -> None:
    """Put together what mail has broken: both lines of a heading, and rows until they have all columns."""
    anchor, wanted = 0, 0
    for number in range(1, len(text) + 1):
        words, before = text.line(number).split(), text.line(anchor) if anchor else ""
        if not words:
            goes_on = False
        elif _HEADING.match(before):
            goes_on = _ABOVE.issuperset(words) and words[0] != "rate"
        elif before.split()[:1] == ["rate"]:
            goes_on = _BELOW.issuperset(words)
        else:
            goes_on = (
                _ROW.match(before) is not None and len(before.split()) < wanted and not _ROW.match(text.line(number))
            )
        if goes_on:
            text.join(anchor, number, " ")
        else:
            anchor = number
        if _HEADING.match(text.line(anchor)):
            wanted = len(text.line(anchor)[text.line(anchor).index("interval") :].split()) + 1
