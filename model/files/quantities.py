"""What people write for sizes, times and rates, and how we write them back.

Inside, every quantity is a bare SI number (bytes, seconds, bytes/second, hertz); units exist only at the
edge. Decimal and binary prefixes follow IEC 80000-13: "MB" is 10^6 bytes and "MiB" 2^20. What can be
read in two ways ("64K", "64KB", "8m") is refused, with the ways named, and so is what nobody can have
meant: a fraction of a byte, a negative time, a rate that is not a number.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from ..core.errors import InputError

_WRITTEN = re.compile(r"\s*([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,4}))?\s*([^\d\s.,_+-][^\s]*)?\s*", re.ASCII)
_LARGEST_SIZE = 2**63 - 1
_MAGNITUDE = 30  # powers of ten either side of 1 that any quantity here could need

_SIZE_UNITS = {"B": 1, "byte": 1, "bytes": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_SIZE_UNITS |= {prefix + "iB": 2**power for prefix, power in zip("KMGTP", range(10, 60, 10), strict=True)}
_TIME_UNITS = {"ns": "1e-9", "us": "1e-6", "\N{MICRO SIGN}s": "1e-6", "\N{GREEK SMALL LETTER MU}s": "1e-6"}
_TIME_UNITS |= {"ms": "1e-3", "s": "1", "min": "60", "h": "3600", "d": "86400", "y": "31557600"}
_POWER_UNITS = {"mW": "1e-3", "W": "1", "kW": "1e3"}
_FREQUENCY_UNITS = {"Hz": "1", "kHz": "1e3", "MHz": "1e6", "GHz": "1e9"}

_SIZE_ALLOWED = "expected: a whole number of bytes with a unit, such as 512B, 64KiB, 1MiB or 80GB"
_TIME_ALLOWED = "expected: a number with ns, us, ms, s, min, h, d or y, such as 8.9ms"
_RATE_ALLOWED = "expected: a size per second above 0, such as 60MB/s or 1.5GiB/s"
_ROTATION_ALLOWED = "expected: turns per minute above 0, such as 7200rpm"
_FREQUENCY_ALLOWED = "expected: a number above 0 with Hz, kHz, MHz or GHz, such as 1.67GHz"
_POWER_ALLOWED = "expected: a number above 0 with mW, W or kW, such as 5.6W"
_FRACTION_ALLOWED = "expected: 0 to 1, or 0% to 100%"


def parse_size(value: object, place: str = "size") -> int:
    """Bytes of a size.

    Parameters
    ----------
    value
        "64KiB", "80GB", "512B", "1e9B", a string of digits or an ``int``, both of which are bytes.
    place
        What the error names: a field, a file with its line, a command-line option.

    Returns
    -------
    int
        Bytes, 0 or more.

    Raises
    ------
    InputError
        If `value` is not a size, is a fraction of a byte, or can be read in two ways.

    Examples
    --------
    >>> parse_size("64KiB"), parse_size("1MB")
    (65536, 1000000)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise InputError(place, f"{value} is negative", _SIZE_ALLOWED)
        return _bounded_size(value, place, value)
    if isinstance(value, float):
        raise InputError(place, f"{value!r} is a bare number with a point", _SIZE_ALLOWED)
    number, unit = _read(value, place, _SIZE_ALLOWED)
    size = Fraction(number) * (_size_unit(value, unit, place, _SIZE_ALLOWED) if unit else 1)
    if size.denominator != 1:
        raise InputError(place, f"{_shown(value)} is {float(size):.12g} bytes, not a whole number", _SIZE_ALLOWED)
    return _bounded_size(int(size), place, value)


def parse_time(value: object, place: str = "time") -> float:
    """Seconds of a duration such as "8.9ms", "30s" or "2h"; raises `InputError`, also for a number without a unit."""
    number, unit = _read(value, place, _TIME_ALLOWED)
    if not number:
        return 0.0
    if unit in ("m", "M"):
        raise InputError(place, f"{_shown(value)} could be minutes (min) or milliseconds (ms)", _TIME_ALLOWED)
    return _scaled(number, unit, _TIME_UNITS, value, place, _TIME_ALLOWED)


