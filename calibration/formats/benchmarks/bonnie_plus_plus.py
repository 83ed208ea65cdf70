"""What bonnie++ 1.03, 1.9x and 2.00 print: tables of text, and the same figures as lines of CSV.

A K is 1024 bytes and an M of the size 2^20 (bonnie.h: Unit, KILO); %CP is of one CPU; the files of a "files" column are
in units of 1024. "+++++" is what took too short to be measured (less than half a second): it has no figure and is told
in a warning. The longest call of each phase ("Latency", since 1.9x) is in us, ms or s.

Where both are there the CSV counts, which is what the program means for programs; the table is compared with it.
"""

from __future__ import annotations

import re

from ...text.report import Figure, Report
from ...text.report_text import ReportText
from .bonnie_plus_plus_cells import (
    COUNTED,
    KIB,
    TRANSFERS,
    Run,
    add_latency,
    add_rate,
    add_size,
)
from .bonnie_plus_plus_csv import CSV_LINE, csv_run

NAME = "bonnie++"
TITLE = re.compile(
    r"^(?:Version\s+(?P<version>\S+)\s+-+Sequential (?P<table>Output|Create)|\s+-+Sequential Create)-+ -+\S.*$"
)
SIGNATURE = re.compile(rf"{TITLE.pattern}|{CSV_LINE.pattern}")

_UPPER = re.compile(r"^(?P<machine>\S.*?)?\s+-(?:Per Chr|Create)-+ ")
_CONCURRENCY = re.compile(r"^Concurrency\s+(\d+)\s")
_HEADINGS = {"Output": re.compile(r"^(?:Machine\s+Size|Name:Size)"), "Create": re.compile(r"^\s*files")}
_PROGRESS = re.compile(
    r"^(?:Using uid:|Writing |Rewriting|Reading |start 'em|Create files in|Stat files in|Delete files in)"
)
_ROUNDING = 0.02
_PAIRS = 6


def parse(text: ReportText) -> Report:
    """The figures of every run; several are numbered in the context."""
    versions: list[str] = []
    tables, lines = _tables(text, versions), []
    for number, line in enumerate(text.lines, 1):
        if CSV_LINE.match(line):
            lines.append(csv_run(text, number, versions))
            text.use(number)
        elif _PROGRESS.match(line):
            text.use(number)
    runs, warnings = lines or tables, []
    if lines and len(tables) == len(lines):
        for table, line_run in zip(tables, lines, strict=True):
            warnings += _differences(table, line_run)
    elif lines and tables:
        warnings.append(f"{len(tables)} tables beside {len(lines)} lines of CSV: the figures are those of the CSV")
    figures: list[Figure] = []
    for index, run in enumerate(runs, 1):
        context = {"run": str(index)} if len(runs) > 1 else {}
        figures += run.figures(context)
        if run.too_fast:
            where = f" of run {index}" if len(runs) > 1 else ""
            warnings.append(f"too fast to measure{where} (+++++): {', '.join(run.too_fast)}")
    if not figures:
        raise text.refused(1, "a table or a line of CSV with figures", "none")
    version = versions[0] if versions else None
    return Report(NAME, version, tuple(figures), (*warnings, *text.skipped()))


def _tables(text: ReportText, versions: list[str]) -> list[Run]:
    """The runs whose tables there are: one of transfers, one of small files, or both."""
    runs: list[Run] = []
    for number, line in enumerate(text.lines, 1):
        title = TITLE.match(line)
        if title is None:
            continue
        kind = title["table"] or "Create"
        if title["version"]:
            versions.append(title["version"])
        if kind == "Output" or not runs or "Create" in runs[-1].tables:
            runs.append(Run())
        runs[-1].tables.add(kind)
        last = _output(text, number, runs[-1]) if kind == "Output" else _create(text, number, runs[-1])
        text.use(*range(number, last + 1))
    return runs


def _heading(text: ReportText, number: int, kind: str, run: Run) -> int:
    """Check the two lines under a title; returns the number of the line of figures."""
    upper = _UPPER.match(text.line(number + 1))
    if upper is None:
        raise text.refused(number + 1, "the second line of the heading (-Per Chr- or -Create--)")
    concurrency = _CONCURRENCY.match(text.line(number + 1))
    if concurrency is not None:
        run.context["concurrency"] = concurrency.group(1)
    elif upper["machine"]:
        run.context.setdefault("machine", upper["machine"])
    if not _HEADINGS[kind].match(text.line(number + 2)):
        words = "'Machine  Size' or 'Name:Size'" if kind == "Output" else "'files'"
        raise text.refused(number + 2, f"the third line of the heading, which begins with {words}")
    return number + 3


def _output(text: ReportText, title: int, run: Run) -> int:
    """The table of transfers and seeks; returns its last line."""
    number = _heading(text, title, "Output", run)
    cells = text.cells(number)
    if len(cells) < 2 * _PAIRS + 1:
        raise text.refused(
            number, "machine, size and six pairs of rate and %CP", f"{len(cells)} columns (is the line complete?)"
        )
    size, pairs = cells[-2 * _PAIRS - 1], cells[-2 * _PAIRS :]
    machine = " ".join(cell.text for cell in cells[: -2 * _PAIRS - 1])
    if machine:
        run.context["machine"] = machine
    add_size(run, size)
    for index, name in enumerate((*TRANSFERS, "seeks")):
        transfer = name in TRANSFERS
        add_rate(run, name, pairs[2 * index], pairs[2 * index + 1], KIB if transfer else 1, prefixed=transfer)
    return _latencies(text, number + 1, (*TRANSFERS, "seeks"), run)


def _create(text: ReportText, title: int, run: Run) -> int:
    """The table of small files; returns its last line."""
    number = _heading(text, title, "Create", run)
    cells = text.cells(number)
    if len(cells) != 2 * _PAIRS + 1:
        raise text.refused(number, "files and six pairs of rate and %CP", f"{len(cells)} columns instead of 13")
    run.context["files"] = cells[0].text
    for index, name in enumerate(COUNTED):
        add_rate(run, name, cells[2 * index + 1], cells[2 * index + 2], 1)
    return _latencies(text, number + 1, COUNTED, run)


def _latencies(text: ReportText, number: int, names: tuple[str, ...], run: Run) -> int:
    cells = text.cells(number)
    if not cells or cells[0].text != "Latency":
        return number - 1
    if len(cells) != len(names) + 1:
        raise text.refused(number, f"{len(names)} latencies", f"{len(cells) - 1}")
    for name, cell in zip(names, cells[1:], strict=True):
        add_latency(run, name, cell)
    return number


def _differences(table: Run, line: Run) -> list[str]:
    """Warnings about figures that the table and the CSV tell differently; both are rounded."""
    warnings = []
    for name, found in table.found.items():
        other = line.found.get(name)
        if other is not None and abs(found.value - other.value) > max(_ROUNDING * other.value, found.step):
            warnings.append(
                f"{name}: {found.value:.6g} in the table (line {found.line}), {other.value:.6g} in the CSV "
                f"(line {other.line}), which counts"
            )
    return warnings
