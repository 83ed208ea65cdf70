"""What a reader of a format is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ....model.core.errors import InputError
from .bulk import Lines, Unusual
from .columns import RawColumns, gathered
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
        The records of a file, in its order and by its clock, some at a time.
    tick_s
        How coarse its clock is (s), if so coarse that distances between I/Os say nothing; else 0.
    measured
        The I/Os of a file with their response and think times, if the format has them; else None.
    """

    name: str
    title: str
    fits: Callable[[bytes], bool]
    read: Callable[[Source], Iterator[RawColumns]]
    tick_s: float = 0.0
    measured: Callable[[Source], Iterator[MeasuredIo]] | None = None


@dataclass(frozen=True, slots=True)
class BulkReader:
    """How a block of plain lines of a format is read at once.

    Attributes
    ----------
    columns
        The I/Os of lines; it raises :class:`Unusual` if one of them is not plain.
    fields
        Number of fields in a line.
    separator
        The byte between them; None: any number of blanks.
    header
        How a first line begins that is no record; empty: there is none.
    more
        If true, there may be more fields, the same number in all lines of a block.
    """

    columns: Callable[[Source, Lines], RawColumns]
    fields: int
    separator: bytes | None = b","
    header: bytes = b""
    more: bool = False

    def read(self, source: Source, block: bytes) -> RawColumns | None:
        """The I/Os of a block; None if it has to be read line by line."""
        try:
            lines = Lines(source, block, self.separator, self.header)
            if lines.fields != self.fields and not (self.more and lines.fields > self.fields):
                return None
            return self.columns(source, lines)
        except (Unusual, InputError):
            # What is wrong with a field is said by the reader of lines.
            return None


def each_line(
    parse: Callable[[Source, bytes], RawRecord | None], bulk: BulkReader | None = None
) -> Callable[[Source], Iterator[RawColumns]]:
    """A reader of a format in which every line is a record, or (None) nothing; with `bulk` it reads by blocks."""

    def records(source: Source, block: bytes) -> Iterator[RawRecord]:
        for line in source.lines_of(block):
            try:
                record = parse(source, line)
            except InputError as error:
                source.malformed(error)
                continue
            if record is not None:
                yield record

    def read(source: Source) -> Iterator[RawColumns]:
        for block in source.blocks():
            columns = None if bulk is None else bulk.read(source, block)
            if columns is not None:
                yield columns
            else:
                yield from gathered(records(source, block), source)

    return read


def each_record(records: Callable[[Source], Iterator[RawRecord]]) -> Callable[[Source], Iterator[RawColumns]]:
    """A reader of a format whose records are read one by one."""

    def read(source: Source) -> Iterator[RawColumns]:
        return gathered(records(source), source)

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