def parse_rate(value: object, place: str = "rate") -> float:
    """Bytes per second of a rate such as "60MB/s" or "1.5GiB/s"; above 0, otherwise raises `InputError`."""
    number, unit = _read(value, place, _RATE_ALLOWED)
    if not unit:
        raise InputError(place, f"{_shown(value)} has no unit", _RATE_ALLOWED)
    size_unit, slash, per = unit.partition("/")
    if not slash or per not in ("s", "sec"):
        raise InputError(place, f"{_shown(value)} is not per second", _RATE_ALLOWED)
    rate = number * _size_unit(value, size_unit.strip(), place, _RATE_ALLOWED)
    return _positive(float(rate), value, place, _RATE_ALLOWED)


def parse_rotation(value: object, place: str = "rotation") -> float:
    """Turns per minute of a spindle, written "7200rpm"; above 0, otherwise raises `InputError`."""
    number, unit = _read(value, place, _ROTATION_ALLOWED)
    units = {"rpm": "1", "RPM": "1"}
    return _positive(_scaled(number, unit, units, value, place, _ROTATION_ALLOWED), value, place, _ROTATION_ALLOWED)


def parse_frequency(value: object, place: str = "frequency") -> float:
    """Hertz of a clock, written "1.67GHz"; above 0, otherwise raises `InputError`."""
    number, unit = _read(value, place, _FREQUENCY_ALLOWED)
    return _positive(
        _scaled(number, unit, _FREQUENCY_UNITS, value, place, _FREQUENCY_ALLOWED), value, place, _FREQUENCY_ALLOWED
    )


def parse_power(value: object, place: str = "power") -> float:
    """Watts of a power, written "5.6W" or "650mW"; above 0, otherwise raises `InputError`."""
    number, unit = _read(value, place, _POWER_ALLOWED)
    return _positive(_scaled(number, unit, _POWER_UNITS, value, place, _POWER_ALLOWED), value, place, _POWER_ALLOWED)


def parse_fraction(value: object, place: str = "fraction") -> float:
    """A share between 0 and 1, written "30%", "0.3" or as a number; otherwise raises `InputError`."""
    number, unit = _read(value, place, _FRACTION_ALLOWED)
    if unit not in ("", "%"):
        raise InputError(place, _shown(value), _FRACTION_ALLOWED)
    share = number / 100 if unit else number
    if share > 1:
        hint = f" (did you mean {number.normalize():f}%?)" if not unit and number <= 100 else ""
        raise InputError(place, f"{_shown(value)} is more than the whole{hint}", _FRACTION_ALLOWED)
    return float(share)


def format_size(size: float) -> str:
    """A size in bytes as people read it: "64 KiB", "1.46 KiB", "74.5 GiB"."""
    return _with_prefix(size, "B")


def format_rate(rate: float) -> str:
    """A rate in bytes per second as people read it: "57.2 MiB/s"."""
    return _with_prefix(rate, "B/s")


def format_duration(seconds: float) -> str:
    """A duration in seconds as people read it.

    >>> [format_duration(seconds) for seconds in (208e-6, 0.0089, 90, 7500)]
    ['208 us', '8.9 ms', '1 min 30 s', '2 h 5 min']
    """
    if seconds < 0:
        return "-" + format_duration(-seconds)
    if not math.isfinite(seconds):
        return str(seconds)
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if float(f"{seconds / factor:.3g}") >= 1 and float(f"{seconds:.3g}") < 60:
            return f"{_digits(seconds / factor)} {unit}"
    if seconds < 1:
        return "0 s" if not seconds else f"{seconds / 1e-9:.3g} ns"
    whole = round(seconds)
    for unit, factor, smaller, part in (
        ("y", 31557600, "d", 86400),
        ("d", 86400, "h", 3600),
        ("h", 3600, "min", 60),
        ("min", 60, "s", 1),
    ):
        if whole >= factor:
            rest = round(whole % factor / part)
            ones = whole // factor
            if rest * part == factor:
                ones, rest = ones + 1, 0
            return f"{ones} {unit} {rest} {smaller}" if rest else f"{ones} {unit}"
    return f"{whole} s"


