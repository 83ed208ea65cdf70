"""One I/O of a trace, whatever format it came in."""

from __future__ import annotations

from typing import NamedTuple


class TraceRecord(NamedTuple):
    """One I/O that somebody asked for.

    Attributes
    ----------
    time_s
        When, from the trace's first record.
    op
        ``READ``, ``WRITE``, ``TRIM`` or ``FLUSH`` of :mod:`raidsim.model.core.request`.
    offset, size
        Bytes.
    device
        The trace's own name of the device, volume or unit ("8,16", "mds.0", "0").
    """

    time_s: float
    op: int
    offset: int
    size: int
    device: str


class MeasuredIo(NamedTuple):
    """One I/O of a trace that was recorded with one I/O outstanding, and how long it took.

    Attributes
    ----------
    op
        ``READ`` or ``WRITE``.
    offset, size
        Bytes.
    response_s
        From the time it was sent to its end (s).
    think_s
        From its end to the time the next one was sent (s).
    """

    op: int
    offset: int
    size: int
    response_s: float
    think_s: float
