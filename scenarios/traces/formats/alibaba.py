"""Alibaba block traces (2020): ``device,R|W,offset,length,us``; bytes and microseconds."""

from __future__ import annotations

from . import fields
from .bulk import DIRECTIONS, Lines
from .columns import RawColumns
from .fields import RawRecord
from .format import BulkReader, Format, each_line, lines_fit
from .source import Source

_MICROSECOND_NS = 1000
_HEADER = "device_id,.*"


def _record(source: Source, line: bytes) -> RawRecord | None:
    if line.startswith(b"device_id,"):
        return None
    device, kind, offset, size, time = fields.split(source, line, b",", "device_id opcode offset length timestamp")
    moment = fields.whole(source, time, "timestamp", fields.LAST_NS // _MICROSECOND_NS) * _MICROSECOND_NS
    place = fields.whole(source, offset, "offset", fields.LAST_BYTE)
    length = fields.whole(source, size, "length", fields.LARGEST, 1)
    op = fields.direction(source, kind, "opcode")
    return moment, op, *fields.extent(source, place, length), fields.device(source, device, "device_id")


def _columns(source: Source, lines: Lines) -> RawColumns:
    return lines.columns(
        lines.whole(4, fields.LAST_NS // _MICROSECOND_NS),
        _MICROSECOND_NS,
        lines.words(1, DIRECTIONS),
        lines.whole(2),
        lines.whole(3),
        lines.device(0, lambda name: fields.device(source, name, "device_id")),
    )


ALIBABA = Format(
    "alibaba",
    "Alibaba CSV",
    lines_fit(r"\d+,[RW],\d+,\d+,\d+", _HEADER),
    each_line(_record, BulkReader(_columns, 5, header=b"device_id,")),
)
