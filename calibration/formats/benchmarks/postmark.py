"""PostMark 1.5's report, long or on one line (postmark-1_5.c).

Megabytes are 2^20 and kilobytes 2^10 bytes; times are whole seconds and at least 1, rates whole numbers cut. Bytes a
second are over the whole run. The report says the time of the transactions only; those of the first creations and of
the last deletions follow from their rates and their sum, and are figures where just one pair of whole seconds fits.
"""

from __future__ import annotations

import re

from ...text.report import FigureList, Report, Unit
from ...text.report_text import Cell, ReportText

NAME = "PostMark"
SIGNATURE = re.compile(r"^PostMark v|^pm>|^\s+\d+ seconds of transactions|^Creating files\.\.\.")

_VERSION = re.compile(r"^PostMark v(\S+)")
_KNOWN = re.compile(
    r"^(?:PostMark v|pm>|Current configuration|The base number|Transactions: |Files (?:range|are) |Working director|"
    r"\d+ subdirector|Block sizes|Biases are|(?:Not u|U)sing Unix|Random number|Report format|"
    r"(?:Creating|Deleting) (?:sub|files)|Performing transactions|Time:|Files:|Data:|\t/\S+ \(weight=)"
)
_BYTES = {"megabytes": 1 << 20, "kilobytes": 1 << 10, "bytes": 1}
_N = r"(\S+)"
_SECONDS = rf"^\t{_N} seconds"
_COUNTS = (
    ("files_created", re.compile(rf"^\t{_N} created \({_N} per second\)$")),
    ("files_created_alone", re.compile(rf"^\t\tCreation alone: {_N} files \({_N} per second\)$")),
    ("files_created_mixed", re.compile(rf"^\t\tMixed with transactions: {_N} files \({_N} per second\)$")),
    ("files_read", re.compile(rf"^\t{_N} read \({_N} per second\)$")),
    ("files_appended", re.compile(rf"^\t{_N} appended \({_N} per second\)$")),
    ("files_deleted", re.compile(rf"^\t{_N} deleted \({_N} per second\)$")),
    ("files_deleted_alone", re.compile(rf"^\t\tDeletion alone: {_N} files \({_N} per second\)$")),
    ("files_deleted_mixed", re.compile(rf"^\t\tMixed with transactions: {_N} files \({_N} per second\)$")),
)
_DATA = (
    ("read", re.compile(rf"^\t{_N} (\w+) read \({_N} (\w+) per second\)$")),
    ("write", re.compile(rf"^\t{_N} (\w+) written \({_N} (\w+) per second\)$")),
)
_TERSE = re.compile(r"^\d+ \d+(?: \d+\.\d\d){11}\s*$", re.ASCII)
_TERSE_RATES: tuple[tuple[str, Unit], ...] = (
    ("transactions_rate", "1/s"),
    *((f"{name}_rate", "1/s") for name, _ in _COUNTS[:5]),
    *((f"{name}_rate", "1/s") for name, _ in _COUNTS[5:]),
    ("read_rate", "bytes/s"),
    ("write_rate", "bytes/s"),
)


def parse(text: ReportText) -> Report:
    """The figures of every run's report; several are numbered in the context."""
    version, starts = None, []
    for number, line in enumerate(text.lines, 1):
        version = version or (found.group(1) if (found := _VERSION.match(line)) else None)
        if "out of files!" in line:
            raise text.refused(number, "a run that went through", "a run that ended without a report, out of files")
        if re.match(r"^Time:\s*$|^pm>.*Time:\s*$", line) or _TERSE.match(_unprompted(line)):
            starts.append(number)
        if _KNOWN.match(line):
            text.use(number)
    if not starts:
        raise text.refused(len(text) + 1, "the report, which begins with 'Time:': did the run end?")
    figures, warnings = FigureList(), []
    for run, start in enumerate(starts, 1):
        here = {"run": str(run)} if len(starts) > 1 else {}
        if _TERSE.match(_unprompted(text.line(start))):
            _terse(text, start, here, figures)
        else:
            warnings += _verbose(text, start, here, figures)
    return Report(NAME, version, figures.all(), (*warnings, *text.skipped()))


def _unprompted(line: str) -> str:
    return re.sub(r"^(?:pm>)+", "", line)


