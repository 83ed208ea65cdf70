"""iostat -o JSON of sysstat 11.6 and later (iostat.c, write_json_ext_stat): the columns of its table by their names.

The shares of columns such as %util have names without the sign ("util").
"""

from __future__ import annotations

import re

from ...text.positioned_json import JsonText, Value, begins_object
from ...text.report import FigureList, Report
from ...text.report_text import ReportText
from .iostat import COLUMNS, CPU, NAME

__all__ = ["NAME", "SIGNATURE", "parse"]

SIGNATURE = re.compile(r'^\s*\{?\s*"sysstat"\s*:')


def parse(text: ReportText) -> Report:
    """The figures of every device in every report."""
    figures, json = FigureList(), JsonText(text)
    start = next((number for number in range(1, len(text) + 1) if begins_object(text, number)), None)
    if start is None:
        raise text.refused(1, "the whole object, from its opening brace at the start of a line")
    root, end = json.read_object(start)
    text.use(*range(start, end + 1))
    hosts = _member(_member(root, "sysstat", "object"), "hosts", "list")
    for host in hosts.items:
        for number, report in enumerate(_member(host, "statistics", "list").items, 1):
            _report(report, number, figures)
    if not len(figures):
        raise root.cell.refused("statistics of at least one device")
    since = "report 1 is of the time since boot, unless iostat ran with -y"
    return Report(NAME, None, figures.all(), (since, *text.skipped()))


def _report(report: Value, number: int, figures: FigureList) -> None:
    time = report.members.get("timestamp")
    here = {"report": str(number), **({"time": time.cell.text} if time is not None else {})}
    cpu = report.members.get("avg-cpu")
    for key, value in cpu.members.items() if cpu is not None else ():
        if f"%{key}" in CPU:
            figures.add(CPU[f"%{key}"], value.cell.number(per=100), "share", value.line, **here)
    disks = report.members.get("disk")
    for disk in disks.items if disks is not None else ():
        name = _member(disk, "disk_device", "text")
        for key, value in disk.members.items():
            if key == "disk_device":
                continue
            column = COLUMNS.get(key) or COLUMNS.get(f"%{key}")
            if column is None:
                raise value.cell.refused(f"a column of iostat: {', '.join(COLUMNS)}", f"the key {key!r}")
            amount = value.cell.number(column.times, column.per)
            figures.add(column.name, amount, column.unit, value.line, **here, device=name.cell.text)


def _member(value: Value, key: str, kind: str) -> Value:
    found = value.members.get(key)
    if found is None or found.kind != kind:
        raise value.cell.refused(f"an object with the {kind} {key!r}, as iostat -o JSON prints it")
    return found
