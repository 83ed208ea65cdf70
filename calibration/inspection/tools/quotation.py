"""Taking off what a paste has put in front of every line: the indent of a code block, the marks of a quoted mail."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...formats.report_text import ReportText

_FRONT = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*")


def unquote(text: ReportText, begins: Callable[[int], bool]) -> None:
    """Take the front off every output that stands behind one.

    Parameters
    ----------
    text
        Its lines are changed in place; `cut` remembers how much each has lost.
    begins
        Says whether an output begins in a line, by its number.
    """
    number, last = 1, len(text)
    while number <= last:
        front = _FRONT.match(text.line(number))
        if front is None or not front[0] or not _begins_without(text, number, front.end(), begins):
            number += 1
            continue
        number = _cut(text, number, front[0])


def _begins_without(text: ReportText, number: int, length: int, begins: Callable[[int], bool]) -> bool:
    """Whether an output begins in a line if it and the next one have lost their fronts."""
    before = text.lines[number - 1 : number + 1]
    text.lines[number - 1 : number + 1] = [line[length:] for line in before]
    found = begins(number)
    text.lines[number - 1 : number + 1] = before
    return found


def _cut(text: ReportText, number: int, front: str) -> int:
    """Take the front off the lines that have it; returns the number of the first one without it."""
    bare = front.rstrip()
    while number <= len(text):
        line = text.line(number)
        if line.startswith(front):
            text.lines[number - 1] = line[len(front) :]
            text.cut[number] = len(front)
        elif line.rstrip() == bare or not line.strip():
            text.lines[number - 1] = ""
        else:
            break
        number += 1
    return number