def _terse(text: ReportText, number: int, here: dict[str, str], figures: FigureList) -> None:
    line = text.line(number)
    cells = text.cells(number, len(line) - len(_unprompted(line)))
    figures.add("seconds", cells[0].whole(), "s", number, **here)
    figures.add("transactions_seconds", cells[1].whole(), "s", number, **here)
    for (name, unit), cell in zip(_TERSE_RATES, cells[2:], strict=True):
        figures.add(name, cell.number(), unit, number, **here)
    text.use(number)


def _verbose(text: ReportText, start: int, here: dict[str, str], figures: FigureList) -> list[str]:
    """The long report that begins with "Time:"; returns warnings."""
    values: dict[str, float] = {}
    number = start

    def following(pattern: re.Pattern[str], what: str) -> tuple[int, re.Match[str]]:
        nonlocal number
        number += 1
        while number <= len(text) and text.line(number).strip() in ("", "Files:", "Data:"):
            number += 1
        match = pattern.match(text.line(number).rstrip())
        if match is None:
            raise text.refused(number, f"the line of {what}, as in '{_example(pattern)}'")
        text.use(number)
        return number, match

    def keep(name: str, cell: Cell, unit: Unit, times: float | None = None) -> None:
        values[name] = float(cell.whole()) if times is None else cell.number(times)
        figures.add(name, values[name], unit, cell.line, **here)

    line, match = following(re.compile(_SECONDS + r" total$"), "the total time")
    keep("seconds", text.group(line, match, 1), "s")
    pattern = re.compile(_SECONDS + rf" of transactions \({_N} per second\)$")
    line, match = following(pattern, "the transactions' time")
    keep("transactions_seconds", text.group(line, match, 1), "s")
    keep("transactions_rate", text.group(line, match, 2), "1/s")
    for name, pattern in _COUNTS:
        line, match = following(pattern, name.replace("_", " "))
        keep(name, text.group(line, match, 1), "count")
        keep(f"{name}_rate", text.group(line, match, 2), "1/s")
    for name, pattern in _DATA:
        line, match = following(pattern, f"bytes of {name}s")
        total, rate = _unit(text.group(line, match, 2)), _unit(text.group(line, match, 4))
        keep(f"{name}_bytes", text.group(line, match, 1), "bytes", total)
        keep(f"{name}_rate", text.group(line, match, 3), "bytes/s", rate)
    return _alone(values, start, here, figures)


def _unit(cell: Cell) -> float:
    if cell.text not in _BYTES:
        raise cell.refused(", ".join(_BYTES))
    return _BYTES[cell.text]


def _example(pattern: re.Pattern[str]) -> str:
    return re.sub(r"\\([()])", r"\1", pattern.pattern.replace(_N, "N").replace(r"(\w+)", "megabytes")).strip("^$\\t")


def _alone(values: dict[str, float], start: int, here: dict[str, str], figures: FigureList) -> list[str]:
    """The seconds of the first creations and of the last deletions, if the report leaves no choice."""
    rest = int(values["seconds"] - values["transactions_seconds"])
    create_s = _seconds(values["files_created_alone"], values["files_created_alone_rate"], rest)
    delete_s = _seconds(values["files_deleted_alone"], values["files_deleted_alone_rate"], rest)
    low, high = max(create_s.start, rest - delete_s.stop + 1), min(create_s.stop - 1, rest - delete_s.start)
    # A part of no second is shown as one, so the sum is that of the parts only if none of them is that short.
    if low == high and create_s and delete_s and min(low, rest - low, values["transactions_seconds"]) > 1:
        figures.add("create_seconds", low, "s", start, **here)
        figures.add("delete_seconds", rest - low, "s", start, **here)
        return []
    spans = " and ".join(f"{span.start} to {span.stop - 1}" if span else "none" for span in (create_s, delete_s))
    return [f"the seconds of creation and of deletion alone are not known exactly: {spans} fit their rates"]


def _seconds(count: float, rate: float, most: int) -> range:
    """Whole seconds, from 1 on, in which a count gives a rate that is cut to this whole number."""
    return range(int(count // (rate + 1)) + 1, (int(count // rate) if rate else most) + 1)
