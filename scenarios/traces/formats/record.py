"""The I/Os of a trace, whatever format it came in: one by one, and as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


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


@dataclass(frozen=True, slots=True)
class TraceColumns:
    """Consecutive I/Os that somebody asked for: an array for each value of :class:`TraceRecord`.

    Attributes
    ----------
    times_s, ops, offsets, sizes
        As of a record: float64, int8, int64, int64.
    devices
        Numbers of their devices, int32.
    names
        The names of the devices by their numbers.
    """

    times_s: NDArray[np.float64]
    ops: NDArray[np.int8]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    devices: NDArray[np.int32]
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.times_s)

    def __getitem__(self, which: slice | NDArray[np.bool_]) -> TraceColumns:
        """The I/Os of a slice, or where the mask is true."""
        return TraceColumns(
            self.times_s[which],
            self.ops[which],
            self.offsets[which],
            self.sizes[which],
            self.devices[which],
            self.names,
        )

    def records(self) -> Iterator[TraceRecord]:
        """The I/Os one by one."""
        names = self.names
        devices = (names[number] for number in self.devices.tolist())
        # Without the check of arguments that TraceRecord(...) makes.
        made = partial(tuple.__new__, TraceRecord)
        columns = (self.times_s.tolist(), self.ops.tolist(), self.offsets.tolist(), self.sizes.tolist())
        return map(made, zip(*columns, devices, strict=True))


def columns_of(records: Iterable[TraceRecord], most: int = 4096) -> Iterator[TraceColumns]:
    """Records in columns, at most `most` at a time."""
    names: list[str] = []
    numbers: dict[str, int] = {}
    records = iter(records)
    while some := list(islice(records, most)):
        times, ops, offsets, sizes, devices = zip(*some, strict=True)
        for device in devices:
            if device not in numbers:
                numbers[device] = len(names)
                names.append(device)
        yield TraceColumns(
            np.array(times, dtype=np.float64),
            np.array(ops, dtype=np.int8),
            np.array(offsets, dtype=np.int64),
            np.array(sizes, dtype=np.int64),
            np.array([numbers[device] for device in devices], dtype=np.int32),
            names,
        )
