"""The text of blkparse (and btrace): ``major,minor cpu number seconds pid action RWBS sector + sectors [process]``.

Sectors have 512 bytes. The summary at the end is not read. Flushes without data are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....model.core.errors import InputError
from ....model.core.request import READ, TRIM, WRITE
from . import fields
from .asked import Event, asked_for
from .fields import SECOND_NS, SECTOR, RawRecord
from .format import Format, each_record, first_lines
from .source import Source

_EVENT = re.compile(rb"(\d+,\d+)\s+\d+\s+\d+\s+(\S+)\s+\d+\s+([A-Za-z]{1,2})(?:\s+(.*))?")
_EXTENT = re.compile(rb"([A-Z]+)\s+(\d+)(?:\s+\+\s+(\d+))?(?:\s.*)?")
_SUMMARY = re.compile(rb"(CPU\d+|Total) \(.*\):")
_BEFORE = re.compile(rb"Input file .* added")
_LAYOUT = "an event as blkparse prints it: 8,16 0 1 0.000000000 1234 Q W 223490 + 8 [dd]"
_IO_ACTIONS = (b"Q", b"D")


def _read(source: Source) -> Iterator[RawRecord]:
    return asked_for(_events(source), source)


def _events(source: Source) -> Iterator[Event]:
    for line in source.lines():
        if _SUMMARY.fullmatch(line):
            return
        if _BEFORE.fullmatch(line):
            continue
        try:
            event = _event(source, line)
        except InputError as error:
            source.malformed(error)
            continue
        yield event


def _event(source: Source, line: bytes) -> Event:
    match = _EVENT.fullmatch(line)
    if match is None:
        raise InputError(source.place, f"found {fields.shown(line)}", f"expected: {_LAYOUT}")
    device, time, action, rest = match.groups()
    if action not in _IO_ACTIONS:
        return action, None, ""
    flags, _, _ = (rest or b"").partition(b" ")
    extent = _EXTENT.fullmatch(rest or b"")
    sectors = fields.whole(source, extent[3] or b"0", "sectors", fields.LARGEST // SECTOR) if extent else 0
    if not sectors or extent is None:
        if b"D" in flags:
            return action, None, "discards"
        if b"F" not in flags and b"N" not in flags:
            found = fields.shown(rest or b"")
            raise fields.refused(source, "sectors", found, "sector + sectors, with at least one")
        return action, None, "flushes without data" if b"F" in flags else "commands without data"
    op = TRIM if b"D" in flags else WRITE if b"W" in flags else READ
    if op == READ and b"R" not in flags:
        return action, None, "neither read nor write"
    moment = fields.time_ns(source, time, "time", SECOND_NS)
    place = fields.whole(source, extent[2], "sector", fields.LAST_BYTE // SECTOR) * SECTOR
    place, size = fields.extent(source, place, sectors * SECTOR)
    return action, (moment, op, place, size, device.decode()), ""


def _fits(head: bytes) -> bool:
    lines = [line for line in first_lines(head) if not _BEFORE.fullmatch(line)]
    return bool(lines) and _EVENT.fullmatch(lines[0]) is not None


BLKPARSE = Format("blkparse", "blkparse text", _fits, each_record(_read))
