"""iostat -x of sysstat (Linux) in its old and new columns, and of FreeBSD.

Facts from iostat(1) and iostat.c of sysstat 4 to 12 and from FreeBSD's iostat(8): a kB is 1024 bytes, an MB 2^20, a
sector (``rsec/s``, ``avgrq-sz``) 512 bytes; ``await``, ``svctm`` and FreeBSD's ``ms/r`` and ``svc_t`` are
milliseconds; ``rareq-sz`` is in kB. Every report has its number and, with ``-t``, its time as context; the CPU's shares
are figures of the report without a device.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...text.report import FigureList, Report, Unit
from ...text.report_text import Cell, ReportText

NAME = "iostat"
SIGNATURE = re.compile(r"^\s*[Dd]evice:?\s.*(?:r/s|tps)|(?:%util|wrtn) +Device\s*$|^avg-cpu:\s")


class Column(NamedTuple):
    """What a column is here: its value is multiplied and divided."""

    name: str
    unit: Unit
    times: float = 1
    per: float = 1


_KIB, _MIB, _SECTOR = 1 << 10, 1 << 20, 512
_KINDS = {"r": "read", "w": "write", "d": "discard", "f": "flush"}


def _columns() -> dict[str, Column]:
    """All columns that some version prints."""
    columns = {
        "tps": Column("iops", "1/s"),
        "await": Column("await", "s", per=1000),
        "svctm": Column("service_time", "s", per=1000),
        "avgqu-sz": Column("queue_length", "count"),
        "aqu-sz": Column("queue_length", "count"),
        "avgrq-sz": Column("request_size", "bytes", _SECTOR),
        "areq-sz": Column("request_size", "bytes", _KIB),
        "rqm/s": Column("merges", "1/s"),
        "%util": Column("utilization", "share", per=100),
        "%b": Column("utilization", "share", per=100),
        "svc_t": Column("service_time", "s", per=1000),
        "qlen": Column("queue_length", "count"),
        "wait": Column("queue_length", "count"),
        "ms/t": Column("await", "s", per=1000),
        "ms/o": Column("other_await", "s", per=1000),
        "ms/r": Column("read_await", "s", per=1000),
        "ms/w": Column("write_await", "s", per=1000),
        "kr/s": Column("read_rate", "bytes/s", _KIB),
        "kw/s": Column("write_rate", "bytes/s", _KIB),
        "Mr/s": Column("read_rate", "bytes/s", _MIB),
        "Mw/s": Column("write_rate", "bytes/s", _MIB),
    }
    for prefix, size in (("kB", _KIB), ("MB", _MIB), ("Blk", _SECTOR)):
        columns[f"{prefix}/s"] = Column("rate", "bytes/s", size)
        for word, kind in (("read", "read"), ("wrtn", "write"), ("dscd", "discard")):
            columns[f"{prefix}_{word}/s"] = Column(f"{kind}_rate", "bytes/s", size)
            columns[f"{prefix}_{word}"] = Column(f"{kind}_bytes", "bytes", size)
    for letter, kind in _KINDS.items():
        columns[f"{letter}/s"] = Column(f"{kind}_iops", "1/s")
        columns[f"{letter}_await"] = Column(f"{kind}_await", "s", per=1000)
        for prefix, size in (("kB", _KIB), ("MB", _MIB), ("sec", _SECTOR)):
            columns[f"{letter}{prefix}/s"] = Column(f"{kind}_rate", "bytes/s", size)
        columns[f"{letter}rqm/s"] = Column(f"{kind}_merges", "1/s")
        columns[f"%{letter}rqm"] = Column(f"{kind}_merged", "share", per=100)
        columns[f"{letter}areq-sz"] = Column(f"{kind}_request_size", "bytes", _KIB)
    return columns


COLUMNS = _columns()
"""By their headings."""
CPU = {
    "%user": "cpu_user",
    "%nice": "cpu_nice",
    "%system": "cpu_system",
    "%sys": "cpu_system",
    "%iowait": "cpu_iowait",
    "%steal": "cpu_steal",
    "%idle": "cpu_idle",
}
_BANNER = re.compile(r"^(?:Linux|FreeBSD) \S+ ")
_TIME = re.compile(r"^(?:Time: )?(?:[\d./-]+[ T])?\d{1,2}:\d\d:\d\d(?: ?[AP]M|[+-]\d\d:?\d\d|Z)?\s*$", re.ASCII)
_FREEBSD = re.compile(r"^\s*extended device statistics\s*$")
_MOST_COLUMNS = 40
_HUMAN = re.compile(r"(?P<number>[\d.]+)(?P<unit>%|[kMGTP]?B|[kMGTP])", re.ASCII)
_POWERS = "BkMGTP"


def parse(text: ReportText) -> Report:
    """The figures of every device in every report."""
    _rejoin(text)
    figures = FigureList()
    report, time, number, seen = 1, "", 1, {""}
    first_cpu = False
    while number <= len(text):
        line = text.line(number)
        if _TIME.match(line) or _FREEBSD.match(line):
            if len(seen) > 1:
                report, seen = report + 1, {""}
            if not _FREEBSD.match(line):
                time = line.removeprefix("Time: ").strip()
            text.use(number)
        elif _BANNER.match(line):
            text.use(number)
        elif line.startswith("avg-cpu:"):
            if "avg-cpu" in seen or (len(seen) > 1 and not first_cpu):
                report, seen = report + 1, {""}
            seen.add("avg-cpu")
            first_cpu = True
            number = _cpu(text, number, _here(report, time), figures)
            continue
        elif _is_heading(line):
            devices, end = _devices(text, number, figures, report, time, seen)
            if devices is None:
                report, seen = report + 1, {""}
                devices, end = _devices(text, number, figures, report, time, seen)
            seen |= devices or set()
            number = end
            continue
        number += 1
    if not len(figures):
        raise text.refused(len(text) + 1, "a line of figures under the heading: is the file complete?")
    since = "report 1 is of the time since boot, unless iostat ran with -y"
    return Report(NAME, None, figures.all(), (since, *text.skipped()))


def _rejoin(text: ReportText) -> None:
    """Put together what mail has broken: a heading goes on with further columns, a row until it has all of them."""
    anchor, wanted = 0, 0
    for number in range(1, len(text) + 1):
        words, before = text.line(number).split(), text.line(anchor).split() if anchor else []
        goes_on = bool(words and before) and len(before) + len(words) <= _MOST_COLUMNS
        if goes_on and _is_heading(text.line(anchor)):
            goes_on = all(word in COLUMNS for word in words)
        elif goes_on:
            goes_on = len(before) + len(words) <= wanted and words[0][:1].isdecimal()
        if goes_on:
            text.join(anchor, number, " ")
        else:
            anchor = number if words and (wanted or _is_heading(text.line(number))) else 0
        if not words:
            wanted = 0
        elif anchor and _is_heading(text.line(anchor)):
            wanted = len(text.line(anchor).split())


def _is_heading(line: str) -> bool:
    words = line.split()
    return bool(words) and (words[0].rstrip(":") in ("Device", "device") or words[-1] == "Device")


def _here(report: int, time: str) -> dict[str, str]:
    return {"report": str(report), **({"time": time} if time else {})}


def _cpu(text: ReportText, number: int, here: dict[str, str], figures: FigureList) -> int:
    """The CPU's shares; returns the number of the line after them."""
    names, values = text.cells(number)[1:], text.cells(number + 1)
    for name in names:
        if name.text not in CPU:
            raise name.refused(f"{', '.join(CPU)}: other words come from a locale, LC_ALL=C has these")
    if len(values) != len(names):
        raise text.refused(number + 1, f"{len(names)} shares of the CPU", f"{len(values)} columns")
    for name, value in zip(names, values, strict=True):
        figures.add(CPU[name.text], _amount(value, _SHARE), "share", number + 1, **here)
    text.use(number, number + 1)
    return number + 2


