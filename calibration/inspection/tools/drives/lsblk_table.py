"""lsblk's table and its pairs (-P) as the objects that lsblk -J prints (util-linux, libsmartcols).

What a device stands on is told by the branches before its name ("├─sda1", "|-sda1"), or by the column PKNAME. Lists
without branches (-l, -r, -P without PKNAME) tell it for partitions only, by their names.
"""

from __future__ import annotations

import re

from ....text.positioned_json import Value
from ....text.report_text import Cell, ReportText, shown
from ..columns import Span, headings, listing, record, row
from ..outputs import Output

_BRANCH = re.compile(r"[\s|`+├└│─-]*")
_PAIR = re.compile(r'(?P<key>[A-Z][\w:%-]*)="(?P<value>[^"]*)"')
_HEADINGS = re.compile(r"[A-Z][A-Z:%-]+(?: +[A-Z][A-Z:%-]+)*")
_TRUTH = re.compile(r"[01]")
_ALWAYS = {
    "type": re.compile(r"[a-z][a-z0-9_-]*"),
    "size": re.compile(r"\d+(?:[.,]\d+)?[BKMGTPE]?"),
    "maj:min": re.compile(r"\d+:\d+"),
    "ro": _TRUTH,
    "rota": _TRUTH,
    "rm": _TRUTH,
}
"""What is in every row of some columns."""


def tree(output: Output) -> Value:
    """The list "blockdevices" of the same devices, each with those that stand on it as its children."""
    first = output.text.line(output.first)
    rows = _pairs(output) if '="' in first else _table(output)
    top: list[Value] = []
    by_name: dict[str, Value] = {}
    open_branches: list[tuple[int, Value]] = []
    for depth, item in rows:
        while open_branches and open_branches[-1][0] >= depth:
            open_branches.pop()
        parent = item.members.get("pkname")
        above = by_name.get(parent.cell.text) if parent is not None else None
        if above is None and open_branches:
            above = open_branches[-1][1]
        (above.members["children"].items if above is not None else top).append(item)
        named = item.members.get("kname") or item.members["name"]
        by_name.setdefault(named.cell.text, item)
        open_branches.append((depth, item))
    return listing(top, output.text.cell(output.first, 0, len(first)))


def _table(output: Output) -> list[tuple[int, Value]]:
    """The rows of a table with the lengths of their branches."""
    text = output.text
    heads = [(name.lower(), start, end) for name, start, end in headings(text.line(output.first))]
    found = []
    for number in range(output.first + 1, output.last + 1):
        line = text.line(number)
        if not line.strip():
            continue
        if number == output.first + 1 and _HEADINGS.fullmatch(line.strip()):
            raise text.refused(number, "the headings in one line; or what lsblk -J prints", "a second line of headings")
        branch = _BRANCH.match(line)
        length = branch.end() if branch is not None else 0
        # Branches are no cell; the name behind them begins its column.
        text.lines[number - 1] = " " * length + line[length:]
        cells = row(text, number, heads)
        if "name" not in cells and "kname" not in cells:
            raise text.refused(number, "a device's name in the first column")
        if _more_mounts(line, heads):
            continue
        _check(text, number, heads, cells)
        found.append((length, _device(cells)))
    return found


def _more_mounts(line: str, heads: list[Span]) -> bool:
    """Whether a line only names further mount points of the device above it."""
    column = next((start for name, start, _ in heads if name.startswith("mountpoint")), 0)
    return bool(column) and not line[: column - 1].strip()


def _check(text: ReportText, number: int, heads: list[Span], cells: dict[str, Cell]) -> None:
    """Refuse a row without what lsblk prints of every device: it is the rest of one that was broken, or prose."""
    for name, _, _ in heads:
        form = _ALWAYS.get(name)
        if form is not None and (name not in cells or not form.fullmatch(cells[name].text)):
            found = (
                shown(cells[name].text) if name in cells else f"no {name.upper()} in {shown(text.line(number).strip())}"
            )
            raise text.refused(number, "rows in one line each, each below the headings; or what lsblk -J prints", found)


def _pairs(output: Output) -> list[tuple[int, Value]]:
    """The lines of -P."""
    text = output.text
    found = []
    for number in output.lines:
        cells = {
            match["key"].lower(): text.group(number, match, "value") for match in _PAIR.finditer(text.line(number))
        }
        if not cells:
            continue
        if "name" not in cells and "kname" not in cells:
            raise text.refused(number, 'NAME="..." or KNAME="..." in each line')
        found.append((0, _device(cells)))
    return found


def _device(cells: dict[str, Cell]) -> Value:
    """A device of which nothing stands yet."""
    item = record(cells)
    item.members.setdefault("name", item.members.get("kname", item))
    item.members["children"] = listing([], item.cell)
    return item
