"""MQSim: ``ns device LBA sectors 0|1``, 0 for a write and 1 for a read; sectors of 512 bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ....model.request import READ, WRITE
from .. import fields
from ..fields import SECTOR, RawRecord
from ..source import Source
from .format import Format, lines_fit

_OPS = {b"0": WRITE, b"1": READ}


def _read(source: Source) -> Iterator[RawRecord]:
    for line in source.lines():
        time, device, block, blocks, kind = fields.split(source, line, None, "time device LBA sectors type")
        moment = fields.whole(source, time, "time", fields.LAST_NS)
        place = fields.whole(source, block, "LBA", fields.LAST_BYTE // SECTOR) * SECTOR
        length = fields.whole(source, blocks, "sectors", fields.LARGEST // SECTOR, 1) * SECTOR
        if kind not in _OPS:
            raise fields.refused(source, "type", fields.shown(kind), "0 (write) or 1 (read)")
        yield moment, _OPS[kind], *fields.extent(source, place, length), fields.device(source, device, "device")


MQSIM = Format("mqsim", "MQSim", lines_fit(r"\d+\s+\d+\s+\d+\s+\d+\s+[01]"), _read)
