"""Lines of the form "key : value", and the units of sizes and rates that the tools print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from ...text.positioned_json import Value
from ...text.report_text import Cell, ReportText

LARGEST = 1 << 60
"""Bytes; nothing that is inspected is larger."""
_SEPARATOR = re.compile(r"[:=]")
_SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[KMGTPE]?)(?:i?[bB])?", re.ASCII)
_POWER = {unit: 1024**power for power, unit in enumerate(("", "K", "M", "G", "T", "P", "E"))}
_SECTORS = re.compile(r"\[(0x[0-9a-fA-F]{1,15}) Sectors\]")
_SPEED = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*G[Bb](?:/s|ps)", re.ASCII)
SECTOR = 512
_CODED = 10
"""8b/10b: ten bits on the wire for a byte, on Serial ATA and SAS."""


class Line(NamedTuple):
    """A line "key : value"."""

    key: Cell
    value: Cell


def pairs(text: ReportText, numbers: Iterable[int]) -> Iterator[Line]:
    """The lines with a colon or an equals sign, in order."""
    for number in numbers:
        line = text.line(number)
        match = _SEPARATOR.search(line)
        if match is not None:
            yield Line(_stripped(text, number, 0, match.start()), _stripped(text, number, match.end(), len(line)))


def _stripped(text: ReportText, number: int, start: int, end: int) -> Cell:
    """A piece of a line without the white space around it."""
    piece = text.line(number)[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return text.cell(number, begin, begin + len(piece.strip()))


def key_lines(text: ReportText, numbers: Iterable[int]) -> dict[str, Line]:
    """The same by their keys; the first of several with one key."""
    found: dict[str, Line] = {}
    for line in pairs(text, numbers):
        found.setdefault(line.key.text, line)
    return found


def size_of(cell: Cell) -> int:
    """Bytes of "64 KB", "512K", "1.0 MB", "3.6T" or "4000787030016"; every unit is one of 1024."""
    match = _SIZE.fullmatch(cell.text.strip())
    if match is None:
        raise cell.refused("a size such as 64K, 64 KB or 1.819 TB")
    size = int(Decimal(match["number"]) * _POWER[match["unit"]])
    if size > LARGEST:
        raise cell.refused("a size that a disk can have")
    return size


def has_unit(cell: Cell) -> bool:
    """Whether a size is rounded to a unit."""
    return not cell.text.strip().isdecimal()


def sectors_of(cell: Cell) -> int | None:
    """Bytes of "1.819 TB [0xe8e088b0 Sectors]"; None if the sectors are not there."""
    match = _SECTORS.search(cell.text)
    if match is None:
        return None
    size = int(match[1], 16) * SECTOR
    if size > LARGEST:
        raise cell.refused("a size that a disk can have")
    return size


def first_word(cell: Cell) -> Cell:
    """The first word of what a cell says."""
    words = cell.text.split(maxsplit=1)
    return cell._replace(text=words[0] if words else "")


def bounded(cell: Cell, most: int, times: int = 1, least: int = 0) -> int:
    """The whole number that a cell is, multiplied; refused if the result is out of bounds."""
    number = cell.whole() * times
    if not least <= number <= most:
        raise cell.refused(f"a whole number of {least // times} to {most // times}")
    return number


def rate_of(cell: Cell) -> float | None:
    """Bytes a second of a link's "6.0Gb/s" or "6.0 Gb/s"; None if it says something else ("Unknown")."""
    match = _SPEED.search(cell.text)
    speed = float(match[1]) if match is not None and len(match[1]) < 8 else 0.0
    return speed * 1e9 / _CODED if speed else None


def link_rates(cell: Cell) -> tuple[float, float] | None:
    """What a link runs at and what the drive is made for, bytes a second: "SATA 3.1, 6.0 Gb/s (current: 3.0 Gb/s)".

    Both are the same if only one is there; None if none is.
    """
    made = rate_of(cell)
    now = cell.text.partition("current:")[2]
    current = rate_of(cell._replace(text=now))
    if cell.text.endswith(",") or (now and current is None and "nknown" not in now):
        raise cell.refused("the rate of a link, such as 'SATA 3.1, 6.0 Gb/s (current: 3.0 Gb/s)'")
    return (current or made, made) if made is not None else None


def slower_link(name: str, now: float, made: float, where: str) -> str | None:
    """What a reader should know of a link that is slower than its drive; None if it is not."""
    if now >= 0.99 * made:
        return None
    gbps, able = (f"{rate * _CODED / 1e9:g} Gb/s" for rate in (now, made))
    said = f"{where}: the link of {name} runs at {gbps}, and the drive is made for {able}"
    return f"{said}; the scenario has the slower link"


def said(value: Value | None, key: str) -> Cell | None:
    """What a member of a JSON object says: its text or number; None if it is not there, null or empty."""
    member = None if value is None else value.members.get(key)
    if member is None or member.kind not in ("text", "plain"):
        return None
    cell = member.cell._replace(text=member.cell.text.strip())
    return None if cell.text in ("", "null") else cell


def inner(value: Value | None, *keys: str) -> Value | None:
    """The member of a member of a JSON object; None where one is missing."""
    for key in keys:
        value = None if value is None else value.members.get(key)
    return value
