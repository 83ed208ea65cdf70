"""FreeBSD's diskinfo -c, -i, -S and -t (diskinfo.c): command overhead, seeks, random reads and writes, transfer rates.

A "kbyte" is 1024 bytes and an "Mbyte" 2^20. What stands before the measurements (sector size, capacity) is read too.
"""

from __future__ import annotations

import re

from ...text.report import FigureList, Report, Unit
from ...text.report_text import ReportText

NAME = "diskinfo"
SIGNATURE = re.compile(r"^\s*(?:\d+\s+# (?:sectorsize|mediasize in bytes)|Full stroke:\s+\d+ iter in)")

_KIB, _MIB = 1 << 10, 1 << 20
_FACT = re.compile(r"^\s*(?P<value>\d+)\s+# (?P<what>sectorsize|mediasize in bytes)")
_DEVICE = re.compile(r"^(?P<device>(?:/dev/)?[a-z]\w{0,60})\s*$")
_PART = re.compile(r"^(?P<part>[A-Z][\w /()-]*):\s*$")
_LINE = re.compile(
    r"^\s++(?P<what>[\w.]++(?: [\w.]++)*?):?\s+(?P<count>\S+) (?:iter|ops|kbytes) in\s+(?P<seconds>\S+) sec =\s+"
    r"(?P<value>\S+) (?P<unit>\S+)"
)
_BLOCK = re.compile(
    r"^\s+time to read (?P<what>10MB block|\d+ sectors)\s+(?P<seconds>\S+) sec\s+=\s+(?P<value>\S+) msec/sector"
)
_OVERHEAD = re.compile(r"^\s+calculated command overhead\s+=\s+(?P<value>\S+) msec/sector")
_WRITE = re.compile(r"^\s+(?P<what>[\d.]+ kbytes):\s+(?P<value>\S+) usec/IO\s+=\s+(?P<rate>\S+) Mbytes/s")
_OTHER = re.compile(r"^\s*\S+\s+# |^I/O command overhead")
"""Lines that tell nothing that is kept."""
_UNITS: dict[str, tuple[str, Unit, float]] = {
    "msec": ("seconds", "s", 1e-3),
    "kbytes/sec": ("rate", "bytes/s", float(_KIB)),
    "IOPS": ("iops", "1/s", 1.0),
}
_PARTS = {
    "Seek times": "seek",
    "Transfer rates": "read",
    "Asynchronous random reads": "random_read",
    "Synchronous random writes": "sync_write",
}


def parse(text: ReportText) -> Report:
    """Every measurement, with the device as context; names are those of the lines ("seek_full_stroke_seconds")."""
    figures, here, part = FigureList(), dict[str, str](), ""
    for number, line in enumerate(text.lines, 1):
        if device := _DEVICE.match(line):
            here = {"device": device["device"].removeprefix("/dev/")}
        elif heading := _PART.match(line):
            part = _PARTS.get(heading["part"], "")
        elif fact := _FACT.match(line):
            name = "sector_size" if fact["what"] == "sectorsize" else "size"
            figures.add(name, text.group(number, fact, "value").number(), "bytes", number, **here)
        elif overhead := _OVERHEAD.match(line):
            value = text.group(number, overhead, "value").number(per=1000)
            figures.add("command_overhead", value, "s", number, **here)
        elif block := _BLOCK.match(line):
            value = text.group(number, block, "value").number(per=1000)
            name = "overhead_block" if block["what"].startswith("10MB") else "overhead_sectors"
            figures.add(f"{name}_seconds", value, "s", number, **here)
        elif write := _WRITE.match(line):
            name = f"{part or 'sync_write'}_{_named(write['what'])}"
            figures.add(f"{name}_seconds", text.group(number, write, "value").number(per=1e6), "s", number, **here)
            rate = text.group(number, write, "rate").number(_MIB)
            figures.add(f"{name}_rate", rate, "bytes/s", number, **here)
        elif measured := _LINE.match(line):
            unit = text.group(number, measured, "unit")
            if unit.text not in _UNITS:
                raise unit.refused(", ".join(_UNITS))
            name, kind, times = _UNITS[unit.text]
            value = text.group(number, measured, "value").number(times)
            figures.add(f"{part or 'disk'}_{_named(measured['what'])}_{name}", value, kind, number, **here)
        elif " iter in" in line or " IOPS" in line or " kbytes in" in line:
            raise text.refused(number, "'NAME: N iter in N sec = N msec', or the same with kbytes/sec or IOPS")
        elif line.strip() and not _OTHER.match(line):
            continue
        text.use(number)
    if not len(figures):
        raise text.refused(len(text) + 1, "the lines of diskinfo -c, -i, -S or -t")
    return Report(NAME, None, figures.all(), text.skipped())


def _named(words: str) -> str:
    return "_".join(words.lower().replace(".", "_").split())
