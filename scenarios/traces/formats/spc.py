"""SPC and UMass: ``ASU,LBA,size,r|w,seconds`` and optional fields; LBA in blocks of 512 bytes, size in bytes."""

from __future__ import annotations

from . import fields
from .fields import SECOND_NS, SECTOR, RawRecord
from .format import Format, each_line, lines_fit
from .source import Source


def _record(source: Source, line: bytes) -> RawRecord:
    unit, block, size, op, time, *_ = fields.split(source, line, b",", "ASU LBA size opcode timestamp more", 1)
    name = fields.device(source, unit, "ASU")
    place = fields.whole(source, block, "LBA", fields.LAST_BYTE // SECTOR) * SECTOR
    length = fields.whole(source, size, "size", fields.LARGEST, 1)
    moment = fields.time_ns(source, time, "timestamp", SECOND_NS)
    return moment, fields.direction(source, op, "opcode"), *fields.extent(source, place, length), name


SPC = Format("spc", "SPC / UMass", lines_fit(r"\d+,\s*\d+,\s*\d+,\s*[RrWw],\s*\d+(\.\d*)?(,.*)?"), each_line(_record))
