"""What a paste does to the lines of a program: marks and numbers before them, an indent, lines that mail has broken.

All readers get the lines as the program has printed them. A front (the indent of a code block, the marks of a quoted
mail, the numbers of an editor) is taken off every line that has it. A line that was broken is put together again by
the reader's rule, which says whether a line goes on with the one before it. Cells know where they stand in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .report_text import ReportText

LEAST_WIDTH = 60
"""Columns at which a mail program breaks lines, or more."""
_SQUEEZED = 20
"""Blanks that a break takes away, and an indent that is lost."""
_FRONT = re.compile(r"[ \t]*(?:>[ \t]*)*")
_NUMBER = re.compile(r"[ \t]*[\[(]?(?P<number>\d{1,6})(?P<mark>[:.)\]|]*)(?P<blank>[ \t]*)")
_LONGEST = 400
_LOOKED_AT = 4
"""Lines that tell whether an output begins."""
_SHARED_BY = 8
"""Lines that show what all have in front."""
PROMPT = re.compile(r"(?:\[?[\w.-]+@[\w.-]+[^$#%>]{0,80}|bash-[\d.]+|[\w.-]{1,40}:[~/][^$#%>]{0,80}|~ ?)?[$#%>]\s*$")
"""A prompt that waits for a command."""

Joint = Callable[[str, str], str | None]
"""From a line so far and the next one: what was between them if both are one line, None if they are two."""


def lift(text: ReportText) -> None:
    """Take the numbers, marks and indent off a whole report, and the prompts around it.

    Parameters
    ----------
    text
        Its lines are changed in place.
    """
    full = [number for number, line in enumerate(text.lines, 1) if line.strip()]
    if len(full) > 1 and _numbers(text, full[0]) and _numbered(text, full[0])[-1][0] >= full[-1]:
        _cut_numbers(text, full[0])
    number = 1
    while number <= len(text):
        front = _FRONT.match(text.line(number))
        if front is not None and ">" in front[0]:
            number = max(_cut(text, number, _least_front(text, number)), number + 1)
        else:
            number += 1
    for number, line in enumerate(text.lines, 1):
        if PROMPT.match(line):
            text.lines[number - 1] = ""
    indents = [len(line) - len(line.lstrip()) for line in text.lines if line.strip()]
    least = min(indents, default=0)
    for number in range(1, len(text) + 1) if least else ():
        text.cut_front(number, least)


def _least_front(text: ReportText, number: int) -> str:
    """The front that all marked lines together have; the rest of one that was broken has no mark."""
    shared, before = "", ""
    while number <= len(text):
        line = text.line(number)
        front = _FRONT.match(line)
        if front is None or ">" not in front[0]:
            if not line.strip() or not breaks(before, line):
                break
        elif line.rstrip() != front[0].rstrip():
            shared = _common(shared, front[0]) if shared else front[0]
        before = line
        number += 1
    return shared or ">"


def _common(one: str, other: str) -> str:
    """The characters that both begin with."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one[:shared]


def unquote(text: ReportText, begins: Callable[[int], bool]) -> None:
    """Take the front off every output that stands behind one.

    Parameters
    ----------
    text
        Its lines are changed in place; `cut` remembers how much each has lost.
    begins
        Says whether an output begins in a line, by its number.
    """
    last = len(text)
    number = 1
    while number <= last:
        fronts = _numbers(text, number)
        fits = bool(fronts) and _begins_without(text, number, fronts, begins)
        number = _cut_numbers(text, number) if fits else number + 1
    number = 1
    while number <= last:
        front = _FRONT.match(text.line(number))
        if front is not None and front[0] and _begins_without(text, number, [front.end()] * _LOOKED_AT, begins):
            shared = _shared_front(text, number, front[0])  # some outputs begin with blanks of their own
            least = shared if _begins_without(text, number, [len(shared)] * _LOOKED_AT, begins) else front[0]
            number = _cut(text, _first_behind(text, number, least), least) if least else number + 1
        else:
            number += 1


def _shared_front(text: ReportText, number: int, front: str) -> str:
    """What the lines from one on have in common of its front; the rest of a quoted line that was broken has no mark."""
    for line in text.lines[number : number + _SHARED_BY]:
        other = _FRONT.match(line)
        if other is not None and line[other.end() :].strip() and (">" in other[0] or ">" not in front):
            front = _common(front, other[0])
    return front


