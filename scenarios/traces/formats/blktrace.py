"""The binary of blktrace, of either byte order: records of struct blk_io_trace (version 7) and blk_io_trace2 (8).

include/uapi/linux/blktrace_api.h: version 7 has 48 bytes, version 8 has 64 with an action of 64 bits; both are followed
by `pdu_len` bytes. The lower 16 bits of an action say what happened (1 queued, 7 issued; bit 8 that a control group
follows), the bits above what kind of I/O it is. Times are nanoseconds, sectors have 512 bytes, and a device is
major << 20 | minor. Flushes without data, commands that are no file system's, and messages are left out
and counted.
"""

from __future__ import annotations

import heapq
import os
import re
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing
from operator import itemgetter
from pathlib import Path

from ....model.core.errors import InputError
from ....model.core.request import READ, TRIM, WRITE
from . import fields
from .asked import Event, asked_for
from .fields import SECTOR, RawRecord
from .format import Format, each_record
from .source import Source

_MAGIC = 0x65617400
_VERSIONS = (7, 8)
_LAYOUTS = {
    (order, version): struct.Struct(order + fields_of)
    for order in "<>"
    for version, fields_of in ((7, "IIQQIIIIIHH"), (8, "IIQQIIQIIHH12x"))
}
_ACTIONS = {1: b"Q", 2: b"M", 3: b"F", 4: b"G", 5: b"S", 6: b"R", 7: b"D", 8: b"C", 9: b"P", 10: b"U", 11: b"UT"}
_ACTIONS |= {12: b"I", 13: b"X", 14: b"B", 15: b"A", 16: b"ABORT", 17: b"DRV"}
_CGROUP = 1 << 8
_PER_CPU = re.compile(r"(.+\.blktrace)\.(\d+)", re.DOTALL)
_WRITE, _FLUSH, _PC, _NOTIFY, _DISCARD = (1 << 16 + bit for bit in (1, 2, 9, 10, 13))


def _order(magic: bytes) -> str | None:
    """Byte order of a record by its first four bytes; None if it is no record."""
    for order in "<>":
        (number,) = struct.unpack(order + "I", magic)
        if number & 0xFFFFFF00 == _MAGIC:
            return order
    return None


def _read(source: Source) -> Iterator[RawRecord]:
    with ExitStack() as open_files:
        parts = [source]
        for path in _other_cpus(source.path):
            part = open_files.enter_context(closing(Source(path)))
            part.skipped, part.errors = source.skipped, source.errors
            parts.append(part)
        merged = heapq.merge(*(_events(part) for part in parts), key=itemgetter(0))
        yield from asked_for((event for _, event in merged), source)


def _other_cpus(path: Path) -> list[Path]:
    """Of FILE.blktrace.3 the other FILE.blktrace.N: blktrace writes one for every CPU, all with the same clock."""
    match = _PER_CPU.fullmatch(path.name)
    if match is None:
        return []
    try:
        found = sorted(os.listdir(path.parent))
    except OSError as error:
        what = f"the folder of the other CPUs' files cannot be read ({error.strerror})"
        raise InputError(str(path), what, "expected: a folder that can be read") from None
    names = (_PER_CPU.fullmatch(other) for other in found)
    return [path.parent / name[0] for name in names if name and name[1] == match[1] and name[2] != match[2]]


def _events(source: Source) -> Iterator[tuple[int, Event]]:
    """The events with their times (ns)."""
    while magic := source.take(4, "a record"):
        order = _order(magic)
        version = magic[0] if order == "<" else magic[3]
        if order is None or version not in _VERSIONS:
            found = f"found 0x{magic.hex()}" if order is None else f"found version {version}"
            allowed = "expected: 0x65617407 or 0x65617408 (blktrace version 7 or 8)"
            raise InputError(f"{source.place}: field magic", found, allowed)
        layout = _LAYOUTS[order, version]
        rest = source.take(layout.size - 4, "a record")
        if not rest:
            raise InputError(source.place, "the file ends within a record", f"expected: {layout.size} bytes")
        if version == 7:
            _, _, time, sector, size, action, _, device, _, _, more = layout.unpack(magic + rest)
        else:
            _, _, time, sector, size, _, action, device, _, _, more = layout.unpack(magic + rest)
        if more and not source.take(more, "data after a record"):
            raise InputError(source.place, "the file ends within a record", f"expected: {more} bytes after it")
        try:
            event = _event(source, time, sector, size, action, device)
        except InputError as error:
            source.malformed(error)
        else:
            yield time, event
        source.advance(layout.size + more)


def _event(source: Source, time: int, sector: int, size: int, action: int, device: int) -> Event:
    if action & _NOTIFY:
        return b"message", None, ""
    name = _ACTIONS.get(action & 0xFFFF & ~_CGROUP, b"?")
    if name not in (b"Q", b"D"):
        return name, None, ""
    if action & _PC:
        return name, None, "commands of no file system"
    if not size and action & _DISCARD:
        return name, None, "discards"
    if not size:
        return name, None, "flushes without data" if action & _FLUSH else "commands without data"
    if time >= fields.LAST_NS:
        raise fields.refused(source, "time", f"{time} ns", "less than 2^63 ns")
    if sector > fields.LAST_BYTE // SECTOR:
        raise fields.refused(source, "sector", str(sector), f"0 to {fields.LAST_BYTE // SECTOR}")
    op = TRIM if action & _DISCARD else WRITE if action & _WRITE else READ
    place, length = fields.extent(source, sector * SECTOR, size)
    return name, (time, op, place, length, f"{device >> 20},{device & 0xFFFFF}"), ""


def _fits(head: bytes) -> bool:
    return len(head) >= 4 and _order(head[:4]) is not None


BLKTRACE = Format("blktrace", "blktrace binary", _fits, each_record(_read))
