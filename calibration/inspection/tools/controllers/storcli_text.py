"""StorCLI's and PercCLI's text as the object that they print with J: the same headings, tables and "key = value"."""

from __future__ import annotations

import re

from ....text.positioned_json import Value
from ....text.report_text import Cell, ReportText
from ..columns import Span, headings, listing, mapping, record, row
from ..outputs import Output

UNNAMED = ""
"""The key of a table without a heading, as that of "show rebuild"."""
_HEADING = re.compile(r"(?P<name>\S.*?)\s*:?\s*$")
_UNDERLINE = re.compile(r"={3,}\s*$")
_RULE = re.compile(r"-{5,}\s*$")
_PAIR = re.compile(r"(?P<key>\S[^=]*?)\s+=(?:\s+(?P<value>\S.*?))?\s*$")
_OF_DRIVE = re.compile(r"(?P<drive>Drive /c\d+(?:/e\d+)?/s\d+) \S")
_DETAILS = " - Detailed Information"
_FIRST_HEADINGS = ("DG ", "DG/VD", "EID:Slt", "Drive-ID", "Ctl ", "Model ")
"""How the headings of tables begin."""
_MAY_BE_EMPTY = 2
"""Cells of a row."""
_STATUS = ("Controller", "Status", "Description")
_MOST_ROWS = 4096


def document(output: Output) -> Value:
    """The object with the list "Controllers"."""
    text = output.text
    start = text.cell(output.first, 0, len(text.line(output.first)))
    reader = _Reader(text, start)
    number = output.first
    while number <= output.last:
        number = reader.read(number, output.last)
    return mapping({"Controllers": listing(reader.controllers, start)}, start)


class _Reader:
    """The controllers so far, and the part of the last one that lines belong to."""

    def __init__(self, text: ReportText, start: Cell) -> None:
        self.text = text
        self.controllers: list[Value] = []
        self.status = self.data = mapping({}, start)
        self.part: tuple[str, Cell] | None = None

    def read(self, number: int, last: int) -> int:
        """Read a line, or a whole table; returns the number of the next one."""
        text, line = self.text, self.text.line(number)
        heading = _HEADING.match(line)
        if heading is not None and _UNDERLINE.match(text.line(number + 1)):
            cell = text.group(number, heading, "name")
            self.part = (cell.text, cell)
            return number + 2
        if _RULE.match(line) and number + 2 <= last and _RULE.match(text.line(number + 2)):
            return self._table(number + 1, last)
        if _RULE.match(line) and number + 3 <= last and text.line(number + 1).startswith(_FIRST_HEADINGS):
            raise text.refused(
                number + 1, "a table in lines that are not broken, or the output with J", "a broken line"
            )
        pair = _PAIR.match(line)
        if pair is not None:
            key = pair["key"]
            value = text.group(number, pair, "value") if pair["value"] else text.cell(number, len(line), len(line))
            if key == "Controller" and text.line(number + 1).startswith("Status = "):
                self._begin(value)
            self._pair(key, Value("text", value, {}, []))
        return number + 1

    def _begin(self, cell: Cell) -> None:
        """Begin what a command says of a controller."""
        self.status, self.data, self.part = mapping({}, cell), mapping({}, cell), None
        self.controllers.append(mapping({"Command Status": self.status, "Response Data": self.data}, cell))

    def _pair(self, key: str, value: Value) -> None:
        if key in _STATUS and self.part is None:
            self.status.members.setdefault(key, value)
        elif self.part is None:
            self.data.members.setdefault(key, value)
        else:
            self._section("object").members.setdefault(key, value)

    def _section(self, kind: str) -> Value:
        """The part that lines belong to now; parts of a drive's details stand in these."""
        name, cell = self.part if self.part is not None else (UNNAMED, self.data.cell)
        holder = self.data
        drive = _OF_DRIVE.match(name)
        if drive is not None and f"{drive['drive']}{_DETAILS}" != name:
            details = self.data.members.get(f"{drive['drive']}{_DETAILS}")
            holder = details if details is not None else self.data
        found = holder.members.get(name)
        if found is None or found.kind != kind:
            found = holder.members[name] = Value(kind, cell, {}, [])
        return found

    def _table(self, number: int, last: int) -> int:
        """The rows between two rules, from the line of the headings on."""
        text = self.text
        heads: list[Span] = headings(text.line(number))
        items = self._section("list").items
        number += 2
        while number <= last and not _RULE.match(text.line(number)):
            if len(items) >= _MOST_ROWS:
                raise text.refused(number, f"at most {_MOST_ROWS} rows in a table", "one more row")
            if text.line(number).strip():
                if len(text.line(number).split()) < len(heads) - _MAY_BE_EMPTY:
                    raise text.refused(number, "rows of a table in one line each, or the output with J")
                items.append(record(row(text, number, heads)))
            number += 1
        self.part = None
        return number + 1