def _first_behind(text: ReportText, number: int, front: str) -> int:
    """The first of the lines together that have the front."""
    while number > 1 and text.line(number - 1).startswith(front):
        number -= 1
    return number


def _begins_without(text: ReportText, number: int, lengths: list[int], begins: Callable[[int], bool]) -> bool:
    """Whether an output begins in a line if it and the next ones have lost their fronts."""
    here = slice(number - 1, number - 1 + len(lengths))
    before = text.lines[here]
    text.lines[here] = [line[length:] for line, length in zip(before, lengths, strict=False)]
    found = begins(number)
    text.lines[here] = before
    return found


def _cut(text: ReportText, number: int, front: str) -> int:
    """Take the front off the lines that have it; returns the number of the first one without it.

    The rest of a quoted line that was broken has no mark.
    """
    bare, quoted = front.rstrip(), ">" in front
    before = ""
    while number <= len(text):
        line = text.line(number)
        if line.startswith(front):
            text.cut_front(number, len(front))
        elif line.rstrip() == bare or not line.strip():
            text.lines[number - 1] = ""
        elif quoted and breaks(before, line):
            less = _FRONT.match(line)
            text.cut_front(number, less.end() if less is not None else 0)
        else:
            break
        before = line
        number += 1
    return number


def _numbers(text: ReportText, number: int) -> list[int]:
    """The lengths of the numbers before some lines, with a front behind them; empty if they do not count on."""
    found = [_number(text, each) for each in range(number, number + _LOOKED_AT)]
    counted = [each for at, each in enumerate(found) if each is not None and _follows(found[0], each, at)]
    if len(counted) < min(2, len(text)) or counted[0] is not found[0] or found[1] is None:
        return []
    front = _FRONT.match(text.line(number), counted[0].end("mark"))
    length = front.end() - counted[0].end("mark") if front is not None else 0
    return [each.end("mark") + length for each in counted]


def _follows(first: re.Match[str] | None, later: re.Match[str], lines: int) -> bool:
    return first is not None and int(later["number"]) == int(first["number"]) + lines


def _number(text: ReportText, number: int) -> re.Match[str] | None:
    """The number before a line, with what is between it and the line; "12 " is none."""
    match = _NUMBER.match(text.line(number)[:_LONGEST])
    apart = match is not None and (match["mark"] or match["blank"] not in ("", " ") or match.end() == len(match.string))
    return match if apart else None


def _numbered(text: ReportText, number: int) -> list[tuple[int, int, int | None]]:
    """The lines that count on: line, length of the number, and blanks behind it; None of these in an empty line."""
    found: list[tuple[int, int, int | None]] = []
    match = first = _number(text, number)
    while match is not None and first is not None and _follows(first, match, len(found)):
        line, end = match.string, match.end("number")
        if not line.startswith(first["mark"], end):
            break
        end += len(first["mark"])
        rest = line[end:]
        found.append((number + len(found), end, len(rest) - len(rest.lstrip(" \t")) if rest.strip() else None))
        match = _number(text, number + len(found))
    return found


def _cut_numbers(text: ReportText, number: int) -> int:
    """Take the numbers off lines as long as they count on, with the blanks behind all of them.

    Returns the number of the first line without.
    """
    lines = _numbered(text, number)
    least = min((blanks for _, _, blanks in lines if blanks is not None), default=0)
    for each, length, _ in lines:
        text.cut_front(each, length + least)
    return number + len(lines)


def breaks(before: str, line: str) -> bool:
    """Whether a line may be the rest of the one before: with its first word that would be as long as a line gets."""
    first = line.split(maxsplit=1)[0] if line.strip() else ""
    return len(before.rstrip()) + 1 + len(first) + _SQUEEZED > LEAST_WIDTH


def join_wrapped(text: ReportText, numbers: Iterable[int], joint: Joint) -> None:
    """Put lines that were broken together again.

    Parameters
    ----------
    text
        Its lines are changed in place: what is joined stands in its first line, and the others are empty.
    numbers
        The lines.
    joint
        The reader's rule.
    """
    anchor = 0
    for number in numbers:
        line = text.line(number)
        if not line.strip():
            anchor = 0
        elif anchor and (between := joint(text.line(anchor), line)) is not None:
            text.join(anchor, number, between)
        else:
            anchor = number
