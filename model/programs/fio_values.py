"""The notation of values in a fio job: sizes, directions, shares (fio's parse.c and options.c)."""

from __future__ import annotations

import re

from ..errors import InputError
from .fio_job import Part, Sizes

_SIZE = re.compile(r"(\d+)([kmgtp]?)(i?)(b?)", re.IGNORECASE)
_POWERS = " kmgtp"


def size(text: str, place: str, whole: int = 0) -> int:
    """Bytes: "4k", "16MiB", or "25%" of `whole`.

    By fio's default (``kb_base=1024``) all units are powers of 1024 but those written out with both letters: "4KiB"
    is 4000.
    """
    if text.endswith("%") and text[:-1].isdigit() and whole:
        return whole * int(text[:-1]) // 100
    found = _SIZE.fullmatch(text)
    if found is None:
        allowed = "allowed: a number of bytes, perhaps with k, m, g, t or p" + (", or percent" if whole else "")
        raise InputError(place, f"found {text!r}", allowed)
    count, unit, i, b = found.groups()
    factor: int = (1000 if i and b else 1024) ** (_POWERS.index(unit.lower()) if unit else 0)
    return int(count) * factor


def number(text: str, place: str, most: int = 2**63) -> int:
    """A whole number that is not negative."""
    if not text.isdigit() or int(text) > most:
        raise InputError(place, f"found {text!r}", f"allowed: a whole number from 0 to {most}")
    return int(text)


def flag(text: str, place: str) -> bool:
    """A switch; without a value it is on."""
    if text not in ("", "0", "1"):
        raise InputError(place, f"found {text!r}", "allowed: 0 or 1")
    return text != "0"


def per_direction(text: str) -> tuple[str, str]:
    """The values for reads and for writes of "a,b,c"; c is for trims, and b is a if it is not there."""
    parts = text.split(",")
    return parts[0], (parts[1] if len(parts) > 1 and parts[1] else parts[0])


def block_sizes(text: str, place: str) -> tuple[Sizes, Sizes]:
    """``bs`` or ``bsrange``: "4k", "4k,8k" or "1k-4k"."""

    def one(part: str) -> Sizes:
        low, _, high = part.partition("-")
        least = size(low, place)
        most = size(high, place) if high else least
        if not 0 < least <= most:
            raise InputError(place, f"found {part!r}", "allowed: a size above 0, or a range from a smaller to a larger")
        return Sizes(least, most)

    reads, writes = per_direction(text)
    return one(reads), one(writes)


def split_sizes(text: str, place: str) -> tuple[Sizes, Sizes]:
    """``bssplit``: "4k/60:8k/30:64k/10"; sizes without a percentage share what is left. fio sorts by percentage."""

    def one(part: str) -> Sizes:
        pieces = [piece.partition("/") for piece in part.split(":")]
        given = [(size(value, place), number(share, place, 100) if share else None) for value, _, share in pieces]
        left = 100 - sum(share or 0 for _, share in given)
        open_shares = sum(share is None for _, share in given)
        if left < 0 or (left and not open_shares):
            raise InputError(place, f"the percentages of {part!r} add up to {100 - left}", "allowed: 100")
        parts = [Part(value, left // open_shares if share is None else share) for value, share in given]
        parts.sort(key=lambda each: each.percent)
        values = [each.value for each in parts]
        return Sizes(min(values), max(values), tuple(each for each in parts if each.percent))

    reads, writes = per_direction(text)
    return one(reads), one(writes)


def zones(text: str, place: str) -> tuple[Part, ...]:
    """Zones of ``random_distribution``: percent of the accesses / percent of the file, separated by colons."""
    parts = []
    for piece in text.split(":"):
        accesses, _, share = piece.partition("/")
        parts.append(Part(number(share, place, 100), number(accesses, place, 100)))
    for what, total in (
        ("accesses", sum(part.percent for part in parts)),
        ("zones", sum(part.value for part in parts)),
    ):
        if total != 100:
            raise InputError(place, f"the {what} of {text!r} add up to {total} %", "allowed: 100 %")
    return tuple(parts)
