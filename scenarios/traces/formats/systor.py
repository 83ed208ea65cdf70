"""Systor '17 (SNIA IOTTA 4964): ``unix s,response s,R|W|blank,LUN,offset,size``; bytes.

A line with a blank type is no read and no write; it is left out and counted.
"""

from __future__ import annotations

from . import fields
from .bulk import DIRECTIONS, Lines
from .columns import RawColumns
from .fields import SECOND_NS, RawRecord
from .format import BulkReader, Format, each_line, lines_fit
from .source import Source

_HEADER = "Timestamp,Response,.*"
_NAMES = "timestamp response type LUN offset size"


def _record(source: Source, line: bytes) -> RawRecord | None:
    if line.startswith(b"Timestamp,"):
        return None
    time, _, kind, unit, offset, size = fields.split(source, line, b",", _NAMES)
    if not kind.strip():
        source.skipped["no read and no write"] += 1
        return None
    moment = fields.time_ns(source, time, "timestamp", SECOND_NS)
    place = fields.whole(source, offset, "offset", fields.LAST_BYTE)
    length = fields.whole(source, size, "size", fields.LARGEST, 1)
    op = fields.direction(source, kind, "type")
    return moment, op, *fields.extent(source, place, length), fields.device(source, unit, "LUN")


def _columns(source: Source, lines: Lines) -> RawColumns:
    return lines.columns(
        lines.decimal_ns(0, SECOND_NS),
        1,
        lines.words(2, DIRECTIONS),
        lines.whole(4),
        lines.whole(5),
        lines.device(3, lambda name: fields.device(source, name, "LUN")),
    )


SYSTOR = Format(
    "systor",
    "Systor '17 CSV",
    lines_fit(r"\d+\.\d+,[\d.]*,[RW ]?,\d+,\d*,\d*", _HEADER),
    each_line(_record, BulkReader(_columns, 6, header=b"Timestamp,")),
)
