"""Fields of a line of a trace, checked one by one."""

from __future__ import annotations

import re

from ....model.core.errors import InputError
from ....model.core.request import READ, WRITE
from .source import Source

SECTOR = 512
SECOND_NS = 10**9
LARGEST = 1 << 32
"""Bytes of one I/O: Linux counts those of a request in 32 bits."""
LAST_BYTE = 1 << 63
LAST_NS = 1 << 63

RawRecord = tuple[int, int, int, int, str]
"""Time by the trace's own clock (ns), ``READ``, ``WRITE`` or ``TRIM``, offset and size (bytes), device."""

_DECIMAL = re.compile(rb"(\d{1,19})(?:\.(\d{0,18}))?")
_WORDS = {b"r": READ, b"read": READ, b"w": WRITE, b"write": WRITE}
_USUAL = {b"R": READ, b"Read": READ, b"W": WRITE, b"Write": WRITE}
_MOST_DIGITS = 20
_NS_DIGITS, _MOST_SECONDS = 9, 9
"""Decimals of a second in whole nanoseconds, and digits of whole seconds below `LAST_NS` with any of them."""
_MOST_NAMES = 1 << 16
"""Names of devices that are remembered; a trace with more is read all the same."""


def shown(field: bytes) -> str:
    """A field as errors quote it."""
    text = field[:40].decode("ascii", "backslashreplace")
    return repr(text + "..." if len(field) > 40 else text)


def refused(source: Source, field: str, found: str, expected: str) -> InputError:
    """An error about a field of the line or record at which `source` stands."""
    return InputError(f"{source.place}: field {field}", f"found {found}", f"expected: {expected}")


def split(source: Source, line: bytes, separator: bytes | None, names: str, optional: int = 0) -> list[bytes]:
    """The fields of a line.

    Parameters
    ----------
    source
        Where the line comes from.
    line
        It.
    separator
        Between fields; None is any white space.
    names
        Names of the fields with spaces between.
    optional
        How many of the last may be missing; with any, more may follow.
    """
    fields = line.split(separator)
    wanted = names.count(" ") + 1
    if len(fields) != wanted and (len(fields) < wanted - optional or not optional):
        least = f"{wanted - optional} or more" if optional else str(wanted)
        raise InputError(source.place, f"found {len(fields)} fields", f"expected: {least} ({names})")
    return fields


def whole(source: Source, field: bytes, name: str, most: int, least: int = 0) -> int:
    """A whole number from `least` to `most`."""
    if field.isdigit() and len(field) <= _MOST_DIGITS and least <= (value := int(field)) <= most:
        return value
    digits = field.strip()
    if digits.isdigit() and len(digits) <= _MOST_DIGITS and least <= (value := int(digits)) <= most:
        return value
    raise refused(source, name, shown(field), f"a whole number from {least} to {most}")


def time_ns(source: Source, field: bytes, name: str, unit_ns: int) -> int:
    """A time in units of `unit_ns`, with decimals or without, in whole nanoseconds."""
    if unit_ns == SECOND_NS:
        # The usual case: seconds with up to nine decimals.
        units, _, decimals = field.partition(b".")
        short = len(units) <= _MOST_SECONDS and len(decimals) <= _NS_DIGITS
        if short and units.isdigit() and decimals.isdigit():
            return int(units + decimals.ljust(_NS_DIGITS, b"0"))
    match = _DECIMAL.fullmatch(field.strip())
    if match:
        units, decimals = match[1], match[2] or b""
        value = int(units) * unit_ns + int(decimals or b"0") * unit_ns // int(10 ** len(decimals))
        if value < LAST_NS:
            return value
    raise refused(source, name, shown(field), f"a number from 0 to {LAST_NS // unit_ns}")


def direction(source: Source, field: bytes, name: str) -> int:
    """``READ`` or ``WRITE`` of a word or letter."""
    found = _USUAL.get(field)
    if found is None:
        found = _WORDS.get(field.strip().lower())
    if found is None:
        raise refused(source, name, shown(field), "R, W, Read or Write")
    return found


def device(source: Source, field: bytes, name: str) -> str:
    """A name that can be printed, at most 100 characters."""
    known = source.names.get(field)
    if known is not None:
        return known
    try:
        text = field.strip().decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text or len(text) > 100 or not text.isprintable():
        raise refused(source, name, shown(field), "a name of 1 to 100 printable characters")
    if len(source.names) < _MOST_NAMES:
        source.names[field] = text
    return text


def extent(source: Source, offset: int, size: int) -> tuple[int, int]:
    """Offset and size (bytes), if there can be such an I/O."""
    if not 0 < size <= LARGEST:
        raise refused(source, "size", f"{size} bytes", f"1 to {LARGEST} bytes")
    if offset + size > LAST_BYTE:
        raise refused(source, "offset", f"byte {offset}", f"up to byte {LAST_BYTE - size} with this size")
    return offset, size
