"""Tencent CBS (SNIA IOTTA 27917): ``unix s,offset,size,0|1,volume``; sectors of 512 bytes, 0 reads, 1 writes."""

from __future__ import annotations

from ....model.core.request import READ, WRITE
from . import fields
from .bulk import Lines
from .columns import RawColumns
from .fields import SECOND_NS, SECTOR, RawRecord
from .format import BulkReader, Format, each_line, lines_fit
from .source import Source

_OPS = {b"0": READ, b"1": WRITE}
_HEADER = "Timestamp,Offset,.*"


def _record(source: Source, line: bytes) -> RawRecord | None:
    if line.startswith(b"Timestamp,"):
        return None
    time, offset, size, kind, volume = fields.split(source, line, b",", "timestamp offset size type volume")
    moment = fields.time_ns(source, time, "timestamp", SECOND_NS)
    place = fields.whole(source, offset, "offset", fields.LAST_BYTE // SECTOR) * SECTOR
    length = fields.whole(source, size, "size", fields.LARGEST // SECTOR, 1) * SECTOR
    if kind not in _OPS:
        raise fields.refused(source, "type", fields.shown(kind), "0 (read) or 1 (write)")
    return moment, _OPS[kind], *fields.extent(source, place, length), fields.device(source, volume, "volume")


def _columns(source: Source, lines: Lines) -> RawColumns:
    return lines.columns(
        lines.decimal_ns(0, SECOND_NS),
        1,
        lines.words(3, _OPS),
        lines.whole(1, fields.LAST_BYTE // SECTOR - 1) * SECTOR,
        lines.whole(2, fields.LARGEST // SECTOR, 1) * SECTOR,
        lines.device(4, lambda name: fields.device(source, name, "volume")),
    )


TENCENT = Format(
    "tencent",
    "Tencent CBS CSV",
    lines_fit(r"\d+,\d+,\d+,[01],\d+", _HEADER),
    each_line(_record, BulkReader(_columns, 5, header=b"Timestamp,")),
    1.0,
)
