"""Binary formats of libCacheSim, a simulator of caches: oracleGeneral, and LCS with its header (traceReader, *.h).

oracleGeneral has 24 bytes a record, little-endian without gaps: time u32 (s), object u64, size u32 (bytes), number of
the object's next request i64. LCS begins with a header of 1,024 bytes, which has the fields of a record as characters
of Python's module struct and says which of them are object, size, time, operation and tenant.

An object of a block trace is a sector of 512 bytes; numbers beyond any disk are of a cache for objects, and are
refused. oracleGeneral has no operations, so all its records are reads.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from ....model.core.errors import InputError
from ....model.core.request import READ, WRITE
from . import fields
from .fields import SECOND_NS, SECTOR, RawRecord
from .format import Format, each_record
from .source import HEAD, Source

_DISK = "disk"
_RECORD = struct.Struct("<IQIq")
_NEVER = (-1, 2**63 - 1)
"""What stands for an object that is not requested again."""
_LOOKED_AT = 64
"""Records that tell the format."""

_MAGIC = 0x123456789ABCDEF0
_HEADER = struct.Struct("<Q240s9B231x")
_END = struct.Struct("<IIQQ")
_HEADER_BYTES = 1024
_ITEM = re.compile(rb"<?[cbBhHiIqQfd]{1,240}")
_OPS = {1: READ, 2: READ, 12: READ} | dict.fromkeys((3, 4, 5, 6, 7, 8, 13, 14), WRITE)
"""libCacheSim's operations: get, gets and read; set, add, cas, replace, append, prepend, write and update."""


def _io(source: Source, moment: int, op: int, sector: int, size: int, device: str) -> RawRecord:
    """A record whose object is a sector."""
    if not 0 <= sector <= fields.LAST_BYTE // SECTOR:
        allowed = "the number of a sector: a trace of a cache for objects has no places on a disk"
        raise fields.refused(source, "obj_id", str(sector), allowed)
    return moment, op, *fields.extent(source, sector * SECTOR, size), device


def _records(source: Source, size: int, found: Callable[[Source, bytes], RawRecord | None]) -> Iterator[RawRecord]:
    """Each record separately; a malformed one is left out or an error, as the source says."""
    while packed := source.take(size, "a record"):
        try:
            record = found(source, packed)
        except InputError as error:
            source.malformed(error)
            record = None
        if record is not None:
            yield record
        source.advance(size)


def _general(source: Source, packed: bytes) -> RawRecord | None:
    time, sector, size, _ = _RECORD.unpack(packed)
    if not size:
        source.skipped["requests without data"] += 1
        return None
    return _io(source, time * SECOND_NS, READ, sector, size, _DISK)


def _read_general(source: Source) -> Iterator[RawRecord]:
    return _records(source, _RECORD.size, _general)


def _general_fits(head: bytes) -> bool:
    """Whether times do not fall, sizes are those of I/Os, and each next request is a later one, or none."""
    count = min(len(head) // _RECORD.size, _LOOKED_AT)
    before = 0
    for number in range(count):
        time, _, size, later = _RECORD.unpack_from(head, number * _RECORD.size)
        if time < before or size > fields.LARGEST >> 4 or not (later in _NEVER or number < later < 1 << 48):
            return False
        before = time
    return count > 0 and (len(head) >= HEAD or not len(head) % _RECORD.size)


class _Layout(NamedTuple):
    """Of an LCS file: the record, and the numbers of its fields, from 1; 0 is none."""

    record: struct.Struct
    sector: int
    size: int
    time: int
    op: int
    tenant: int


def _layout(source: Source, header: bytes) -> _Layout:
    """What the header says."""
    _, named, sector, size, time, _, _, op, _, tenant, _ = _HEADER.unpack_from(header)
    number, length, _, end = _END.unpack_from(header, _HEADER_BYTES - _END.size)
    items = named.rstrip(b"\0")
    if end != _MAGIC:
        raise fields.refused(source, "end_magic", f"0x{end:x}", f"0x{_MAGIC:x}")
    if not _ITEM.fullmatch(items):
        raise fields.refused(source, "format", fields.shown(items), "characters of struct: c b B h H i I q Q f d")
    record = struct.Struct("<" + items.decode().lstrip("<"))
    if len(items.lstrip(b"<")) != number or record.size != length:
        found = f"{number} fields of {length} bytes"
        raise fields.refused(source, "n_fields", found, f"{len(items.lstrip(b'<'))} of {record.size}, by its format")
    for name, which in (("obj_id_field", sector), ("obj_size_field", size), ("time_field", time)):
        if not 1 <= which <= number:
            raise fields.refused(source, name, str(which), f"1 to {number}")
    if max(op, tenant) > number:
        raise fields.refused(source, "op_field", str(max(op, tenant)), f"0 to {number}")
    return _Layout(record, sector, size, time, op, tenant)


def _lcs(layout: _Layout, source: Source, packed: bytes) -> RawRecord | None:
    values = layout.record.unpack(packed)
    numbers = [values[which - 1] for which in (layout.time, layout.sector, layout.size)]
    wrong = next((each for each in numbers if not isinstance(each, int) or each < 0), None)
    if wrong is not None:
        raise fields.refused(source, "time, obj_id or obj_size", repr(wrong), "whole numbers of at least 0")
    time, sector, size = numbers
    op = _OPS.get(values[layout.op - 1]) if layout.op else READ
    if op is None or not size:
        source.skipped["other operations" if op is None else "requests without data"] += 1
        return None
    if time > fields.LAST_NS // SECOND_NS:
        raise fields.refused(source, "time", str(time), f"0 to {fields.LAST_NS // SECOND_NS} s")
    device = str(values[layout.tenant - 1]) if layout.tenant else _DISK
    return _io(source, time * SECOND_NS, op, sector, size, device)


def _read_lcs(source: Source) -> Iterator[RawRecord]:
    header = source.take(_HEADER_BYTES, "the header")
    layout = _layout(source, header)
    source.advance(_HEADER_BYTES)
    yield from _records(source, layout.record.size, partial(_lcs, layout))


def _lcs_fits(head: bytes) -> bool:
    return len(head) >= _HEADER_BYTES and head[:8] == struct.pack("<Q", _MAGIC)


ORACLE_GENERAL = Format(
    "oracle-general",
    "libCacheSim oracleGeneral (no operations: all reads)",
    _general_fits,
    each_record(_read_general),
    1.0,
)
LCS = Format("lcs", "libCacheSim LCS", _lcs_fits, each_record(_read_lcs), 1.0)
