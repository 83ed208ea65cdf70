"""Reports of benchmarks and monitors that stand in a paste between other outputs: which lines are whose.

A report begins with a line that only its program prints, and ends with a prompt, with what another program prints, or
with a line that it cannot have.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ..text.paste import PROMPT
from ..text.positioned_json import JsonText, beginning, begins_object
from ..text.report import Report
from ..text.report_text import ReportText
from .benchmarks import dd_and_time, fio_json, fio_text
from .monitors import iostat, zpool_iostat

_STARTS = {
    fio_text.NAME: re.compile(r"[^\s>$#].*: \((?:g=\d+\): rw=\w+|groupid=\d+, jobs=\d+\): err=)"),
    iostat.NAME: re.compile(
        r"Linux \S+ \(\S+\)\s.*\(\d+ CPU\)|avg-cpu: |[Dd]evice:?\s.*(?:r/s|tps)|extended device statistics"
    ),
    zpool_iostat.NAME: re.compile(r"\s+capacity\s+operations\s+bandwidth\b|(?:pool|vdev)\s+alloc\s+free\s+read\b"),
    dd_and_time.NAME: dd_and_time.RESULT,
}
_PARSERS = {
    fio_text.NAME: fio_text.parse,
    fio_json.NAME: fio_json.parse,
    iostat.NAME: iostat.parse,
    zpool_iostat.NAME: zpool_iostat.parse,
    dd_and_time.NAME: dd_and_time.parse,
}
_ROWS = {
    iostat.NAME: re.compile(r"\s*$|.*(?:\d\s.*\d|Device|avg-cpu|%|CPU\))"),
    zpool_iostat.NAME: re.compile(r"\s*$|\s*-{2,}|.*(?:[\d-]+[KMGTP]?\s+[\d-]|capacity|alloc|logs|cache|wait)"),
    dd_and_time.NAME: dd_and_time.RESULT,
}
"""What a line of a report is; fio's has all up to what another program prints."""
_OBJECT = re.compile(r'\{\s*"fio version"\s*:')
_COMMAND = re.compile(r"(?:^|[$#>%]\s*|\bsudo\s+|\btime\s+)(?P<command>(?:\S*/)?(?:fio|dd)\s+\S.*)$")
_OPTION = re.compile(r"\s*(?:-{1,2}[a-z]|[a-z]+=\S)")
"""How the rest of a command begins that mail has broken."""
_FAR = 4
"""Lines between a command and what it prints."""


class Part(NamedTuple):
    """A report in a text.

    Attributes
    ----------
    name
        Of its format.
    text
        The file.
    first, last
        Its lines, from 1.
    command
        What was typed to get it; "" if that is not there.
    """

    name: str
    text: ReportText
    first: int
    last: int
    command: str

    def report(self) -> Report:
        """Its figures."""
        return _PARSERS[self.name](self.text.part(self.first, self.last))

    @property
    def program(self) -> str:
        """What printed it."""
        return "zpool iostat" if self.name == zpool_iostat.NAME else self.name.split("-", maxsplit=1)[0]

    @property
    def lines(self) -> str:
        """Its lines as a text of their own."""
        return "\n".join(self.text.lines[self.first - 1 : self.last]) + "\n"


def begins(text: ReportText, number: int) -> str | None:
    """The format of the report that a line begins; None if it begins none."""
    line = text.line(number)
    if line.startswith("{"):
        return fio_json.NAME if _OBJECT.match(beginning(text, number)) else None
    return next((name for name, start in _STARTS.items() if start.match(line)), None)


def parts(text: ReportText, other: Callable[[int], bool]) -> list[Part]:
    """The reports in a text.

    Parameters
    ----------
    text
        Without the marks of a quoted mail.
    other
        Whether an output of another kind, or a command, begins in a line.
    """
    found: list[Part] = []
    number = 1
    while number <= len(text):
        name = begins(text, number)
        if name is None:
            number += 1
            continue
        last = _last(text, number, name, other)
        found.append(Part(name, text, number, last, _command(text, number)))
        number = last + 1
    return found


def _last(text: ReportText, first: int, name: str, other: Callable[[int], bool]) -> int:
    """The last line of a report."""
    if name == fio_json.NAME:
        return JsonText(text).read_object(first)[1]
    last = first
    for number in range(first + 1, len(text) + 1):
        line = text.line(number)
        if PROMPT.match(line) or begins_object(text, number) or _COMMAND.search(line):
            break
        begun = begins(text, number)
        if begun != name and (begun is not None or other(number)):
            break
        if name in _ROWS and not _ROWS[name].match(line):
            break
        if line.strip():
            last = number
    return last


def _command(text: ReportText, first: int) -> str:
    """The command before a report, of one line or of several."""
    before = [number for number in range(first - 1, 0, -1) if text.line(number).strip()][:_FAR]
    for at, number in enumerate(before):
        match = _COMMAND.search(text.line(number))
        if match is not None:
            words = [match["command"]]
            for later in before[:at][::-1]:
                if not (words[-1].rstrip().endswith("\\") or _OPTION.match(text.line(later))):
                    break
                words.append(text.line(later))
            return " ".join(each.rstrip().removesuffix("\\").strip() for each in words)
    return ""