def _read(value: object, place: str, expected: str) -> tuple[Decimal, str]:
    """The non-negative number and the unit ("" if none) of what was written."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(place, f"{_shown(value)} is {_kind(value)}", expected)
    if not isinstance(value, str):
        if not math.isfinite(value):
            raise InputError(place, f"{value} is not a finite number", expected)
        value = repr(value)
    match = _WRITTEN.fullmatch(value)
    if match is None:
        raise InputError(place, f"{_shown(value)} is not a number with a unit" if value.strip() else "empty", expected)
    sign, digits, exponent, unit = match.groups()
    number = Decimal(f"{digits}e{exponent or 0}")
    if not number:
        return Decimal(0), unit or ""
    if sign == "-":
        raise InputError(place, f"{_shown(value)} is negative", expected)
    if abs(number.adjusted()) > _MAGNITUDE or len(digits) > 2 * _MAGNITUDE:
        raise InputError(place, f"{_shown(value)} is out of any range", expected)
    return number, unit or ""


def _scaled(number: Decimal, unit: str, units: dict[str, str], value: object, place: str, expected: str) -> float:
    if unit not in units:
        problem = f"has the unknown unit {unit!r}" if unit else "has no unit"
        raise InputError(place, f"{_shown(value)} {problem}", expected)
    return float(number * Decimal(units[unit]))


def _size_unit(value: object, unit: str, place: str, expected: str) -> int:
    """Bytes in a unit of size; binary units are clear in any case of their letters, the others are not."""
    if unit in _SIZE_UNITS:
        return _SIZE_UNITS[unit]
    lower = unit.lower()
    prefix = lower[:1].upper()
    if lower[1:] == "ib" and prefix + "iB" in _SIZE_UNITS:
        return _SIZE_UNITS[prefix + "iB"]
    decimal = "kB" if prefix == "K" else prefix + "B"
    if lower.endswith(("bit", "bits")) or unit == "b" or (unit[1:] == "b" and decimal in _SIZE_UNITS):
        raise InputError(place, f"{_shown(value)} counts bits", expected)
    if decimal in _SIZE_UNITS and (len(unit) == 1 or unit == "KB" or lower[1:] == "i"):
        binary = f"{prefix}iB"
        meanings = f"{_SIZE_UNITS[binary]} bytes ({binary}) or {_SIZE_UNITS[decimal]} bytes ({decimal})"
        raise InputError(place, f"{_shown(value)} is ambiguous: {unit!r} could be {meanings}", expected)
    hint = f" (did you mean {decimal!r} or '{prefix}iB'?)" if decimal in _SIZE_UNITS and lower[1:] == "b" else ""
    raise InputError(place, f"{_shown(value)} has the unknown unit {unit!r}{hint}", expected)


def _bounded_size(size: int, place: str, value: object) -> int:
    if size > _LARGEST_SIZE:
        raise InputError(place, f"{_shown(value)} is more than 8 EiB", _SIZE_ALLOWED)
    return size


def _positive(number: float, value: object, place: str, expected: str) -> float:
    if number <= 0:
        raise InputError(place, f"{_shown(value)} is not above 0", expected)
    return number


def _shown(value: object) -> str:
    """What was written, short enough for one line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _kind(value: object) -> str:
    names = {"bool": "true or false", "NoneType": "empty", "list": "a list", "tuple": "a list", "dict": "a mapping"}
    return names.get(type(value).__name__, f"of type {type(value).__name__}")


def _digits(number: float) -> str:
    """Three significant digits, without an exponent and without idle zeros."""
    text = f"{number:.3g}" if abs(number) < 1000 else f"{number:.0f}"
    return text if "e" not in text else f"{number:.0f}"


def _with_prefix(number: float, unit: str) -> str:
    if not math.isfinite(number):
        return f"{number} {unit}"
    for power, prefix in ((50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")):
        exact = number / 2**power
        if abs(exact) >= 1 or float(f"{abs(exact) * 1024:.0f}") >= 1024:
            return f"{int(exact) if exact == int(exact) else _digits(exact)} {prefix}{unit}"
    return f"{int(number) if number == int(number) else _digits(number)} {unit}"
