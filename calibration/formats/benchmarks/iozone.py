"""iozone's table of text: a line for each size of file and record, rates in KiB a second (iozone.c: 1024 bytes).

The columns have a fixed width, and a phase that was not asked for (``-i``) leaves its column blank: a rate belongs to
the heading under whose end it stands. With ``-t`` several processes run each test, and the sums, least, most and mean
of their rates are printed: ``random_read_children_rate`` is the sum of what each process measured,
``random_read_parent_rate`` is by the clock of their parent. ``-R`` prints tables for a spreadsheet; they are read where
there is no other table. The modes ``-O`` (operations a second) and ``-N`` (microseconds) are refused.
"""

from __future__ import annotations

import re

from ...text.report import FigureList, Report
from ...text.report_text import Cell, ReportText

NAME = "iozone"
SIGNATURE = re.compile(
    r'^\s*[kK]B +reclen |^\s*Iozone: Performance Test|^\s*Children see throughput for +\d|^"[\w -]+ report"\s*$'
)

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
_OTHER_UNITS = re.compile(r"OPS Mode|Microseconds/op Mode|Output is in (?!k?K?bytes/sec)", re.I)
_ROW = re.compile(r"^\s*\d+\s+\d+(?:\s|$)", re.ASCII)
_TESTS = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "reverse readers": "backward_read",
    "stride readers": "stride_read",
    "random readers": "random_read",
    "random writers": "random_write",
    "mixed workload": "mixed",
    "pwrite writers": "pwrite",
    "pread readers": "pread",
    "fwriters": "fwrite",
    "freaders": "fread",
}
"""What -t calls its tests."""
_THROUGHPUT = re.compile(
    r"^\s*(?P<who>Children see|Parent sees) throughput for +(?P<count>\d+) ++(?P<test>[\w-]*+(?: [\w-]++)*)\s*"
    r"=\s*(?P<rate>\S+) [kK]B/sec"
)
_OF_PROCESS = re.compile(
    r"^\s*(?P<which>Min|Max|Avg) (?P<what>throughput per (?:process|thread)|xfer)\s*=\s*(?P<value>\S+) [kK]B(?:/sec)?"
)
_FILE, _RECORD = re.compile(r"File size set to (\d+) [kK]B"), re.compile(r"Record Size (\d+) [kK]B")
_REPORTS = {
    "Writer": "write",
    "Re-writer": "rewrite",
    "Reader": "read",
    "Re-Reader": "reread",
    "Re-reader": "reread",
    "Random read": "random_read",
    "Random write": "random_write",
    "Backward read": "backward_read",
    "Record rewrite": "record_rewrite",
    "Stride read": "stride_read",
    "Fwrite": "fwrite",
    "Re-Fwrite": "frewrite",
    "Fread": "fread",
    "Re-Fread": "freread",
}
"""What -R calls its tables."""
_REPORT = re.compile(r'^"(?P<name>[\w -]+) report"\s*$')
_QUOTED = re.compile(r'"(\d+)"')
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
    reports = [number for number, line in enumerate(text.lines, 1) if _REPORT.match(line)]
    several = [number for number, line in enumerate(text.lines, 1) if _THROUGHPUT.match(line)]
    if not headings and not several and not reports:
        raise text.refused(len(text) + 1, "the table that begins with 'kB  reclen    write'")
    text.use(*range(1, min((*headings, *several, *reports))))
    if several:
        _throughput(text, several[0], figures)
    for report in reports:
        _spreadsheet(text, report, None if headings or several else figures)
    for heading in headings:
        _table(text, heading, figures)
    for number, line in enumerate(text.lines, 1):
        if line.startswith(("iozone test complete", "Excel output is below", "Excel chart generation")):
            text.use(number)
    if not len(figures):
        raise text.refused(max((*headings, *several, *reports)) + 1, "a line of sizes and rates")
    return Report(NAME, version, figures.all(), text.skipped())


def _throughput(text: ReportText, first: int, figures: FigureList) -> None:
    """The tests of -t: a line for all processes as they and as their parent see it, then least, most and mean."""
    here: dict[str, str] = {}
    for number in range(1, first):
        for pattern, name in ((_FILE, "size"), (_RECORD, "record")):
            match = pattern.search(text.line(number))
            if match is not None:
                here[name] = f"{text.group(number, match, 1).number(_KIB):.0f}"
    test = ""
    for number in range(first, len(text) + 1):
        line = text.line(number)
        if match := _THROUGHPUT.match(line):
            said = text.group(number, match, "test")
            if said.text not in _TESTS:
                raise said.refused(f"one of iozone's tests: {', '.join(_TESTS)}")
            test, here["processes"] = _TESTS[said.text], match["count"]
            who = "children" if match["who"].startswith("Children") else "parent"
            rate = text.group(number, match, "rate").number(_KIB)
            figures.add(f"{test}_{who}_rate", rate, "bytes/s", number, **here)
        elif test and (match := _OF_PROCESS.match(line)):
            value = text.group(number, match, "value").number(_KIB)
            if match["what"] == "xfer":
                figures.add(f"{test}_{match['which'].lower()}_bytes", value, "bytes", number, **here)
            else:
                figures.add(f"{test}_{match['which'].lower()}_rate", value, "bytes/s", number, **here)
        elif line.strip():
            continue
        text.use(number)


def _spreadsheet(text: ReportText, first: int, figures: FigureList | None) -> None:
    """A table of -R: record sizes in quotes, then a line for each file size; without `figures` it is only used up."""
    heading = _REPORT.match(text.line(first))
    said = text.group(first, heading, "name") if heading is not None else text.cell(first, 0, 0)
    if said.text not in _REPORTS:
        raise said.refused(f"one of iozone's reports: {', '.join(_REPORTS)}")
    records = _QUOTED.findall(text.line(first + 1))
    if not records:
        raise text.refused(first + 1, "the record sizes in quotes, in KB")
    text.use(first, first + 1)
    number = first + 2
    while text.line(number).lstrip().startswith('"') and not _REPORT.match(text.line(number)):
        size, *rates = text.cells(number)
        quoted = _QUOTED.fullmatch(size.text)
        if quoted is None:
            raise size.refused("the file size in quotes, in KB")
        if len(rates) > len(records):
            raise rates[len(records)].refused(f"at most {len(records)} rates, one for each record size")
        here = {"size": f"{size._replace(text=quoted[1]).number(_KIB):.0f}"}
        for record, rate in zip(records, rates, strict=False):
            value, of = rate.number(_KIB), {**here, "record": f"{1024 * int(record[:15])}"}
            if figures is not None and value:  # 0 stands for a record size that was not tested
                figures.add(f"{_REPORTS[said.text]}_rate", value, "bytes/s", number, **of)
        text.use(number)
        number += 1


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
