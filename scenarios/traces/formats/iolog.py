"""fio's I/O log, versions 2 and 3.

Version 2 has ``file action offset length``; ``wait`` gives the microseconds that pass before the next I/O. Version 3
has the microseconds since the start in front of every line, and no ``wait``. A sync is a flush of the whole device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....model.core.errors import InputError
from ....model.core.request import FLUSH, READ, TRIM, WRITE
from . import fields
from .fields import RawRecord
from .format import Format, each_record
from .source import Source

_FIRST = re.compile(rb"fio version ([23]) iolog")
_MICROSECOND_NS = 1000
_LAST_US = fields.LAST_NS // _MICROSECOND_NS
_OPS = {b"read": READ, b"write": WRITE, b"trim": TRIM}
_OTHERS = (b"sync", b"datasync")
FLUSHED = (0, 512)
"""The place of a flush, which has none."""
_FILE_ACTIONS = (b"add", b"open", b"close")
_ALLOWED = "read, write, sync, datasync, trim, wait, add, open or close"


def _read(source: Source) -> Iterator[RawRecord]:
    lines = source.lines()
    first = next(lines, b"")
    match = _FIRST.fullmatch(first)
    if match is None:
        raise InputError(source.place, f"found {fields.shown(first)}", "expected: fio version 2 iolog, or 3")
    clock = _Clock(stamped=match[1] == b"3")
    for line in lines:
        try:
            record = clock.record(source, line)
        except InputError as error:
            source.malformed(error)
            continue
        if record is not None:
            yield record


class _Clock:
    """The time of a log, which lines set (version 3) or move on (2)."""

    def __init__(self, stamped: bool) -> None:
        self._stamped = stamped
        self._now_us = 0

    def record(self, source: Source, line: bytes) -> RawRecord | None:
        """The I/O of a line; None if it has none."""
        parts = line.split()
        if self._stamped:
            self._now_us = fields.whole(source, parts.pop(0), "timestamp", _LAST_US)
        if len(parts) < 2:
            raise InputError(source.place, f"found {len(parts)} words", "expected: a file and an action")
        name, action, *rest = parts
        if action == b"wait" and not self._stamped:
            self._wait(source, rest)
        elif action in _OTHERS:
            if source.flushes:
                return self._now_us * _MICROSECOND_NS, FLUSH, *FLUSHED, fields.device(source, name, "file")
            source.skipped[action.decode()] += 1
        elif action in _OPS:
            if len(rest) != 2:
                raise InputError(source.place, f"found {len(rest)} numbers", "expected: offset and length")
            place = fields.whole(source, rest[0], "offset", fields.LAST_BYTE)
            length = fields.whole(source, rest[1], "length", fields.LARGEST, 1)
            extent = fields.extent(source, place, length)
            return self._now_us * _MICROSECOND_NS, _OPS[action], *extent, fields.device(source, name, "file")
        elif action not in _FILE_ACTIONS:
            raise fields.refused(source, "action", fields.shown(action), _ALLOWED)
        return None

    def _wait(self, source: Source, rest: list[bytes]) -> None:
        if not rest:
            raise InputError(source.place, "found a wait without a time", "expected: microseconds")
        now_us = self._now_us + fields.whole(source, rest[0], "wait", _LAST_US)
        if now_us > _LAST_US:
            raise fields.refused(source, "wait", f"{now_us} us in all", "less than 2^63 ns in all")
        self._now_us = now_us


IOLOG = Format("iolog", "fio I/O log", lambda head: head.startswith(b"fio version "), each_record(_read))
