"""The commands of an operator: their arguments, and how these are read. The server and `raidsim tell` both use them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ..model.core.errors import InputError
from ..model.files.quantities import parse_rate, parse_size, parse_time

MOST_RATE = 1e12
"""Bytes per second, above which a rate is a mistake."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a command: its name, how it is read, what is expected, and whether it may be left out."""

    name: str
    read: Callable[[Any], Any]
    expected: str
    optional: bool = False


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    found = float(value)
    if not isfinite(found):
        raise ValueError
    return found


def _bytes(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return parse_size(_text(value))


def _rate(value: Any) -> float:
    rate = parse_rate(value) if isinstance(value, str) else _number(value)
    if not 0 < rate <= MOST_RATE:
        raise ValueError
    return rate


def _seconds(value: Any) -> float:
    return parse_time(value) if isinstance(value, str) else _number(value)


_DRIVE = Argument("drive", _text, "a drive's name")
COMMANDS: Mapping[str, tuple[str, tuple[Argument, ...]]] = {
    "status": ("what the array is doing, and how it answers", ()),
    "fail": ("fail a member", (_DRIVE,)),
    "insert": ("put a new drive into the bay of a failed one", (_DRIVE,)),
    "scrub": ("check an array", (Argument("array", _text, "an array's name", optional=True),)),
    "limit": (
        "limit the speed of a rebuild or check",
        (
            Argument("rate", _rate, "bytes per second above 0, or a rate such as 10MB/s"),
            Argument("array", _text, "an array's name", optional=True),
        ),
    ),
    "slow": ("make a drive slower; 1: as it should be", (_DRIVE, Argument("factor", _number, "a number"))),
    "latent": (
        "make a range of a member unreadable",
        (
            _DRIVE,
            Argument("offset", _bytes, "bytes, or a size such as 64KiB"),
            Argument("size", _bytes, "bytes, or a size such as 64KiB", optional=True),
            Argument("retry", _seconds, "seconds, or a time such as 7s", optional=True),
        ),
    ),
    "look": ("IOPS, latency, utilization and rebuilds since the look before", ()),
    "end": ("end the server", ()),
}
"""Name: (what it does, its arguments in order)."""


def arguments_of(name: str, asked: dict[str, Any]) -> list[Any]:
    """The arguments of a command in order; optional ones that are missing at the end are left out."""
    wanted, values = COMMANDS[name][1], []
    for unknown in asked.keys() - {each.name for each in wanted}:
        known = ", ".join(each.name for each in wanted) or "no arguments"
        raise InputError(name, f"found {unknown!r}", f"expected: {known}")
    for each in wanted:
        if each.name not in asked:
            if each.optional:
                break
            raise InputError(name, f"found no {each.name}", f"expected: {each.expected}")
        try:
            values.append(each.read(asked[each.name]))
        except (ValueError, InputError):
            shown = json.dumps(asked[each.name])
            raise InputError(f"{name}: {each.name}", f"found {shown}", f"expected: {each.expected}") from None
    return values
