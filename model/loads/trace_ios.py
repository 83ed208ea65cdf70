"""Some I/Os of a recorded trace, a list for each of their values: a load takes them without a further object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from mypy_extensions import i64

TraceIo = tuple[float, int, int, int]
"""When (s, from the start of the trace), ``READ``, ``WRITE``, ``TRIM`` or ``FLUSH``, offset and size (bytes)."""


class TraceIos:
    """Consecutive I/Os of a trace.

    Parameters
    ----------
    times_s
        When they come, from the start of the trace (s).
    ops
        ``READ``, ``WRITE``, ``TRIM`` or ``FLUSH``.
    offsets, sizes
        Bytes on the device.

    Attributes
    ----------
    count
        Number of I/Os.
    """

    __slots__ = ("count", "offsets", "ops", "sizes", "times_s")

    def __init__(self, times_s: list[float], ops: list[int], offsets: list[int], sizes: list[int]) -> None:
        self.times_s = times_s
        self.ops = ops
        self.offsets = offsets
        self.sizes = sizes
        self.count: i64 = len(times_s)


class TraceCursor:
    """Where a load is in a trace.

    Parameters
    ----------
    parts
        The I/Os, some at a time; only those of one part are held.

    Attributes
    ----------
    ended
        Whether there is no further I/O.
    time_s, op, offset, size
        Of the I/O at which it stands, until :attr:`ended`.
    """

    __slots__ = ("_at", "_part", "_parts", "ended", "offset", "op", "size", "time_s")

    def __init__(self, parts: Iterator[TraceIos]) -> None:
        self._parts = parts
        self._part = TraceIos([], [], [], [])
        self._at: i64 = -1
        self.ended = False
        self.time_s = 0.0
        self.op = self.offset = self.size = 0
        self.go_on()

    def go_on(self) -> None:
        """Stand at the next I/O."""
        at = self._at + 1
        part = self._part
        while at >= part.count:
            found = next(self._parts, None)
            if found is None:
                self.ended = True
                return
            part = self._part = found
            at = 0
        self._at = at
        self.time_s = part.times_s[at]
        self.op = part.ops[at]
        self.offset = part.offsets[at]
        self.size = part.sizes[at]


def in_parts(ios: Iterable[TraceIo], most: int = 4096) -> Iterator[TraceIos]:
    """I/Os that come one by one, as parts of at most `most`."""
    ios = iter(ios)
    while some := list(islice(ios, most)):
        times_s, ops, offsets, sizes = zip(*some, strict=True)
        yield TraceIos(list(times_s), list(ops), list(offsets), list(sizes))
