"""SPC and UMass: ``ASU,LBA,size,r|w,seconds`` and optional fields; LBA in blocks of 512 bytes, size in bytes."""

from __future__ import annotations

from . import fields
from .bulk import DIRECTIONS, Lines
from .columns import RawColumns
from .fields import SECOND_NS, SECTOR, RawRecord
from .format import BulkReader, Format, each_line, lines_fit
from .source import Source


def _record(source: Source, line: bytes) -> RawRecord:
    unit, block, size, op, time, *_ = fields.split(source, line, b",", "ASU LBA size opcode timestamp more", 1)
    name = fields.device(source, unit, "ASU")
    place = fields.whole(source, block, "LBA", fields.LAST_BYTE // SECTOR) * SECTOR
    length = fields.whole(source, size, "size", fields.LARGEST, 1)
    moment = fields.time_ns(source, time, "timestamp", SECOND_NS)
    return moment, fields.direction(source, op, "opcode"), *fields.extent(source, place, length), name


def _columns(source: Source, lines: Lines) -> RawColumns:
    return lines.columns(
        lines.decimal_ns(4, SECOND_NS),
        1,
        lines.words(3, DIRECTIONS),
        lines.whole(1, fields.LAST_BYTE // SECTOR - 1) * SECTOR,
        lines.whole(2),
        lines.device(0, lambda name: fields.device(source, name, "ASU")),
    )


SPC = Format(
    "spc",
    "SPC / UMass",
    lines_fit(r"\d+,\s*\d+,\s*\d+,\s*[RrWw],\s*\d+(\.\d*)?(,.*)?"),
    each_line(_record, BulkReader(_columns, 5, more=True)),
)
