"""A trace file as records, whatever its format and packing."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...model.core.errors import InputError
from ...model.core.request import TRIM
from .formats.fields import SECOND_NS
from .formats.record import MeasuredIo, TraceColumns, TraceRecord
from .formats.source import UTF_8, UTF_16, Source, file_size
from .formats.table import FORMATS
from .ordering import in_order

_UNNAMED = Path("<trace>")
"""What errors call a trace that is no file."""
_EXACT_NS = 1 << 53
"""Whole nanoseconds that a double can hold (104 days)."""


@dataclass(frozen=True)
class Trace:
    """A trace that has been recognized.

    Attributes
    ----------
    path
        The file.
    format
        Name of its format, one of :data:`raidsim.scenarios.traces.formats.table.FORMATS`.
    skip_malformed
        Whether records that cannot be understood are left out and counted; otherwise the first one is an error.
    discards
        Whether discards are among the records; otherwise they are left out and counted.
    flushes
        The same of flushes, which only fio's I/O logs have.
    skipped
        How many records the last complete or begun pass has left out, by what they are.
    errors
        What is wrong with the first of the malformed ones among them.
    content
        What is in the file; None: it is read from `path`.
    """

    path: Path
    format: str
    skip_malformed: bool = False
    discards: bool = False
    flushes: bool = False
    skipped: Counter[str] = field(default_factory=Counter, compare=False)
    errors: list[str] = field(default_factory=list, compare=False)
    content: bytes | None = field(default=None, repr=False)

    @property
    def tick_s(self) -> float:
        """How coarse the clock is (s), if too coarse for distances between I/Os; else 0."""
        return FORMATS[self.format].tick_s

    def columns(self, progress: Callable[[int, int], None] | None = None) -> Iterator[TraceColumns]:
        """The records in the order of their times, in columns, read as they are asked for.

        Parameters
        ----------
        progress
            Called now and then with the bytes of the file that are read, and with all of them.

        Raises
        ------
        InputError
            About the first line or record that is wrong.
        """
        self.skipped.clear()
        self.errors.clear()
        size = file_size(self.path) if self.content is None else len(self.content)
        # fio calls them trims, and other operations of its logs are counted by fio's names as well.
        takes_all, trims = self.discards, "trim" if self.format == "iolog" else "discards"
        with closing(Source(self.path, self.content)) as source:
            source.skipped = self.skipped
            source.errors = self.errors if self.skip_malformed else None
            source.flushes = self.flushes
            start_ns: int | None = None
            for part in in_order(FORMATS[self.format].read(source), source):
                if not takes_all and int(part.ops.max()) >= TRIM:
                    kept = part.ops != TRIM
                    self.skipped[trims] += len(part) - int(kept.sum())
                    part = part[kept]
                if not len(part):
                    continue
                if start_ns is None:
                    start_ns = int(part.times_ns[0])
                if progress is not None:
                    progress(source.bytes_read, size)
                times_s = _seconds(part.times_ns - start_ns)
                yield TraceColumns(times_s, part.ops, part.offsets, part.sizes, part.devices, source.devices)

    def records(self, progress: Callable[[int, int], None] | None = None) -> Iterator[TraceRecord]:
        """The same one by one."""
        for columns in self.columns(progress):
            yield from columns.records()

    def measured(self) -> Iterator[MeasuredIo]:
        """The I/Os with their response and think times, read as they are asked for.

        Raises
        ------
        InputError
            If the format has no such times, and about the first line that is wrong.
        """
        read = FORMATS[self.format].measured
        if read is None:
            having = ", ".join(known.name for known in FORMATS.values() if known.measured is not None)
            raise InputError(
                str(self.path), f"found {self.format}, which has no response and think times", f"expected: {having}"
            )
        with closing(Source(self.path, self.content)) as source:
            source.skipped = Counter()
            source.errors = [] if self.skip_malformed else None
            yield from read(source)


def open_trace(
    source: Path | bytes,
    format: str | None = None,
    skip_malformed: bool = False,
    discards: bool = False,
    flushes: bool = False,
) -> Trace:
    """A trace file, by its content.

    Parameters
    ----------
    source
        The file or its content, also packed with gzip, xz or zstd.
    format
        Its format, if it is known.
    skip_malformed, discards, flushes
        As of :class:`Trace`; the first lines, which tell the format, must be in order unless that is given.

    Raises
    ------
    InputError
        If it cannot be read, or if its format is not known or not certain.
    """
    if format is not None and format not in FORMATS:
        close = difflib.get_close_matches(format, FORMATS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InputError("--format", f"found {format!r}", f"{hint}expected: {', '.join(FORMATS)}")
    path, content = (source, None) if isinstance(source, Path) else (_UNNAMED, source)
    with closing(Source(path, content)) as opened:
        head = opened.head()
    if not head:
        raise InputError(str(path), "found an empty file", "expected: a trace")
    if format is not None:
        return Trace(path, format, skip_malformed, discards, flushes, content=content)
    fitting = [name for name, known in FORMATS.items() if known.fits(head.removeprefix(UTF_8))]
    if not fitting and head.startswith(UTF_16):
        raise InputError(str(path), "found a text in UTF-16", "expected: UTF-8, as `iconv -f UTF-16 -t UTF-8` makes it")
    if not fitting:
        allowed = f"expected: {', '.join(known.title for known in FORMATS.values())}; or say --format"
        raise InputError(str(path), "found no format that raidsim knows", allowed)
    if len(fitting) > 1:
        names = " or ".join(fitting)
        raise InputError(str(path), f"found what may be {names}", f"expected: --format {fitting[0]} or the other")
    return Trace(path, fitting[0], skip_malformed, discards, flushes, content=content)


def _seconds(times_ns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Times in seconds, each the number next to it."""
    if int(times_ns.max()) < _EXACT_NS:
        return times_ns / SECOND_NS
    return np.array([time_ns / SECOND_NS for time_ns in times_ns.tolist()])
