"""DiskSim's validation traces: ``R|W class sector sectors response think``, times in microseconds.

They were recorded on one drive with one I/O outstanding (Bucy et al., "The DiskSim simulation environment version 4.0
reference manual", CMU-PDL-08-101, 2008). The class is what the drive did, in the recorder's words ("Hit", "Doub").
The think time is how long after the end of an I/O the next one was sent, so an I/O comes when all that is before it is
over.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....model.core.errors import InputError
from . import fields
from .fields import SECTOR, RawRecord
from .format import Format, each_record, lines_fit
from .record import MeasuredIo
from .source import Source

_MICROSECOND_NS = 1000
_NAMES = "direction class sector sectors response think"
_DEVICE = "0"
_fits = lines_fit(r"[RW]\s+[A-Za-z]+\s+\d+\s+\d+\s+\d+(\.\d+)?\s+\d+(\.\d+)?")


def _measured(source: Source) -> Iterator[tuple[int, MeasuredIo]]:
    """When each I/O comes (ns), and the I/O."""
    now_ns = 0
    for line in source.lines():
        try:
            direction, _, sector, sectors, response, think = fields.split(source, line, None, _NAMES)
            op = fields.direction(source, direction, "direction")
            place = fields.whole(source, sector, "sector", fields.LAST_BYTE // SECTOR) * SECTOR
            length = fields.whole(source, sectors, "sectors", fields.LARGEST // SECTOR, 1) * SECTOR
            offset, size = fields.extent(source, place, length)
            response_ns = fields.time_ns(source, response, "response", _MICROSECOND_NS)
            think_ns = fields.time_ns(source, think, "think", _MICROSECOND_NS)
            if now_ns + response_ns + think_ns >= fields.LAST_NS:
                raise fields.refused(source, "think", f"{now_ns + think_ns} ns in all", "less than 2^63 ns in all")
        except InputError as error:
            source.malformed(error)
            continue
        yield now_ns, MeasuredIo(op, offset, size, response_ns / fields.SECOND_NS, think_ns / fields.SECOND_NS)
        now_ns += response_ns + think_ns


def _read(source: Source) -> Iterator[RawRecord]:
    for now_ns, io in _measured(source):
        yield now_ns, io.op, io.offset, io.size, _DEVICE


def _only_ios(source: Source) -> Iterator[MeasuredIo]:
    for _, io in _measured(source):
        yield io


DISKSIM_VALIDATION = Format(
    "disksim-validation", "DiskSim validation trace", _fits, each_record(_read), measured=_only_ios
)
