"""Consecutive I/Os of a trace as columns: one NumPy array for each of their values, so that no I/O is an object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....model.core.errors import InputError
from .fields import RawRecord
from .source import Source

BATCH = 4096
"""Records that are gathered from a format whose records are read one by one."""
_LAST = 1 << 63


@dataclass(frozen=True, slots=True)
class RawColumns:
    """I/Os in the order of their file, by the trace's own clock.

    Attributes
    ----------
    times_ns
        Since the time of the first record of the file (ns), int64.
    ops
        ``READ``, ``WRITE``, ``TRIM`` or ``FLUSH``, int8.
    offsets, sizes
        Bytes, int64.
    devices
        Numbers of :attr:`Source.devices`, int32.
    marks
        Where each is in the file, for :meth:`Source.place_of`, int64.
    """

    times_ns: NDArray[np.int64]
    ops: NDArray[np.int8]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    devices: NDArray[np.int32]
    marks: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.times_ns)

    def __getitem__(self, which: slice | NDArray[np.intp] | NDArray[np.bool_]) -> RawColumns:
        """The I/Os of a slice, at these positions, or where the mask is true."""
        return RawColumns(
            self.times_ns[which],
            self.ops[which],
            self.offsets[which],
            self.sizes[which],
            self.devices[which],
            self.marks[which],
        )

    def followed_by(self, more: RawColumns) -> RawColumns:
        """These I/Os and then more of them."""
        return RawColumns(
            np.concatenate((self.times_ns, more.times_ns)),
            np.concatenate((self.ops, more.ops)),
            np.concatenate((self.offsets, more.offsets)),
            np.concatenate((self.sizes, more.sizes)),
            np.concatenate((self.devices, more.devices)),
            np.concatenate((self.marks, more.marks)),
        )


def gathered(records: Iterator[RawRecord], source: Source) -> Iterator[RawColumns]:
    """Records that are read one by one from `source`, in columns; what is before an error comes before it."""
    kept: list[RawRecord] = []
    marks: list[int] = []
    try:
        for record in records:
            kept.append(record)
            marks.append(source.mark)
            if len(kept) == BATCH:
                yield columns_of(kept, marks, source)
                kept, marks = [], []
    except InputError as error:
        if kept:
            yield columns_of(kept, marks, source)
        raise error
    if kept:
        yield columns_of(kept, marks, source)


def columns_of(records: Sequence[RawRecord], marks: Sequence[int], source: Source) -> RawColumns:
    """Some records as columns, at least one."""
    moments, ops, offsets, sizes, devices = zip(*records, strict=True)
    base_ns = source.since(moments[0])
    times = [moment - base_ns for moment in moments]
    if max(times) >= _LAST or min(times) < -_LAST:
        raise InputError(source.name, "found times more than 292 years apart", "expected: a trace of one machine")
    number = source.number_of
    return RawColumns(
        np.array(times, dtype=np.int64),
        np.array(ops, dtype=np.int8),
        np.array(offsets, dtype=np.int64),
        np.array(sizes, dtype=np.int64),
        np.array([number(device) for device in devices], dtype=np.int32),
        np.array(marks, dtype=np.int64),
    )
