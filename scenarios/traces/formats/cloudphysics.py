"""CloudPhysics virtual disks: libCacheSim's CSV, and the binary of vscsiStats.

The CSV is ``version,time,op,size,lbn``: whole seconds, SCSI operation in hexadecimal, bytes, sectors of 512 bytes. The
binary (version 1) has 32 bytes a record, little-endian: serial number u32, length u32 (bytes), number of scatter-gather
elements u32, operation u16, version u16, sector u64, microseconds u64. Version 2 has 40 bytes: operation and version
come first, and a response time u64 last. Other SCSI commands than reads and writes are left out and counted.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from ....model.core.errors import InputError
from ....model.core.request import READ, WRITE
from . import fields
from .bulk import Lines
from .columns import RawColumns
from .fields import SECOND_NS, SECTOR, RawRecord
from .format import BulkReader, Format, each_line, each_record, lines_fit
from .source import Source

# READ and WRITE of 6, 10, 12 and 16 bytes.
_OPS = {0x08: READ, 0x28: READ, 0xA8: READ, 0x88: READ, 0x0A: WRITE, 0x2A: WRITE, 0xAA: WRITE, 0x8A: WRITE}
_USUAL = {f"{code:{case}}".encode(): op for code, op in _OPS.items() for case in ("x", "X", "02x", "02X")}
_HEX = re.compile(rb"(?:0[xX])?[0-9a-fA-F]{1,2}")
_HEADER = "version,time,op,size,lbn"
_DISK = "disk"
_RECORD = struct.Struct("<IIIHHQQ")
_RECORD_2 = struct.Struct("<HHIIIQQQ")
_VERSION, _VERSION_2 = 0x0100, 0x0200
_MICROSECOND_NS = 1000


def _csv_record(source: Source, line: bytes) -> RawRecord | None:
    if line.startswith(b"version,"):
        return None
    _, time, command, size, block = fields.split(source, line, b",", "version time op size lbn")
    if not _HEX.fullmatch(command):
        raise fields.refused(source, "op", fields.shown(command), "a SCSI operation, two hexadecimal digits")
    op = _OPS.get(int(command, 16))
    if op is None:
        source.skipped["other SCSI commands"] += 1
        return None
    moment = fields.time_ns(source, time, "time", SECOND_NS)
    place = fields.whole(source, block, "lbn", fields.LAST_BYTE // SECTOR) * SECTOR
    length = fields.whole(source, size, "size", fields.LARGEST, 1)
    return moment, op, *fields.extent(source, place, length), _DISK


def _csv_columns(source: Source, lines: Lines) -> RawColumns:
    return lines.columns(
        lines.decimal_ns(1, SECOND_NS),
        1,
        lines.words(2, _USUAL),
        lines.whole(4, fields.LAST_BYTE // SECTOR - 1) * SECTOR,
        lines.whole(3),
        lines.number(_DISK),
    )


def _read_binary(source: Source) -> Iterator[RawRecord]:
    return _each_record(source, _RECORD)


def _read_binary_2(source: Source) -> Iterator[RawRecord]:
    return _each_record(source, _RECORD_2)


def _each_record(source: Source, layout: struct.Struct) -> Iterator[RawRecord]:
    while record := source.take(layout.size, "a record"):
        try:
            found = _binary_record(source, _values(layout.unpack(record)), layout)
        except InputError as error:
            source.malformed(error)
            found = None
        if found is not None:
            yield found
        source.advance(layout.size)


class _Values(NamedTuple):
    """A record of either version."""

    size: int
    command: int
    version: int
    block: int
    time: int


def _values(record: tuple[int, ...]) -> _Values:
    """Of version 1 without, of version 2 with a response time at the end."""
    if len(record) == 7:
        return _Values(record[1], record[3], record[4], record[5], record[6])
    return _Values(record[3], record[0], record[1], record[5], record[6])


def _binary_record(source: Source, record: _Values, layout: struct.Struct) -> RawRecord | None:
    expected = _VERSION if layout is _RECORD else _VERSION_2
    if record.version != expected:
        raise InputError(f"{source.place}: field ver", f"found 0x{record.version:04x}", f"expected: 0x{expected:04x}")
    op = _OPS.get(record.command)
    if op is None:
        source.skipped["other SCSI commands"] += 1
        return None
    if record.block > fields.LAST_BYTE // SECTOR:
        raise fields.refused(source, "lbn", str(record.block), f"0 to {fields.LAST_BYTE // SECTOR}")
    if record.time > fields.LAST_NS // _MICROSECOND_NS:
        raise fields.refused(source, "ts", str(record.time), f"0 to {fields.LAST_NS // _MICROSECOND_NS} us")
    return record.time * _MICROSECOND_NS, op, *fields.extent(source, record.block * SECTOR, record.size), _DISK


def _binary_fits(layout: struct.Struct, version: int, head: bytes) -> bool:
    last = min(len(head) - layout.size + 1, 20 * layout.size)
    records = [_values(layout.unpack_from(head, at)) for at in range(0, last, layout.size)]
    return bool(records) and all(record.version == version and record.command < 0x100 for record in records)


CLOUDPHYSICS_CSV = Format(
    "cloudphysics-csv",
    "CloudPhysics CSV (libCacheSim)",
    lines_fit(r"\d+,\d+(\.\d+)?,[0-9a-fA-F]{1,2},\d+,\d+", _HEADER),
    each_line(_csv_record, BulkReader(_csv_columns, 5, header=b"version,")),
    1.0,
)
CLOUDPHYSICS_BINARY = Format(
    "cloudphysics",
    "CloudPhysics binary (vscsi v1)",
    partial(_binary_fits, _RECORD, _VERSION),
    each_record(_read_binary),
)
CLOUDPHYSICS_BINARY_2 = Format(
    "cloudphysics-2",
    "CloudPhysics binary (vscsi v2)",
    partial(_binary_fits, _RECORD_2, _VERSION_2),
    each_record(_read_binary_2),
)
