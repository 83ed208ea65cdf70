"""The report of tiobench.pl: one table of 0.3.1 and 0.3.2, or the four tables with latencies since 0.3.3.

Megabytes are 2^20 bytes (tiotest.h: MBYTE), block sizes bytes, latencies milliseconds; "Lat%" is the share of requests
that took longer than 2 and 10 s. "CPU Eff" is the rate over the share of a CPU; here bytes a second of a whole CPU.
"""

from __future__ import annotations

import re

from ...text.report import FigureList, Report, Unit
from ...text.report_text import Cell, ReportText

NAME = "tiobench"
SIGNATURE = re.compile(r"Rate +\(CPU%\)")

_MIB = 1024 * 1024
_PHASES = {
    "sequential reads": "seq_read",
    "random reads": "rand_read",
    "sequential writes": "seq_write",
    "random writes": "rand_write",
}
_OLD_PHASES = ("seq_read", "rand_read", "seq_write", "rand_write")
_OLD_HEADING = re.compile(r"^\s*Dir +Size +Size +Thr +(?:Rate \(CPU%\)\s*){4}$")
_HEADING = re.compile(r"^\s*(?:Identifier +)?Size +Size +Thr +Rate +\(CPU%\) +Latency +Latency +>2s +>10s +Eff\s*$")
_RULE = re.compile(r"^[\s-]*---[\s-]*$")
_KNOWN = re.compile(
    r"^(?:No size specified|Unit information|=+$|(?:File size|Blk Size|Rate|CPU%|Latency|Lat%|CPU Eff) +=|Run #\d|"
    r"Size is MB|\s+File +Bl|Identifier)|^\s*$"
)
_OLD_COLUMNS, _COLUMNS = 12, 10


def parse(text: ReportText) -> Report:
    """The figures of every line, with size, block and threads as context."""
    figures = FigureList()
    phase: tuple[str, int] | None = None
    for number, line in enumerate(text.lines, 1):
        if line.strip().lower() in _PHASES:
            phase = _PHASES[line.strip().lower()], number
            text.use(number)
        elif _OLD_HEADING.match(line):
            _rows(text, number, None, figures)
        elif _HEADING.match(line):
            if phase is None:
                raise text.refused(number, "the name of the phase (Sequential Reads, ...) above its table")
            _rows(text, number, phase[0], figures)
            phase = None
        elif SIGNATURE.search(line):
            raise text.refused(number, "the heading of tiobench.pl 0.3.1 to 0.3.3")
        elif _KNOWN.match(line):
            text.use(number)
    if phase is not None:
        raise text.refused(len(text) + 1, f"the table of the phase in line {phase[1]}: is the file complete?")
    return Report(NAME, None, figures.all(), text.skipped())


def _rows(text: ReportText, heading: int, phase: str | None, figures: FigureList) -> None:
    """The lines of a table, up to a blank one that no other line of figures follows."""
    if not _RULE.match(text.line(heading + 1)):
        raise text.refused(heading + 1, "the line of dashes under the heading")
    number, before = heading + 2, len(figures)
    text.use(heading - 1, heading, heading + 1)
    while text.line(number).strip() or _is_row(text, number + 1):
        cells = text.cells(number)
        if cells:
            (_old_row if phase is None else _row)(text, number, cells, phase or "", figures)
            text.use(number)
        number += 1
        if cells and not text.line(number).strip() and not _is_row(text, number + 1):
            break
    if len(figures) == before:
        raise text.refused(number, "a line of figures under the heading")


def _is_row(text: ReportText, number: int) -> bool:
    """Whether a line that follows a blank one belongs to the table: runs are sometimes kept apart by blank lines."""
    cells = text.cells(number)
    return len(cells) > _COLUMNS and any(cell.text.endswith("%") for cell in cells)


def _context(cells: list[Cell]) -> dict[str, str]:
    size, block, threads = cells
    return {
        "megabytes": str(size.whole()),
        "block": str(block.whole()),
        "threads": str(threads.whole()),
    }


def _old_row(text: ReportText, number: int, cells: list[Cell], _: str, figures: FigureList) -> None:
    if len(cells) != _OLD_COLUMNS:
        raise text.refused(
            number, "directory, size, block, threads and four pairs of rate and CPU%", f"{len(cells)} columns"
        )
    here = {"directory": cells[0].text, **_context(cells[1:4])}
    for index, phase in enumerate(_OLD_PHASES):
        rate, cpu = cells[4 + 2 * index], cells[5 + 2 * index]
        figures.add(f"{phase}_rate", rate.number(_MIB), "bytes/s", number, **here)
        figures.add(f"{phase}_cpu", cpu.percent(), "share", number, **here)


def _row(text: ReportText, number: int, cells: list[Cell], phase: str, figures: FigureList) -> None:
    if len(cells) < _COLUMNS:
        raise text.refused(
            number,
            "identifier, size, block, threads, rate, CPU%, two latencies, two shares of late requests, CPU efficiency",
            f"{len(cells)} columns (is the line complete?)",
        )
    numbers, identifier = cells[-_COLUMNS:], cells[:-_COLUMNS]
    here = {"identifier": " ".join(cell.text for cell in identifier)} if identifier else {}
    here |= _context(numbers[:3])
    rate, cpu, mean, longest, late, very_late, efficiency = numbers[3:]

    def add(name: str, value: float, unit: Unit) -> None:
        figures.add(f"{phase}_{name}", value, unit, number, **here)

    add("rate", rate.number(_MIB), "bytes/s")
    add("cpu", cpu.percent(), "share")
    add("latency_mean", mean.number(per=1000), "s")
    add("latency_max", longest.number(per=1000), "s")
    add("over_2s", late.percent(), "share")
    add("over_10s", very_late.percent(), "share")
    add("rate_per_cpu", efficiency.number(_MIB), "bytes/s")
