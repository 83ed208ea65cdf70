"""What a reader of a format is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ....model.core.errors import InputError
from .fields import RawRecord
from .record import MeasuredIo
from .source import HEAD, Source

_LINES = 20


@dataclass(frozen=True, slots=True)
class Format:
    """A format of traces.

    Attributes
    ----------
    name
        What ``--format`` calls it.
    title
        What it is, in words.
    fits
        Whether a file that begins with these bytes may be one.
    read
        The records of a file, in its order and by its clock.
    tick_s
        How coarse its clock is (s), if so coarse that distances between I/Os say nothing; else 0.
    measured
        The I/Os of a file with their response and think times, if the format has them; else None.
    """

    name: str
    title: str
    fits: Callable[[bytes], bool]
    read: Callable[[Source], Iterator[RawRecord]]
    tick_s: float = 0.0
    measured: Callable[[Source], Iterator[MeasuredIo]] | None = None


def each_line(parse: Callable[[Source, bytes], RawRecord | None]) -> Callable[[Source], Iterator[RawRecord]]:
    """A reader of a format in which every line is a record, or (None) nothing."""

    def read(source: Source) -> Iterator[RawRecord]:
        for line in source.lines():
            try:
                record = parse(source, line)
            except InputError as error:
                source.malformed(error)
                continue
            if record is not None:
                yield record

    return read


def first_lines(head: bytes) -> list[bytes]:
    """The first lines of a file that are there as a whole and not empty, without white space around them."""
    lines = head.split(b"\n")
    if len(head) >= HEAD:
        lines.pop()
    return [line for line in (line.strip() for line in lines[: 2 * _LINES]) if line][:_LINES]


def lines_fit(pattern: str, header: str | None = None) -> Callable[[bytes], bool]:
    """A test whether the first lines of a file match a pattern, but for a first line that matches `header`."""
    compiled = re.compile(pattern.encode())
    first = re.compile(header.encode()) if header is not None else None

    def fits(head: bytes) -> bool:
        lines = first_lines(head)
        if lines and first is not None and first.fullmatch(lines[0]):
            del lines[0]
        return bool(lines) and all(compiled.fullmatch(line) for line in lines)

    return fits
