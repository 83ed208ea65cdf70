"""Damage of the kinds that text and records come to: cut, doubled, exchanged, with something put in that bites."""

from __future__ import annotations

import gzip
import lzma
import random
import re
import zlib
from collections.abc import Callable, Sequence

import zstandard

_PIECES = [
    *(
        b"",
        b"0",
        b"-1",
        b"1",
        b"9" * 20,
        b"9" * 400,
        b"9" * 5000,
        b"0x" + b"f" * 5000,
        b"0o" + b"7" * 5000,
        b"0b1",
        b"k" * 100_000,
        b"[" * 300,
        b"1e308",
        b"1e999",
        b"nan",
        b"inf",
        b"-inf",
        b"0x10",
        b"1_000",
    ),
    *(
        "²".encode(),
        "٣".encode(),
        "\uff11".encode(),
        "é".encode(),
        "\u2028".encode(),
        b"\xff",
        b"\x00",
        b"\x1b[2J",
        b"\r",
    ),
    *(b"\n", b"\t", b" ", b",", b".", b":", b";", b"=", b"-", b"/", b"%", b"#", b'"', b"'", b"\\", b"$", b"&a ", b"*a"),
    *(b"{", b"}", b"[", b"]", b"(", b")", b"<<: ", b"null", b"true", b"~", b"{}", b"[]", b'""', b"..", b"!!int "),
    *(
        b"KiB",
        b"MB/s",
        b"1e6TB",
        b"0s",
        b"100%",
        b"1:2",
        b"+5",
        b"1/0",
        b"(1/0)",
        b"2147483648",
        b"18446744073709551616",
    ),
]
_MOST = 1 << 20
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_UNPACK: tuple[tuple[bytes, Callable[[bytes], bytes], Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", gzip.decompress, lambda data: gzip.compress(data, mtime=0)),
    (b"\xfd7zXZ\x00", lzma.decompress, lzma.compress),
    (b"\x28\xb5\x2f\xfd", lambda data: zstandard.decompress(data, _MOST), zstandard.compress),
)


def mutated(data: bytes, rng: random.Random, others: Sequence[bytes] = (), packed: bool = False) -> bytes:
    """Some bytes damaged in one to four places.

    Parameters
    ----------
    data
        The bytes.
    rng
        Chooses.
    others
        Where pieces may come from.
    packed
        Whether bytes that are packed are to be unpacked, damaged and packed again, mostly.
    """
    if packed and rng.random() < 0.8:
        for magic, unpack, pack in _UNPACK:
            if data.startswith(magic):
                try:
                    return pack(mutated(unpack(data), rng, others))
                except (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError):
                    break
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(_WAYS)(data, rng, others)
    return data


def _put(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(_PIECES) + data[at + rng.choice((0, 0, 1, 1, 2, 8, 40)) :]


def _number(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return _put(data, rng, others)
    match = rng.choice(found)
    other = rng.choice(
        (*_PIECES[:13], *(each[0] for each in found[:50]), str(rng.getrandbits(rng.randint(1, 70))).encode())
    )
    return data[: match.start()] + other + data[match.end() :]


def _lines(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Leave lines out, double them, or move them elsewhere."""
    lines = data.split(b"\n")
    first = rng.randrange(len(lines))
    last = min(len(lines), first + rng.choice((1, 1, 1, 2, 5)))
    moved = lines[first:last]
    if rng.random() < 0.6:
        del lines[first:last]
    if rng.random() < 0.7:
        at = rng.randint(0, len(lines))
        lines[at:at] = moved * rng.choice((1, 1, 2, 50 if len(data) < 2000 else 2))
    return b"\n".join(lines)


def _spliced(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Put in some lines, or some bytes, of another input."""
    other = rng.choice(others) if others else data
    if rng.random() < 0.5:
        lines, theirs = data.split(b"\n"), other.split(b"\n")
        first, at = rng.randrange(len(theirs)), rng.randint(0, len(lines))
        lines[at : at + rng.choice((0, 0, 1))] = theirs[first : first + rng.choice((1, 1, 2, 4))]
        return b"\n".join(lines)
    first, at = rng.randint(0, len(other)), rng.randint(0, len(data))
    return data[:at] + other[first : first + rng.choice((4, 16, 64))] + data[at + rng.choice((0, 4, 16)) :]


def _flipped(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    if not data:
        return rng.choice(_PIECES)
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.choice((data[at] ^ 1 << rng.randrange(8), 0, 255))]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    return data[: rng.randint(0, len(data))]


_WAYS = (_put, _put, _put, _number, _number, _lines, _lines, _spliced, _spliced, _flipped, _cut)


def grown(data: bytes, rng: random.Random, size: int) -> bytes:
    """Some bytes with one piece of them repeated until they are `size` long: what takes quadratic time takes long."""
    if rng.random() < 0.5:
        lines = data.split(b"\n")
        first = rng.randrange(len(lines))
        last = min(len(lines), first + rng.choice((1, 2, 5)))
        before, piece, after = (b"\n".join(part) for part in (lines[:first], [*lines[first:last], b""], lines[last:]))
        before += b"\n" if first else b""
    else:
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.choice((1, 1, 2, 4, 12, 40)))
        before, piece, after = data[:start], data[start:end], data[end:]
    times = max(1, (size - len(before) - len(after)) // max(1, len(piece)))
    return (before + piece * times + after)[:size]
