"""DiskSim ASCII: ``ms device block blocks flags`` (hexadecimal, bit 0 set for a read); blocks of 512 bytes."""

from __future__ import annotations

import re

from ....model.core.request import READ, WRITE
from . import fields
from .bulk import Lines
from .columns import RawColumns
from .fields import SECTOR, RawRecord
from .format import BulkReader, Format, each_line, first_lines, lines_fit
from .source import Source

_MILLISECOND_NS = 10**6
_FLAGS = re.compile(rb"(?:0[xX])?[0-9a-fA-F]{1,8}")
_USUAL = {b"0": WRITE, b"1": READ}
_NAMES = "time device block blocks flags"
_line_fits = lines_fit(r"\d+(\.\d+)?\s+\d+\s+\d+\s+\d+\s+(0[xX])?[0-9a-fA-F]{1,8}")


def _fits(head: bytes) -> bool:
    # With whole milliseconds only it would be MQSim's.
    return _line_fits(head) and any(b"." in line for line in first_lines(head))


def _record(source: Source, line: bytes) -> RawRecord:
    time, device, block, blocks, flags = fields.split(source, line, None, _NAMES)
    moment = fields.time_ns(source, time, "time", _MILLISECOND_NS)
    place = fields.whole(source, block, "block", fields.LAST_BYTE // SECTOR) * SECTOR
    length = fields.whole(source, blocks, "blocks", fields.LARGEST // SECTOR, 1) * SECTOR
    if not _FLAGS.fullmatch(flags):
        raise fields.refused(source, "flags", fields.shown(flags), "a hexadecimal number of up to 8 digits")
    op = READ if int(flags, 16) & 1 else WRITE
    return moment, op, *fields.extent(source, place, length), fields.device(source, device, "device")


def _columns(source: Source, lines: Lines) -> RawColumns:
    return lines.columns(
        lines.decimal_ns(0, _MILLISECOND_NS),
        1,
        lines.words(4, _USUAL),
        lines.whole(2, fields.LAST_BYTE // SECTOR - 1) * SECTOR,
        lines.whole(3, fields.LARGEST // SECTOR, 1) * SECTOR,
        lines.device(1, lambda name: fields.device(source, name, "device")),
    )


DISKSIM = Format("disksim", "DiskSim ASCII", _fits, each_line(_record, BulkReader(_columns, 5, None)))
