"""The text of a report as lines and cells that know where they stand, so that every refusal can say it.

Numbers are those of the C locale: digits and a point. A decimal comma, "nan", "inf", a sign or a unit that does not
belong there is refused.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import NamedTuple

from ...model.core.errors import InputError

MOST_BYTES = 16 * 1024 * 1024
"""A report is a page; what is longer than this is something else."""

_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[0-9]+,[0-9]+", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WORD = re.compile(r"\S+")
_MOST_DIGITS = 40
_SHOWN = 48


class Cell(NamedTuple):
    """A piece of a line.

    Attributes
    ----------
    text
        What it says.
    file, line, column
        Where it stands; lines and columns count from 1.
    """

    text: str
    file: str
    line: int
    column: int

    def refused(self, allowed: str, found: str | None = None) -> InputError:
        """The error that says that this cannot be used."""
        return InputError(
            f"{self.file}:{self.line}:{self.column}", f"found {found or shown(self.text)}", f"expected: {allowed}"
        )

    def number(self, times: float = 1, per: float = 1) -> float:
        """The number that it is, multiplied and divided: finite and not negative."""
        allowed = "a number of at least 0"
        if _DECIMAL_COMMA.fullmatch(self.text):
            raise self.refused(f"{allowed} with a decimal point: run the program with LC_ALL=C, which writes one")
        if len(self.text) > _MOST_DIGITS or not _NUMBER.fullmatch(self.text):
            raise self.refused(allowed)
        value = float(Decimal(self.text) * Decimal(times) / Decimal(per))
        if not math.isfinite(value):
            raise self.refused(allowed)
        return value

    def whole(self) -> int:
        """The whole number that it is."""
        if not self.text.isascii() or not self.text.isdigit() or len(self.text) > _MOST_DIGITS:
            raise self.refused("a whole number of at least 0")
        return int(self.text)

    def percent(self) -> float:
        """The share that it is percent of; the sign itself may stand there."""
        return self._replace(text=self.text.removesuffix("%")).number(per=100)


class ReportText:
    """The lines of a report.

    Parameters
    ----------
    text
        All of it.
    name
        What errors call it: the file's name as it was given.

    Attributes
    ----------
    lines
        Without their ends; what a carriage return has overwritten on a terminal is blank.
    cut
        Characters that were taken off the beginning of a line (an indent, the marks of a quotation), by its number;
        columns count them.
    """

    __slots__ = ("_ended", "_joined", "_used", "cut", "lines", "name")

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self._used: set[int] = set()
        self.cut: dict[int, int] = {}
        self._joined: dict[int, list[tuple[int, int, int]]] = {}
        self._ended = text.endswith("\n") or text.rstrip().endswith("}")
        if len(text) > MOST_BYTES:
            raise too_long(name)
        text = text.removeprefix("\ufeff")
        if not text.strip():
            raise _nothing(name)
        self.lines = [_overwritten(line) for line in text.split("\n")]
        control = _CONTROL.search(text)
        if control is not None:
            line = text.count("\n", 0, control.start()) + 1
            column = control.start() - text.rfind("\n", 0, control.start())
            raise Cell(control.group(), name, line, column).refused(
                "text as the program prints it, without control characters",
                f"the control character 0x{ord(control.group()):02x}",
            )
        if not any(line.strip() for line in self.lines):  # all overwritten by blanks
            raise _nothing(name)

    def __len__(self) -> int:
        return len(self.lines)

    def line(self, number: int) -> str:
        """A line by its number; "" past the end."""
        return self.lines[number - 1] if number <= len(self.lines) else ""

    def cell(self, number: int, start: int, end: int) -> Cell:
        """A piece of a line, by the characters from `start` to before `end`."""
        return Cell(self.line(number)[start:end], self.name, *self.place(number, start))

    def place(self, number: int, start: int) -> tuple[int, int]:
        """Line and column of the file where a character of a line stands."""
        for offset, line, column in reversed(self._joined.get(number, ())):
            if start >= offset:
                return line, column + start - offset
        return number, self.cut.get(number, 0) + start + 1

    def cut_front(self, number: int, length: int) -> None:
        """Take characters off the beginning of a line."""
        self.lines[number - 1] = self.lines[number - 1][length:]
        self.cut[number] = self.cut.get(number, 0) + length

    def join(self, number: int, later: int, between: str) -> None:
        """Put a later line behind a line; it is empty then."""
        line, rest = self.line(number).rstrip(), self.line(later)
        indent = len(rest) - len(rest.lstrip())
        pieces = self._joined.setdefault(number, [])
        pieces.append((len(line) + len(between), later, self.cut.get(later, 0) + indent + 1))
        self.lines[number - 1] = f"{line}{between}{rest.strip()}"
        self.lines[later - 1] = ""

    def after(self, number: int) -> int:
        """The number of the next line that is not joined to one before it."""
        gone = {later for _, later, _ in self._joined.get(number, ())}
        number += 1
        while number in gone:
            number += 1
        return number

    def part(self, first: int, last: int) -> ReportText:
        """The same text with only some of its lines; the others are empty."""
        part = ReportText.__new__(ReportText)
        part.name, part._used, part._ended = self.name, set(), True
        part.cut, part._joined = self.cut, self._joined
        part.lines = [line if first <= number <= last else "" for number, line in enumerate(self.lines, 1)]
        return part

    def cells(self, number: int, start: int = 0) -> list[Cell]:
        """The words of a line, from the character `start` on."""
        return [self.cell(number, *match.span()) for match in _WORD.finditer(self.line(number), start)]

    def group(self, number: int, match: re.Match[str], name: str | int) -> Cell:
        """A group of a match in a line."""
        return self.cell(number, *match.span(name))._replace(text=match.group(name))

    def refused(self, number: int, allowed: str, found: str | None = None) -> InputError:
        """The error about a whole line; one past the end is the end of the file."""
        if number > len(self.lines):
            return Cell("", self.name, len(self.lines), 1).refused(allowed, found or "the end of the file")
        text = self.line(number)
        indent = len(text) - len(text.lstrip())
        return self.cell(number, indent, len(text.rstrip())).refused(allowed, found)

    def use(self, *numbers: int) -> None:
        """These lines belong to the report."""
        self._used.update(numbers)

    def skipped(self) -> tuple[str, ...]:
        """Warnings about the lines that nobody used, and about a last line without an end."""
        warnings = [] if self._ended else ["the last line has no end: its last number may be cut off"]
        left = [number for number, line in enumerate(self.lines, 1) if line.strip() and number not in self._used]
        if not left:
            return tuple(warnings)
        word = "line" if len(left) == 1 else "lines"
        first = shown(self.line(left[0]).strip())
        return (*warnings, f"{word} {_ranges(left)}: skipped, no part of the report ({first})")


def _nothing(name: str) -> InputError:
    return InputError(name, "found nothing: it is empty", "expected: the output of a program")


def too_long(name: str) -> InputError:
    """The error about a file that is too long to be a report."""
    return InputError(
        name, "found a file that is too long to be a report", f"expected: at most {MOST_BYTES >> 20} MiB of text"
    )


def shown(text: str) -> str:
    """A text for a message, cut."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


def _overwritten(line: str) -> str:
    line = line.rstrip("\r")
    last = line.rfind("\r")
    return " " * (last + 1) + line[last + 1 :]


def _ranges(numbers: list[int]) -> str:
    """Numbers as spans ("1-3, 7"); only the first few."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in spans[:4]]
    return ", ".join([*texts, "..."] if len(spans) > 4 else texts)
