"""sar -d of sysstat (sar(1); pr_stats.c, print_disk_stats): the activity of each device in each interval.

A kB is 1024 bytes; sectors (rd_sec/s, avgrq-sz) have 512. The time of a line, or "Average", is context.
"""

from __future__ import annotations

import re

from ...text.paste import breaks, join_wrapped
from ...text.report import FigureList, Report
from ...text.report_text import ReportText
from .iostat import COLUMNS, Column

NAME = "sar"
SIGNATURE = re.compile(r"^(?:\S+(?: [AP]M)?\s+)DEV\s+tps\s")

_TIME = r"(?P<time>\d{1,2}:\d\d:\d\d(?: [AP]M)?|Average:)"
_ROW = re.compile(rf"^{_TIME}\s+(?P<rest>\S.*)$", re.ASCII)
_BANNER = re.compile(r"^Linux \S+ ")
_OLD = {
    "rd_sec/s": Column("read_rate", "bytes/s", 512),
    "wr_sec/s": Column("write_rate", "bytes/s", 512),
}


def _joint(line: str, rest: str) -> str | None:
    """A line without a time is the rest of the one before."""
    return " " if _ROW.match(line) and not _ROW.match(rest) and breaks(line, rest) else None


def parse(text: ReportText) -> Report:
    """The figures of every device in every interval."""
    join_wrapped(text, range(1, len(text) + 1), _joint)
    figures, columns = FigureList(), list[tuple[str, Column]]()
    for number, line in enumerate(text.lines, 1):
        row = _ROW.match(line)
        if row is None:
            if _BANNER.match(line):
                text.use(number)
            elif not line.strip():
                columns = []
            continue
        names = text.cells(number, row.start("rest"))
        if names[0].text == "DEV":
            columns = []
            for name in names[1:]:
                column = COLUMNS.get(name.text) or _OLD.get(name.text)
                if column is None:
                    raise name.refused(f"a column of sar -d: {', '.join([*COLUMNS, *_OLD])}")
                columns.append((name.text, column))
        elif not columns:  # another part of sar
            continue
        elif len(names) != len(columns) + 1:
            raise text.refused(number, f"{len(columns) + 1} columns behind the time", f"{len(names)} columns")
        else:
            here = {"time": row["time"].rstrip(":").replace("Average", "average"), "device": names[0].text}
            for (_, column), cell in zip(columns, names[1:], strict=True):
                figures.add(column.name, cell.number(column.times, column.per), column.unit, number, **here)
        text.use(number)
    if not len(figures):
        raise text.refused(len(text) + 1, "a line of figures under the heading: is the file complete?")
    return Report(NAME, None, figures.all(), text.skipped())
