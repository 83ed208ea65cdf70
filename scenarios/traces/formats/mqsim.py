"""MQSim: ``ns device LBA sectors 0|1``, 0 for a write and 1 for a read; sectors of 512 bytes."""

from __future__ import annotations

from ....model.core.request import READ, WRITE
from . import fields
from .bulk import Lines
from .columns import RawColumns
from .fields import SECTOR, RawRecord
from .format import BulkReader, Format, each_line, lines_fit
from .source import Source

_OPS = {b"0": WRITE, b"1": READ}


def _record(source: Source, line: bytes) -> RawRecord:
    time, device, block, blocks, kind = fields.split(source, line, None, "time device LBA sectors type")
    moment = fields.whole(source, time, "time", fields.LAST_NS)
    place = fields.whole(source, block, "LBA", fields.LAST_BYTE // SECTOR) * SECTOR
    length = fields.whole(source, blocks, "sectors", fields.LARGEST // SECTOR, 1) * SECTOR
    if kind not in _OPS:
        raise fields.refused(source, "type", fields.shown(kind), "0 (write) or 1 (read)")
    return moment, _OPS[kind], *fields.extent(source, place, length), fields.device(source, device, "device")


def _columns(source: Source, lines: Lines) -> RawColumns:
    return lines.columns(
        lines.whole(0, fields.LAST_NS),
        1,
        lines.words(4, _OPS),
        lines.whole(2, fields.LAST_BYTE // SECTOR - 1) * SECTOR,
        lines.whole(3, fields.LARGEST // SECTOR, 1) * SECTOR,
        lines.device(1, lambda name: fields.device(source, name, "device")),
    )


MQSIM = Format(
    "mqsim", "MQSim", lines_fit(r"\d+\s+\d+\s+\d+\s+\d+\s+[01]"), each_line(_record, BulkReader(_columns, 5, None))
)
