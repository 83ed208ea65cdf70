"""What bonnie prints at its end: the table of bonnie 1.2 and 1.4, and that of Bray's bonnie of the 1990s.

A K is 1024 bytes and a megabyte of the size 2^20 (Bonnie.c prints bytes a second over 1024); %CPU is of one CPU. The
columns are of fixed width without a space between them, so a rate of six digits stands right behind the share of a CPU
before it ("96.1112074"), and behind the size.
"""

from __future__ import annotations

import re

from ...text.report import FigureList, Report
from ...text.report_text import Cell, ReportText

NAME = "bonnie"
SIGNATURE = re.compile(r"^(?:Bonnie \d\S*: |File '.*', size: \d|Machine +MB K/sec)")

_KIB = 1024
_MIB = 1024 * 1024
_COLUMNS = ("putc", "write", "rewrite", "getc", "read")
_FIRST = re.compile(
    r"^(?:Bonnie (?P<version>\d[^:\s]*): )?File '.*', size: (?P<size>\d+)(?:, volumes: (?P<volumes>\d+))?"
)
_PROGRESS = re.compile(r"^(?:Writing|Rewriting|Reading|Seek)")
_UPPER = re.compile(r"^ +-+(?:Sequential Output|Per Char)")
_HEADING = re.compile(r"^Machine +MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU +/sec %CPU\s*$")
_ROW = re.compile(
    r"(?P<before>.*?)"
    + "".join(rf"\s*(?<!\.)(?P<{name}>\d+)\s+(?P<{name}_cpu>\d+\.\d)" for name in _COLUMNS)
    + r"\s+(?P<seeks>\d+\.\d)\s+(?P<seeks_cpu>\d+\.\d)\s*$",
    re.ASCII,
)
_BEFORE = re.compile(r"^(?P<machine>.{0,8}?)\s*(?:(?P<volumes>\d+)\*\s*)?(?P<size>\d*)\s*$", re.ASCII)
_SIZE_DIGITS, _RATE_DIGITS = 4, 6
_ALLOWED = (
    "machine, size, five rates in K/sec each with its %CPU, seeks a second with %CPU (twelve numbers after the size)"
)


def parse(text: ReportText) -> Report:
    """The figures of the table; several tables are runs, numbered in the context."""
    headings = [number for number, line in enumerate(text.lines, 1) if line.startswith("Machine")]
    if not headings:
        raise text.refused(len(text) + 1, "the table that begins with 'Machine    MB K/sec %CPU'")
    figures, version, sizes = FigureList(), None, []
    for number, line in enumerate(text.lines, 1):
        first = _FIRST.match(line)
        if first is not None:
            version = first["version"] or version
            sizes.append(text.group(number, first, "size").whole())
        if first is not None or _PROGRESS.match(line) or _UPPER.match(line):
            text.use(number)
    rows = [row for heading in headings for row in _rows(text, heading)]
    for run, row in enumerate(rows, 1):
        context = {"run": str(run)} if len(rows) > 1 else {}
        size = sizes[run - 1] if run <= len(sizes) else None
        _row(text, row, size, context, figures)
    return Report(NAME, version, figures.all(), text.skipped())


def _rows(text: ReportText, heading: int) -> range:
    """The numbers of the lines of figures under a heading; there must be one."""
    if not _HEADING.match(text.line(heading)):
        raise text.refused(heading, "the heading 'Machine    MB K/sec %CPU' with six pairs of columns")
    end = heading + 2
    while _ROW.match(text.line(end)):
        end += 1
    text.use(*range(heading, end))
    return range(heading + 1, end)


def _row(text: ReportText, number: int, size: int | None, context: dict[str, str], figures: FigureList) -> None:
    """The figures of one line of the table."""
    match = _ROW.match(text.line(number))
    if match is None:
        commas = re.search(r"\d+,\d+", text.line(number))
        if commas is not None:
            text.group(number, commas, 0).number()
        raise text.refused(number, _ALLOWED)
    before, rate = _glued(text.group(number, match, "before"), text.group(number, match, "putc"), size)
    told = _BEFORE.match(before.text)
    if told is None or not told["size"]:
        raise text.refused(number, _ALLOWED, f"{before.text.strip()!r} before the rates, without a size")
    here = {**({"machine": told["machine"].strip()} if told["machine"].strip() else {}), **context}
    volumes = Cell(told["volumes"] or "1", before.file, before.line, told.start("volumes") + 1).whole()
    size_told = Cell(told["size"], before.file, before.line, told.start("size") + 1)
    figures.add("size", size_told.number(volumes * _MIB), "bytes", number, **here)
    for name in _COLUMNS:
        cell = rate if name == "putc" else text.group(number, match, name)
        figures.add(f"{name}_rate", cell.number(_KIB), "bytes/s", number, **here)
        figures.add(f"{name}_cpu", text.group(number, match, f"{name}_cpu").percent(), "share", number, **here)
    figures.add("seeks_rate", text.group(number, match, "seeks").number(), "1/s", number, **here)
    figures.add("seeks_cpu", text.group(number, match, "seeks_cpu").percent(), "share", number, **here)


def _glued(before: Cell, rate: Cell, size: int | None) -> tuple[Cell, Cell]:
    """The size and the first rate apart, where no space is between them.

    The size has at least four digits or blanks and a rate that leaves no space at least six, so ten digits can be cut
    in one way only; for more, the line on top of the report must say the size.
    """
    if not before.text.rstrip().endswith("*"):
        return before, rate
    digits = rate.text
    blanks = len(before.text) - len(before.text.rstrip())
    cut = len(str(size // _MIB)) if size is not None else _SIZE_DIGITS - blanks
    known = size is not None and digits.startswith(str(size // _MIB))
    if not known and (size is not None or len(digits) != cut + _RATE_DIGITS):
        raise rate.refused("a space between the size and the rate, or a line 'File ..., size: ...' that tells the size")
    told = before._replace(text=before.text + digits[:cut])
    return told, rate._replace(text=digits[cut:], column=rate.column + cut)
