"""JSON whose every value knows where it stands.

Stricter than the standard library's reader where a report would be misread ("NaN", a key with two values), and more
patient in one point: a key may stand twice with the same value, as in fio 2's lists of percentiles.
"""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple

from .report_text import Cell, ReportText

_TOKEN = re.compile(r'[ \t\r\n]*(?:([{}\[\],:])|("(?:[^"\\\n]|\\[^\n])*")|([^\s{}\[\],:"]+))')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = ("true", "false", "null")
_DEEPEST = 32


_OBJECT = re.compile(r'\{\s*(?:"[^"\n]*"\s*:|\}|$)')
_BEGINNING = 200


def begins_object(text: ReportText, number: int) -> bool:
    """Whether an object begins a line: a brace, and a key behind it or in the next line; prose in braces is none."""
    line = text.line(number)
    return line.startswith("{") and _OBJECT.match(beginning(text, number)) is not None


def beginning(text: ReportText, number: int) -> str:
    """The first characters of a line and of the next one that is not empty."""
    after = next((line for line in map(text.line, range(number + 1, number + 4)) if line.strip()), "")
    return f"{text.line(number)[:_BEGINNING]}{after[:_BEGINNING]}"


class Value(NamedTuple):
    """A value of any kind.

    Attributes
    ----------
    kind
        "object", "list", "text" or "plain" (a number, true, false, null).
    cell
        Where it begins; for texts and plain values what it says.
    members, items
        Of an object and of a list.
    """

    kind: str
    cell: Cell
    members: dict[str, Value]
    items: list[Value]

    @property
    def line(self) -> int:
        """Where it begins, from 1."""
        return self.cell.line

    def same(self, other: Value) -> bool:
        """Whether both are the same plain value or text."""
        return self.kind == other.kind and self.kind in ("text", "plain") and self.cell.text == other.cell.text


class JsonText:
    """A text that holds JSON, and a position in it."""

    def __init__(self, text: ReportText) -> None:
        self.name = text.name
        self.text = text
        self.whole = "\n".join(text.lines)
        self.starts = [0]
        for each in text.lines:
            self.starts.append(self.starts[-1] + len(each) + 1)
        self.at = 0

    def read_object(self, line: int) -> tuple[Value, int]:
        """The object that begins a line, and the line in which it ends."""
        self.at = self.starts[line - 1]
        kind, cell = self.token(self.cell("", self.at))
        if kind != "{":
            raise cell.refused("an object in braces")
        root = _object(self, cell, 1)
        return root, self.cell("", self.at - 1).line

    def cell(self, said: str, offset: int) -> Cell:
        """What stands at an offset, with its line and column."""
        line = bisect.bisect_right(self.starts, offset)
        return Cell(said, self.name, *self.text.place(line, offset - self.starts[line - 1]))

    def token(self, opened: Cell) -> tuple[str, Cell]:
        """The next one: what kind ("{", ",", "text", "plain") and what it says."""
        match = _TOKEN.match(self.whole, self.at)
        if match is None:
            end = self.whole.find('"', self.at)
            if end < 0:
                last = max(0, len(self.whole.rstrip()) - 1)
                raise self.cell("", last).refused(
                    f"its closing bracket: is the file complete? (opened in line {opened.line})", "the end of the file"
                )
            raise self.cell("", end).refused("a closing quotation mark in the same line", "a text without an end")
        self.at = match.end()
        group = match.lastindex or 1
        said, offset = match.group(group), match.start(group)
        if group == 1:
            return said, self.cell(said, offset)
        return ("text", self.cell(_unescaped(said[1:-1]), offset)) if group == 2 else ("plain", self.cell(said, offset))


def _unescaped(text: str) -> str:
    def said(match: re.Match[str]) -> str:
        if match.group(1):
            return chr(int(match.group(1), 16))
        return _ESCAPED.get(match.group(2), match.group(2))

    return _ESCAPE.sub(said, text).encode("utf-8", "replace").decode("utf-8") if "\\" in text else text


def _value(reader: JsonText, opened: Cell, depth: int) -> Value:
    kind, cell = reader.token(opened)
    if depth > _DEEPEST:
        raise cell.refused(f"at most {_DEEPEST} brackets inside each other")
    if kind == "{":
        return _object(reader, cell, depth + 1)
    if kind == "[":
        return _list(reader, cell, depth + 1)
    if kind in ("text", "plain"):
        if kind == "plain" and cell.text not in _WORDS and not _NUMBER.fullmatch(cell.text):
            raise cell.refused("a number, a text in quotation marks, true, false or null")
        return Value(kind, cell, {}, [])
    raise cell.refused("a value")


def _object(reader: JsonText, opened: Cell, depth: int) -> Value:
    members: dict[str, Value] = {}
    kind, key = reader.token(opened)
    while kind != "}":
        if kind != "text":
            raise key.refused("a key in quotation marks")
        colon, cell = reader.token(opened)
        if colon != ":":
            raise cell.refused("a colon")
        value = _value(reader, opened, depth)
        if key.text in members and not members[key.text].same(value):
            raise key.refused(f"another key: it stood in line {members[key.text].line} with another value")
        members[key.text] = value
        kind, cell = reader.token(opened)
        if kind == ",":
            kind, key = reader.token(opened)
            if kind == "}":
                raise key.refused("a key after the comma")
        elif kind != "}":
            raise cell.refused("a comma or the closing brace")
    return Value("object", opened, members, [])


def _list(reader: JsonText, opened: Cell, depth: int) -> Value:
    items: list[Value] = []
    before = reader.at
    kind, cell = reader.token(opened)
    if kind == "]":
        return Value("list", opened, {}, items)
    reader.at = before
    while True:
        items.append(_value(reader, opened, depth))
        kind, cell = reader.token(opened)
        if kind == "]":
            return Value("list", opened, {}, items)
        if kind != ",":
            raise cell.refused("a comma or the closing bracket")
