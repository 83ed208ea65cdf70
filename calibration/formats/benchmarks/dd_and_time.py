"""What dd prints when it ends, and ``time`` around it or around anything else.

dd of GNU coreutils: before 5.3 (2005) only the records; then "N bytes (1.1 GB) copied, T seconds, R MB/s", later
"T s", since 8.25 with powers of 1024 as well ("(5.4 GB, 5.0 GiB)"); without brackets below 1000 bytes. busybox writes
"(1.0GB)", and FreeBSD "N bytes transferred in T secs (R bytes/sec)". The rate is bytes over seconds, which are printed
with six digits; the printed rate has two or three, and its MB is 10^6 bytes with GNU and 2^20 with busybox.

``time`` of bash ("0m1.5s"), POSIX (``-p``), GNU (one line, or ``-v``), the BSDs and zsh: ``seconds`` of the clock, of
the program (user) and of the kernel for it (system), and both as a share of the clock's.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from ...text.report import Figure, Report, Unit
from ...text.report_text import Cell, ReportText

NAME = "dd-and-time"
SIGNATURE = re.compile(
    r"^\d+\+\d+ (?:records|Datensätze|enregistrements) \w+\s*$|\b(?:[Bb]ytes?|octets?) (?:\([^)]{0,40}\) )?"
    r"(?:copied|kopiert|copiés?|transferred),?|bytes transferred in|^(?:real|user|sys)\s+\S|"
    r"\duser [\d:.,]+system |\d real +[\d.,]+ user |s user [\d.,]+s system |^\s*Elapsed \(wall clock\)"
)

_WAYS = {"in": "in", "out": "out", "ein": "in", "aus": "out", "lus": "in", "écrits": "out"}
"""Words of the C locale, German and French (coreutils' message catalogues)."""
_RECORDS = re.compile(
    r"^(?P<whole>[0-9]+)\+(?P<part>[0-9]+) (?:records|Datensätze|enregistrements) "
    r"(?P<way>in|out|ein|aus|lus|écrits)\s*$"
)
_COPIED = re.compile(
    r"^(?P<bytes>\S+) (?:bytes?|Bytes?|octets?) (?:\([^)]*\) )?(?:copied|kopiert|copiés?), "
    r"(?P<seconds>\S+) (?:s|secs?|seconds?), (?P<rate>[0-9.,]+|Infinity) ?(?P<prefix>[kKMGTPEZY]?)i?[Bo]/s\s*$",
)
_OTHER_WORDS = re.compile(r"kopiert|copié")
_TRANSFERRED = re.compile(
    r"^(?P<bytes>\S+) bytes transferred in (?P<seconds>\S+) secs? \((?P<rate>[\d.]+)(?P<prefix>) bytes/sec\)\s*$",
    re.ASCII,
)
_ANY_RECORDS = re.compile(r"records (?:in|out)\s*$|^\d+\+\d+ (?:Datensätze|enregistrements)\b")
_ANY_SUMMARY = re.compile(
    r"\b(?:[Bb]ytes?|octets?) (?:\([^)]{0,40}\) )?(?:copied|kopiert|copiés?),|bytes transferred in"
)
RESULT = re.compile(
    r"\d+\+\d+ (?:records|Datensätze|enregistrements) \w+\s*$|\d+ (?:[Bb]ytes?|octets?) (?:\([^)]{0,40}\) )?"
    r"(?:copied|kopiert|copiés?), |\d+ bytes transferred in"
)
"""A line of dd's end, in any of its languages."""
_SHELL = re.compile(r"^(?P<name>real|user|sys)\s+(?P<time>\S+)\s*$")
_MINUTES = re.compile(r"(?P<minutes>\d+)m(?P<seconds>[\d.,]+)s", re.ASCII)
_GNU = re.compile(r"^(?P<user>\S+?)user (?P<sys>\S+?)system (?P<real>\S+?)elapsed (?:\S+)%CPU\b.*$", re.ASCII)
_BSD = re.compile(r"^\s*(?P<real>\S+) real +(?P<user>\S+) user +(?P<sys>\S+) sys\s*$")
_ZSH = re.compile(r"^(?:.*\s)?(?P<user>\S+)s user (?P<sys>\S+)s system \S+% cpu (?P<real>\S+) total\s*$")
_VERBOSE = re.compile(
    r"^\s*(?P<what>User time|System time|Elapsed \(wall clock\) time) \([^)]*\): (?P<time>\S+)\s*$", re.ASCII
)
_VERBOSE_PARTS = {"User time": "user", "System time": "sys", "Elapsed (wall clock) time": "real"}
_SAID_BESIDE = re.compile(
    r"^\d+ truncated (?:block|record)s?\s*$|^\d+inputs\+|^Command (?:exited|terminated)|"
    r"^\s*(?:Command being timed|Percent of CPU|Average |Maximum resident|Major |Minor |Voluntary |Involuntary |Swaps|"
    r"File system |Socket |Signals |Page size|Exit status)",
    re.ASCII,
)
_AT_A_TIME = (_GNU, _BSD, _ZSH)
_PARTS = {"real": "seconds", "user": "user_seconds", "sys": "system_seconds"}
_POWERS = " KMGTPEZY"


class _Groups:
    """What is told in one go is a group: the records and the summary of a dd, or the times of a program.

    Attributes
    ----------
    done
        Program ("dd", "time") and figures of each group.
    records, times
        Of the group that is not complete yet, by "in" and "out" and by part, with the line.
    """

    def __init__(self, text: ReportText) -> None:
        self.text = text
        self.done: list[tuple[str, list[Figure]]] = []
        self.records: dict[str, tuple[float, float, int]] = {}
        self.times: dict[str, tuple[float, int]] = {}

    def record(self, number: int, match: re.Match[str]) -> None:
        """A line of records: "in" begins a dd."""
        way = _WAYS[match["way"]]
        if way == "in":
            self.end_records()
        if ("in" in self.records) != (way == "out") or way in self.records:
            raise self.text.refused(number, "one line of records in and one of records out, in this order")
        whole, part = (self.text.group(number, match, name).whole() for name in ("whole", "part"))
        self.records[way] = (whole, part, number)

    def end_records(self, summary: list[Figure] | None = None) -> None:
        """The dd is told: with its summary, or without one as dd did it before 2005."""
        if "in" in self.records and "out" not in self.records:
            raise self.text.refused(self.records["in"][2] + 1, "the line 'N+N records out'")
        figures = []
        for way, (whole, part, line) in self.records.items():
            figures.append(Figure(f"records_{way}", whole, "count", line))
            figures.append(Figure(f"partial_records_{way}", part, "count", line))
        if figures or summary:
            self.done.append(("dd", figures + (summary or [])))
        self.records = {}

    def time(self, number: int, part: str, seconds: float) -> None:
        """One of the three times of a program."""
        if part in self.times:
            line = self.times[part][1]
            raise self.text.refused(number, f"the rest of real, user and sys before a second {part} (line {line})")
        self.times[part] = seconds, number
        if len(self.times) < len(_PARTS):
            return
        figures = [Figure(_PARTS[part], *self._told(part)) for part in _PARTS]
        (real, line), (user, _), (system, _) = (self.times[part] for part in _PARTS)
        if real:
            figures.append(Figure("cpu", (user + system) / real, "share", line))
        self.done.append(("time", figures))
        self.times = {}

    def _told(self, part: str) -> tuple[float, Unit, int]:
        seconds, line = self.times[part]
        return seconds, "s", line

    def all(self) -> tuple[Figure, ...]:
        """The figures, each with its program and, of several of a program, its number as context."""
        if self.times:
            missing = ", ".join(part for part in _PARTS if part not in self.times)
            first = min(line for _, line in self.times.values())
            raise self.text.refused(len(self.text) + 1, f"{missing} beside the times from line {first} on")
        self.end_records()
        all_of = Counter(program for program, _ in self.done)
        figures: list[Figure] = []
        counted = Counter[str]()
        for program, group in self.done:
            counted[program] += 1
            run = (("run", str(counted[program])),) if all_of[program] > 1 else ()
            figures += [replace(figure, context=(("program", program), *run)) for figure in group]
        return tuple(figures)


def parse(text: ReportText) -> Report:
    """The figures of every dd and every ``time``."""
    groups, warnings = _Groups(text), []
    for number, line in enumerate(text.lines, 1):
        if _ANY_RECORDS.search(line):
            match = _RECORDS.match(line)
            if match is None:
                raise text.refused(number, "whole and partial records, such as '5120+0 records in'")
            groups.record(number, match)
        elif _ANY_SUMMARY.search(line):
            if not groups.records and _ANY_RECORDS.search(text.line(number + 1)):
                continue  # progress of status=progress, and not yet the summary
            summary, warning = _summary(text, number)
            groups.end_records(summary)
            warnings += warning
        elif not (_SAID_BESIDE.match(line) or _times(text, number, groups)):
            continue
        text.use(number)
    return Report(NAME, None, groups.all(), (*warnings, *text.skipped()))


def _summary(text: ReportText, number: int) -> tuple[list[Figure], list[str]]:
    """Bytes, seconds and rate of dd's last line, and a warning if the printed rate is another."""
    match = _COPIED.match(text.line(number)) or _TRANSFERRED.match(text.line(number))
    if match is None:
        comma = re.search(r"\d+,\d+(?= s|\s*[kMGTPEZY]?i?B/s)", text.line(number))
        if comma is not None:
            text.group(number, comma, 0).number()
        raise text.refused(
            number, "'N bytes (...) copied, T s, R MB/s' or 'N bytes transferred in T secs (R bytes/sec)'"
        )
    size = text.group(number, match, "bytes").whole()
    has_comma = _OTHER_WORDS.search(match[0]) is not None
    seconds = _decimal(text.group(number, match, "seconds"), has_comma).number()
    figures = [Figure("bytes", size, "bytes", number), Figure("seconds", seconds, "s", number)]
    if not seconds:
        return figures, [f"line {number}: no time passed, so there is no rate"]
    rate = size / seconds
    figures.append(Figure("rate", rate, "bytes/s", number))
    if match["rate"] == "Infinity":
        return figures, []
    printed, power = (
        _decimal(text.group(number, match, "rate"), has_comma),
        _POWERS.index(match["prefix"].upper() or " "),
    )
    told = [printed.number(base**power) for base in (1000, 1024)]
    # Two digits are a twentieth off; the time is printed to the microsecond by some.
    slack = 0.06 + 1e-6 / seconds
    if any(abs(each - rate) <= slack * rate + 1 for each in told):
        return figures, []
    return figures, [f"line {number}: the printed rate, {printed.text}, is not bytes over seconds ({rate:.6g} bytes/s)"]


def _decimal(cell: Cell, has_comma: bool) -> Cell:
    """A number with a point, where the language has a comma."""
    return cell._replace(text=cell.text.replace(",", ".")) if has_comma else cell


def _times(text: ReportText, number: int, groups: _Groups) -> bool:
    """Keep the times that a line tells; returns whether it tells any."""
    line = text.line(number)
    shell = _SHELL.match(line)
    if shell is not None:
        groups.time(number, shell["name"], _clock(text.group(number, shell, "time")))
        return True
    for pattern in _AT_A_TIME:
        match = pattern.match(line)
        if match is not None:
            for part in _PARTS:
                groups.time(number, part, _clock(text.group(number, match, part)))
            return True
    verbose = _VERBOSE.match(line)
    if verbose is not None:
        groups.time(number, _VERBOSE_PARTS[verbose["what"]], _clock(text.group(number, verbose, "time")))
    return verbose is not None


def _clock(cell: Cell) -> float:
    """Seconds of "1.5", "2m25.470s", "0:01.50" and "1:02:03"."""
    minutes = _MINUTES.fullmatch(cell.text)
    if minutes is not None:
        seconds = cell._replace(text=minutes["seconds"], column=cell.column + minutes.start("seconds"))
        return 60 * cell._replace(text=minutes["minutes"]).whole() + seconds.number()
    *larger, last = cell.text.split(":")
    if len(larger) > 2:
        raise cell.refused("a time: seconds, m:ss or h:mm:ss")
    total = 0.0
    for part in larger:
        total = 60 * total + cell._replace(text=part).whole()
    return 60 * total + cell._replace(text=last).number()
