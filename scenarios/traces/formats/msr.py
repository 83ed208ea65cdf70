"""MSR Cambridge (SNIA IOTTA 388): ``FILETIME,host,disk,Read|Write,offset,size,response``.

FILETIME counts 100 ns from 1601 on; offset and size are bytes; the response time is in 100 ns.
"""

from __future__ import annotations

from . import fields
from .bulk import DIRECTIONS, Lines
from .columns import RawColumns
from .fields import RawRecord
from .format import BulkReader, Format, each_line, lines_fit
from .source import Source

_TICK_NS = 100
_HEADER = "Timestamp,Hostname,.*"
_NAMES = "timestamp host disk type offset size response"


def _record(source: Source, line: bytes) -> RawRecord | None:
    if line.startswith(b"Timestamp,"):
        return None
    time, host, disk, kind, offset, size, _ = fields.split(source, line, b",", _NAMES)
    if (
        time.isdigit()
        and offset.isdigit()
        and size.isdigit()
        and len(time) < 19
        and len(offset) < 19
        and len(size) < 10
    ):
        # As they mostly are: whole numbers that cannot be too large.
        ticks, place, length = int(time), int(offset), int(size)
    else:
        ticks = fields.whole(source, time, "timestamp", fields.LAST_NS)
        place = fields.whole(source, offset, "offset", fields.LAST_BYTE)
        length = 0
    length = length or fields.whole(source, size, "size", fields.LARGEST, 1)
    name = fields.device(source, host + b"." + disk, "host")
    op = fields.direction(source, kind, "type")
    return _TICK_NS * ticks, op, *fields.extent(source, place, length), name


def _columns(source: Source, lines: Lines) -> RawColumns:
    return lines.columns(
        lines.whole(0),
        _TICK_NS,
        lines.words(3, DIRECTIONS),
        lines.whole(4),
        lines.whole(5),
        lines.device(2, lambda name: fields.device(source, name, "host"), ahead=1),
    )


MSR = Format(
    "msr",
    "MSR Cambridge CSV",
    lines_fit(r"\d+,[^,]+,\d+,(?i:read|write),\d+,\d+,\d+", _HEADER),
    each_line(_record, BulkReader(_columns, 7, header=b"Timestamp,")),
)
