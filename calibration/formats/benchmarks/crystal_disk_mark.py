"""CrystalDiskMark's text, of versions 3 to 8 ("Copy" in its menu): an MB is 10^6 bytes.

A test is named by its pattern, size, queues and threads: ``random_read_4KiB_q32t1_rate``. Versions 3 and before have no
queues for all of their tests. IOPS and latencies are there where the version prints them.
"""

from __future__ import annotations

import re

from ...text.paste import join_wrapped
from ...text.report import FigureList, Report
from ...text.report_text import ReportText

NAME = "CrystalDiskMark"
SIGNATURE = re.compile(r"^\s*(?:CrystalDiskMark \d|KDiskMark \()")

_VERSION = re.compile(r"^\s*(?:CrystalDiskMark |KDiskMark \()([^\s)]+)")
_PART = re.compile(r"^\[(?P<part>Read|Write|Mix[^\]]*)\]\s*$")
_SIZE = r"(?P<size>\d+ ?[KM]i?B)?"
_QUEUES = r"(?:\((?:(?:Q= *(?P<queues>\d+), ?)?T= *(?P<threads>\d+)|QD ?= ?(?P<depth>\d+))\))?"
_FIGURES = r"(?P<rate>\S+) MB/s(?: *\[ *(?P<iops>\S+) IOPS *\])?(?: *< *(?P<latency>\S+) us *>)?"
_TEST = re.compile(
    rf"^\s*(?P<pattern>Sequential|Random|SEQ|RND|Seq|Rnd)(?: (?P<way>Read|Write))? *{_SIZE} *{_QUEUES} *: *{_FIGURES}"
)
_LIKE_A_TEST = re.compile(r"^\s*(?:Sequential|Random|SEQ|RND)\b.*:")
_REST = re.compile(r"(?:\[|<|[\d.]+ |MB/s|IOPS|us\b|\(?[QT]=|: )")
_MB = 10**6


def _joint(line: str, rest: str) -> str | None:
    """A test goes on in the next line with its figures, if mail has broken it."""
    return " " if _LIKE_A_TEST.match(line) and _REST.match(rest) else None


def parse(text: ReportText) -> Report:
    """Rate, IOPS and latency of every test."""
    join_wrapped(text, range(1, len(text) + 1), _joint)
    figures, version, part = FigureList(), None, ""
    for number, line in enumerate(text.lines, 1):
        if found := _VERSION.match(line):
            version = found[1]
        elif heading := _PART.match(line):
            part = heading["part"].split()[0].lower()
        elif test := _TEST.match(line):
            way = (test["way"] or part).lower()
            if not way:
                raise text.refused(number, "'Read' or 'Write' in the name of a test, or [Read] above it")
            name = "random" if test["pattern"].lower().startswith("r") else "sequential"
            words = [f"{name}_{way}", (test["size"] or "").replace(" ", "")]
            if test["threads"] or test["depth"]:
                words.append(f"q{test['queues'] or test['depth'] or 1}t{test['threads'] or 1}")
            full = "_".join(word for word in words if word)
            figures.add(f"{full}_rate", text.group(number, test, "rate").number(_MB), "bytes/s", number)
            if test["iops"]:
                figures.add(f"{full}_iops", text.group(number, test, "iops").number(), "1/s", number)
            if test["latency"]:
                figures.add(f"{full}_latency", text.group(number, test, "latency").number(per=1e6), "s", number)
        elif _LIKE_A_TEST.match(line):
            raise text.refused(number, "'Random Read 4KiB (Q= 32,T= 1) : N MB/s', perhaps with [N IOPS] and <N us>")
        text.use(number)
    if not len(figures):
        raise text.refused(len(text) + 1, "a line such as 'SEQ    1MiB (Q=  8, T= 1):   561.293 MB/s'")
    return Report(NAME, version, figures.all(), text.skipped())
