"""hdparm -t and -T: reads through the page cache, and reads from the cache alone (hdparm.c: an MB is 2^20 bytes)."""

from __future__ import annotations

import re

from ...text.report import FigureList, Report
from ...text.report_text import ReportText

NAME = "hdparm"
SIGNATURE = re.compile(r"^\s*Timing (?:O_DIRECT )?(?:cached|buffered disk|disk) reads")

_MIB = 1 << 20
_TIMING = re.compile(
    r"^\s*Timing (?P<what>cached|buffered disk|O_DIRECT cached|O_DIRECT disk) reads(?: \([^)]*\))?:"
    r"\s+(?P<moved>\S+) MB in\s+(?P<seconds>\S+) seconds = +(?P<rate>\S+) (?P<unit>[kM]B)/sec"
)
_DEVICE = re.compile(r"^(?P<device>/dev/\S+):\s*$")
_NAMES = {
    "cached": "cached_read",
    "buffered disk": "buffered_read",
    "O_DIRECT cached": "direct_cached_read",
    "O_DIRECT disk": "direct_read",
}
_OFF = 0.02
"""What the printed rate may be off from bytes over seconds, by its digits."""


def parse(text: ReportText) -> Report:
    """Bytes, time and rate of every timing, with the device and the number of the run as context."""
    figures, here, runs = FigureList(), dict[str, str](), dict[str, int]()
    for number, line in enumerate(text.lines, 1):
        if device := _DEVICE.match(line):
            here = {"device": device["device"].rsplit("/", 1)[-1]}
            text.use(number)
        elif SIGNATURE.match(line):
            match = _TIMING.match(line)
            if match is None:
                raise text.refused(number, "'Timing buffered disk reads: N MB in N seconds = N MB/sec'")
            name = _NAMES[match["what"]]
            key = f"{here.get('device')} {name}"
            runs[key] = runs.get(key, 0) + 1
            of = {**here, "run": str(runs[key])}
            moved, seconds = (text.group(number, match, each) for each in ("moved", "seconds"))
            printed = text.group(number, match, "rate")
            size, took = moved.number(_MIB), seconds.number()
            rate = printed.number(_MIB if match["unit"] == "MB" else 1024)
            if not took or abs(size / took / rate - 1 if rate else 1.0) > _OFF:
                raise printed.refused(f"{moved.text} MB over {seconds.text} seconds")
            figures.add(f"{name}_rate", rate, "bytes/s", number, **of)
            figures.add(f"{name}_bytes", size, "bytes", number, **of)
            figures.add(f"{name}_seconds", took, "s", number, **of)
            text.use(number)
    return Report(NAME, None, figures.all(), text.skipped())