def _devices(
    text: ReportText, heading: int, figures: FigureList, report: int, time: str, seen: set[str]
) -> tuple[set[str] | None, int]:
    """A table of devices; their names with the first column, and the line after it.

    Returns None for the names if this table's device and columns were in the report already: it begins a new one.
    """
    names = text.cells(heading)
    at = next(i for i, name in enumerate(names) if name.text.rstrip(":") in ("Device", "device"))
    columns = [name for i, name in enumerate(names) if i != at]
    for name in columns:
        if name.text not in COLUMNS:
            raise name.refused(f"a column of iostat -x: {', '.join(COLUMNS)}")
    if not columns:
        raise text.refused(heading, "columns beside the device")
    table = " ".join(name.text for name in columns)
    if table in seen:
        return None, heading
    number = text.after(heading)
    text.use(heading)
    while text.line(number).strip() and not _ends(text.line(number)):
        cells = text.cells(number)
        if len(cells) != len(names):
            raise text.refused(number, f"{len(names)} columns as in line {heading}", f"{len(cells)} columns")
        here = {**_here(report, time), "device": cells[at].text.rstrip(":")}
        for name, cell in zip(columns, [cell for i, cell in enumerate(cells) if i != at], strict=True):
            column = COLUMNS[name.text]
            figures.add(column.name, _amount(cell, column), column.unit, number, **here)
        text.use(number)
        number = text.after(number)
    return {table}, number


def _ends(line: str) -> bool:
    return bool(_is_heading(line) or _TIME.match(line) or _FREEBSD.match(line) or line.startswith("avg-cpu:"))


def _amount(cell: Cell, column: Column) -> float:
    """What a cell says in the column's unit; of --human ("4.1k", "12.3%") with its own, whatever the heading's is."""
    match = _HUMAN.fullmatch(cell.text)
    if match is None:
        return cell.number(column.times, column.per)
    number, unit = cell._replace(text=match["number"]), match["unit"]
    if unit == "%" and column.unit == "share":
        return number.number(per=100)
    if unit != "%" and column.unit in ("bytes", "bytes/s"):
        return number.number(1024 ** _POWERS.index(unit[0]))
    raise cell.refused("a number in the column's own unit: run iostat without -h and --human")


_SHARE = Column("share", "share", per=100)
