"""zpool iostat, also with -v and an interval (zpool-iostat(8); zpool_main.c, print_iostat_default).

Numbers have a unit of 1024 ("14.8M") unless they are small or -p was given; "-" is no figure. With -v, groups of drives
and drives stand below their pool, and are named with it ("tank/raidz2-0/sda"). The first report covers the time since
the pool was imported.
"""

from __future__ import annotations

import re

from ...text.report import FigureList, Report, Unit
from ...text.report_text import Cell, ReportText

NAME = "zpool"
SIGNATURE = re.compile(r"^(?:pool|vdev)\s+alloc\s+free\s+read\s+write\s+read\s+write\b")

_ABOVE = re.compile(r"^\s*capacity\s+operations\s+bandwidth\b")
_RULE = re.compile(r"^-{2,}(?:\s+-{2,})*\s*$")
_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[BKMGTPE]?)", re.ASCII)
_POWERS = "BKMGTPE"
_COLUMNS: tuple[tuple[str, Unit], ...] = (
    ("allocated", "bytes"),
    ("free", "bytes"),
    ("read_iops", "1/s"),
    ("write_iops", "1/s"),
    ("read_rate", "bytes/s"),
    ("write_rate", "bytes/s"),
)
_INDENT = 2
_PARTS = ("logs", "cache", "special", "dedup", "spares")
"""Lines of -v without figures of their own."""


def parse(text: ReportText) -> Report:
    """The figures of every pool, group and drive in every report."""
    figures, report, above, inside = FigureList(), 1, list[str](), False
    seen: set[str] = set()
    for number, line in enumerate(text.lines, 1):
        if SIGNATURE.match(line) or _ABOVE.match(line) or _RULE.match(line):
            inside = inside or SIGNATURE.match(line) is not None
            text.use(number)
            continue
        cells = text.cells(number)
        inside = inside and bool(cells)
        if not inside:
            continue
        if len(cells) != len(_COLUMNS) + 1:
            if cells[0].text in _PARTS or len(cells) == 1:
                continue
            raise text.refused(number, f"a name and {len(_COLUMNS)} columns of zpool iostat", f"{len(cells)} columns")
        depth = (len(line) - len(line.lstrip())) // _INDENT
        above = [*above[:depth], cells[0].text]
        name = "/".join(above)
        if name in seen:
            report, seen = report + 1, set()
        seen.add(name)
        for (column, unit), cell in zip(_COLUMNS, cells[1:], strict=True):
            if cell.text != "-":
                figures.add(column, _amount(cell), unit, number, report=str(report), device=name)
        text.use(number)
    if not len(figures):
        raise text.refused(len(text) + 1, "a line of figures under the heading: is the file complete?")
    return Report(NAME, None, figures.all(), ("report 1 is of the time since the pool was imported", *text.skipped()))


def _amount(cell: Cell) -> float:
    match = _AMOUNT.fullmatch(cell.text)
    if match is None:
        raise cell.refused("a number such as 120, 14.8M or 512K, or '-'")
    return cell._replace(text=match["number"]).number(1024 ** _POWERS.index(match["unit"] or "B"))
