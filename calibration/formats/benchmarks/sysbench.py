"""sysbench fileio, of sysbench 0.4 to 1.0 (sb_fileio.c, report_stats).

A MiB is 2^20 bytes, and so is the Mb of version 0.4; latencies are milliseconds.
"""

from __future__ import annotations

import re

from ...text.paste import join_wrapped
from ...text.report import FigureList, Report, Unit
from ...text.report_text import ReportText

NAME = "sysbench"
SIGNATURE = re.compile(r"^\s*File operations:\s*$|^\s*reads/s:\s|^Operations performed:\s+\d+ reads?,")

_VERSION = re.compile(r"^sysbench (?:v?)(\d\S*)")
_LINE = re.compile(r"^\s*(?P<key>[\w., /]+?(?: \([^)]*\))?):\s+(?P<value>\S+?)(?P<unit>s|ms)?\s*$")
_MIB = 1 << 20
_FIGURES: dict[str, tuple[str, Unit, float, float]] = {
    "reads/s": ("read_iops", "1/s", 1, 1),
    "writes/s": ("write_iops", "1/s", 1, 1),
    "fsyncs/s": ("fsync_iops", "1/s", 1, 1),
    "read, MiB/s": ("read_rate", "bytes/s", _MIB, 1),
    "written, MiB/s": ("write_rate", "bytes/s", _MIB, 1),
    "total time": ("seconds", "s", 1, 1),
    "total number of events": ("ios", "count", 1, 1),
    "min": ("latency_min", "s", 1, 1000),
    "avg": ("latency_mean", "s", 1, 1000),
    "max": ("latency_max", "s", 1, 1000),
}
_PERCENTILE = re.compile(r"(?:approx\.\s+)?(\d{1,3})(?:th|st|nd|rd)? percentile", re.ASCII)
_PERFORMED = re.compile(
    r"^Operations performed:\s+(?P<reads>\d+) reads?, (?P<writes>\d+) writes?, (?P<others>\d+) Other", re.ASCII
)
_MOVED = re.compile(
    r"^Read (?P<read>[\d.]+)(?P<r>[KMGT]?)b\s+Written (?P<written>[\d.]+)(?P<w>[KMGT]?)b\s+"
    r"Total transferred \S+\s+\((?P<rate>[\d.]+)(?P<u>[KMGT]?)b/sec\)"
)
_REQUESTS = re.compile(r"^\s*(?P<rate>\S+) Requests/sec executed")
_POWERS = " KMGT"


def _joint(line: str, rest: str) -> str | None:
    """The longest line goes on in the next one, if mail has broken it."""
    return " " if line.startswith(("Read ", "Operations ")) and not line.endswith(")") and "Other" not in line else None


def parse(text: ReportText) -> Report:
    """Rates, IOPS and latencies."""
    join_wrapped(text, range(1, len(text) + 1), _joint)
    figures, version = FigureList(), None
    for number, line in enumerate(text.lines, 1):
        if found := _VERSION.match(line):
            version = found[1]
        elif old := _PERFORMED.match(line):
            for group, name in (("reads", "read_ios"), ("writes", "write_ios"), ("others", "other_ios")):
                figures.add(name, text.group(number, old, group).whole(), "count", number)
        elif moved := _MOVED.match(line):
            for group, prefix, name in (("read", "r", "read_bytes"), ("written", "w", "write_bytes")):
                size = text.group(number, moved, group).number(1024 ** _POWERS.index(moved[prefix] or " "))
                figures.add(name, size, "bytes", number)
            rate = text.group(number, moved, "rate").number(1024 ** _POWERS.index(moved["u"] or " "))
            figures.add("rate", rate, "bytes/s", number)
        elif requests := _REQUESTS.match(line):
            figures.add("iops", text.group(number, requests, "rate").number(), "1/s", number)
        elif pair := _LINE.match(line):
            _pair(text, number, pair, figures)
        if version is not None or len(figures):
            text.use(number)
    if not len(figures):
        raise text.refused(len(text) + 1, "a line such as 'reads/s: 1234.56' or 'Operations performed: ...'")
    return Report(NAME, version, figures.all(), text.skipped())


def _pair(text: ReportText, number: int, pair: re.Match[str], figures: FigureList) -> None:
    """Keep the figure of a line, if it has one."""
    key, value = " ".join(pair["key"].split()), text.group(number, pair, "value")
    percentile = _PERCENTILE.fullmatch(key)
    if percentile is not None:
        figures.add(f"latency_p{percentile[1]}", value.number(per=1000), "s", number)
    elif key in _FIGURES:
        name, unit, times, per = _FIGURES[key]
        figures.add(name, value.number(times, per), unit, number)
