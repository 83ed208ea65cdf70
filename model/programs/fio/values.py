"""The notation of values in a fio job: sizes, directions, shares (fio's parse.c and options.c)."""

from __future__ import annotations

import re

from ...core.errors import InputError
from .job import Part, Sizes

_SIZE = re.compile(r"(0x[0-9a-f]+|\d{1,20})\s*([kmgtp]?)(i?)(b?)", re.IGNORECASE)
_POWERS = " kmgtp"
_WRITTEN_OUT = re.compile(r"\d\s*[kmgtp]ib\b", re.IGNORECASE)
_TIME = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([a-z]*)", re.IGNORECASE)
_SECONDS = {
    "d": 86400.0,
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "us": 1e-6,
    "usec": 1e-6,
}
_MOST = 2**63
_DECIMALS = 12
"""Of a time in seconds."""


def size(text: str, place: str, whole: int = 0, kb_base: int = 1024) -> int:
    """Bytes: "4k", "16MiB", or "25%" of `whole`.

    fio takes "25%%" for the same. By fio's default (``kb_base=1024``) all units are powers of 1024 but those written
    out with both letters: "4KiB" is 4000. With ``kb_base=1000`` it is the other way around.
    """
    percent = text.removesuffix("%").removesuffix("%")
    if percent != text and percent.isdecimal() and whole:
        return whole * int(percent) // 100
    found = _SIZE.fullmatch(text)
    if found is None:
        allowed = "expected: a number of bytes, perhaps with k, m, g, t or p" + (", or percent" if whole else "")
        raise InputError(place, f"found {text!r}", allowed)
    count, unit, i, b = found.groups()
    other = 1000 if kb_base == 1024 else 1024
    factor: int = (other if i and b else kb_base) ** (_POWERS.index(unit.lower()) if unit else 0)
    value = int(count, 0 if count[1:2] in "xX" and len(count) > 1 else 10) * factor
    if value > _MOST:
        raise InputError(place, f"found {text!r}", "expected: less than 8 EiB")
    return value


def has_swapped_unit(text: str) -> bool:
    """Whether a unit is written out ("4KiB"), which means the other base."""
    return _WRITTEN_OUT.search(text) is not None


def number(text: str, place: str, most: int = _MOST, kb_base: int = 1024) -> int:
    """A whole number that is not negative; fio takes units for these, too."""
    if _SIZE.fullmatch(text) is None or size(text, place, 0, kb_base) > most:
        raise InputError(place, f"found {text[:80]!r}", f"expected: a whole number from 0 to {most}")
    return size(text, place, 0, kb_base)


def seconds(text: str, place: str, unit: str = "s") -> float:
    """A time, in `unit` unless it says another."""
    found = _TIME.fullmatch(text)
    factor = _SECONDS.get((found[2] or unit).lower()) if found is not None else None
    if found is None or factor is None:
        raise InputError(place, f"found {text[:80]!r}", f"expected: a time in {unit}, or with d, h, m, s, ms or us")
    return round(float(found[1]) * factor, _DECIMALS)


def numbers(text: str, place: str) -> tuple[float, ...]:
    """Numbers with colons between them."""
    try:
        found = tuple(float(part) for part in text.split(":"))
    except ValueError:
        found = ()
    if not found or not all(0 <= part <= 100 for part in found):
        raise InputError(place, f"found {text[:80]!r}", "expected: numbers from 0 to 100 with colons between them")
    return found


def flag(text: str, place: str) -> bool:
    """A switch; without a value it is on."""
    if text not in ("", "0", "1"):
        raise InputError(place, f"found {text!r}", "expected: 0 or 1")
    return text != "0"


def per_direction(text: str, default: str = "") -> tuple[str, str, str]:
    """The values for reads, writes and trims of "a,b,c": what is not said is as what is said before it.

    With a comma, what stands empty is `default` if there is one ("rate=,500k").
    """
    parts = [part.strip() for part in text.split(",")]
    if default and len(parts) > 1:
        parts = [part or default for part in parts]
    reads = parts[0]
    writes = parts[1] if len(parts) > 1 and parts[1] else reads
    trims = parts[2] if len(parts) > 2 and parts[2] else writes
    return reads, writes, trims


def size_range(text: str, place: str, kb_base: int = 1024) -> tuple[int, int]:
    """A size above 0, or two with "-" or ":" between them, the smaller first."""
    low, _, high = text.replace(":", "-").partition("-")
    least = size(low, place, 0, kb_base) if low else 0
    most = size(high, place, 0, kb_base) if high else least
    if not 0 < least <= most:
        raise InputError(place, f"found {text!r}", "expected: a size above 0, or a range from a smaller to a larger")
    return least, most


def block_sizes(text: str, place: str, kb_base: int = 1024) -> tuple[Sizes, Sizes, Sizes]:
    """``bs`` or ``bsrange``: "4k", "4k,8k" or "1k-4k"."""

    def one(part: str) -> Sizes:
        return Sizes(*size_range(part, place, kb_base))

    reads, writes, trims = per_direction(text)
    return one(reads), one(writes), one(trims)


def split_sizes(text: str, place: str, kb_base: int = 1024) -> tuple[Sizes, Sizes, Sizes]:
    """``bssplit``: "4k/60:8k/30:64k/10"; sizes without a percentage share what is left. fio sorts by percentage."""

    def one(part: str) -> Sizes:
        pieces = [piece.partition("/") for piece in part.split(":")]
        given = [
            (size(value, place, 0, kb_base), number(share, place, 100) if share else None) for value, _, share in pieces
        ]
        if any(not value for value, _ in given):
            raise InputError(place, f"found {part!r}", "expected: sizes above 0")
        left = 100 - sum(share or 0 for _, share in given)
        open_shares = sum(share is None for _, share in given)
        if left < 0 or (left and not open_shares):
            raise InputError(place, f"the percentages of {part!r} add up to {100 - left}", "expected: 100")
        parts = [Part(value, left // open_shares if share is None else share) for value, share in given]
        parts.sort(key=lambda each: each.percent)
        values = [each.value for each in parts]
        return Sizes(min(values), max(values), tuple(each for each in parts if each.percent))

    reads, writes, trims = per_direction(text)
    return one(reads), one(writes), one(trims)


def zones(text: str, place: str, absolute: bool = False, kb_base: int = 1024) -> tuple[Part, ...]:
    """Zones of ``random_distribution``: percent of the accesses / percent of the file, separated by colons.

    With `absolute` the second is in bytes. Zones without a percentage of the file share what is left of it.
    """
    pieces = [piece.partition("/") for piece in text.split(":")]
    said = [share for _, _, share in pieces if share]
    open_shares = len(pieces) - len(said)
    if open_shares and not absolute:
        left = max(0, 100 - sum(number(share, place, 100) for share in said))
        pieces = [(accesses, "/", share or str(left // open_shares)) for accesses, _, share in pieces]
    parts = []
    for accesses, _, share in pieces:
        value = size(share, place, 0, kb_base) if absolute else number(share, place, 100)
        parts.append(Part(value, number(accesses, place, 100)))
    totals = [("accesses", sum(part.percent for part in parts))]
    if not absolute:
        totals.append(("zones", sum(part.value for part in parts)))
    for what, total in totals:
        if total != 100:
            raise InputError(place, f"the {what} of {text!r} add up to {total} %", "expected: 100 %")
    return tuple(parts)
