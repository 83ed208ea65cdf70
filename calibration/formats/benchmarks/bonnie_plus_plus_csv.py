"""bonnie++'s line of CSV.

| version | columns |
|---|---|
| 1.03 | machine, size, 6 pairs of rate and %CP, files, 6 pairs: 27 |
| 1.9x to format 1.97 | format, version, machine, concurrency, seed, size, chunk, 6 pairs, files, largest, smallest, \
directories, chunk, 6 pairs, 12 latencies: 48 |
| format 1.98 | the same with seeks and seekers after the chunk: 50 |

What was not run is empty.
"""

from __future__ import annotations

import re

from ...text.report_text import Cell, ReportText
from .bonnie_plus_plus_cells import COUNTED, KIB, TRANSFERS, Run, add_latency, add_rate, add_size

CSV_LINE = re.compile(r"^(?:1\.9\d\w*,[12]\.\d+\w*,|[^,]*,(?:\d+[MG]?(?::\w+)?)?(?:,[\d.+:]*){8})")

_PAIRS = 6
_NEWER = re.compile(r"1\.9\d\w*", re.ASCII)
_OLD_COLUMNS, _COLUMNS, _COLUMNS_1_98 = 27, 48, 50


def csv_run(text: ReportText, number: int, versions: list[str]) -> Run:
    """The run of a line; its version is appended to `versions`."""
    cells = _cells(text, number)
    run = Run()
    if _NEWER.fullmatch(cells[0].text):
        seekers = 2 if cells[0].text >= "1.98" else 0
        expected = _COLUMNS_1_98 if seekers else _COLUMNS
        _counted(text, number, cells, expected)
        versions.append(cells[1].text)
        machine, size, rest = cells[2], cells[5], cells[7 + seekers :]
        run.context["concurrency"] = cells[3].text
        chunk = cells[6].text
        if chunk:
            run.context["chunk"] = chunk
        small = rest[2 * _PAIRS + 5 :]
        latencies = small[2 * _PAIRS :]
    else:
        _counted(text, number, cells, _OLD_COLUMNS)
        machine, size, rest = cells[0], cells[1], cells[2:]
        small, latencies = rest[2 * _PAIRS + 1 :], []
    if machine.text:
        run.context["machine"] = machine.text
    files = rest[2 * _PAIRS]
    if files.text:
        run.context["files"] = files.text
    if size.text:
        add_size(run, size)
    for index, name in enumerate((*TRANSFERS, "seeks")):
        _pair(run, name, rest[2 * index], rest[2 * index + 1], KIB if name in TRANSFERS else 1)
    for index, name in enumerate(COUNTED):
        _pair(run, name, small[2 * index], small[2 * index + 1], 1)
    for name, cell in zip((*TRANSFERS, "seeks", *COUNTED), latencies, strict=False):
        if cell.text:
            add_latency(run, name, cell)
    return run


def _pair(run: Run, name: str, rate: Cell, cpu: Cell, times: float) -> None:
    if rate.text and cpu.text:
        add_rate(run, name, rate, cpu, times)
    elif rate.text or cpu.text:
        raise rate.refused("a rate and its %CP, or nothing for both")


def _counted(text: ReportText, number: int, cells: list[Cell], expected: int) -> None:
    if len(cells) != expected:
        raise text.refused(number, f"{expected} columns in this version's line of CSV", f"{len(cells)} columns")


def _cells(text: ReportText, number: int) -> list[Cell]:
    cells, column = [], 1
    for part in text.line(number).rstrip().split(","):
        cells.append(Cell(part.strip(), text.name, number, column))
        column += len(part) + 1
    return cells
