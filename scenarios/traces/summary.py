"""What is in a trace, in one pass and in memory that does not grow with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...model.core.errors import InputError
from ...model.core.request import READ, WRITE
from .formats.record import TraceRecord
from .rates import Counts, Gaps
from .touched import TouchedPieces

MOST_DEVICES = 4096
_MOST_SIZES = 4096


@dataclass
class Runs:
    """I/Os that begin where the one before on the device has ended.

    Attributes
    ----------
    following
        How many there are.
    runs
        Runs of two I/Os or more.
    """

    following: int = 0
    runs: int = 0

    @property
    def in_runs(self) -> int:
        """I/Os that are part of runs, the first of each as well."""
        return self.following + self.runs

    @property
    def length(self) -> float:
        """I/Os in a run on average; 0 if there is none."""
        return self.in_runs / self.runs if self.runs else 0.0


@dataclass
class DeviceSummary:
    """What one device of the trace was asked for.

    Attributes
    ----------
    number
        The number-th device in the trace, from 0 on.
    ios, bytes
        Number and bytes of reads and of writes.
    sizes
        Reads and writes by size (bytes); the first 4,096 sizes of each.
    end
        Where its last byte lies.
    runs
        Its sequential I/Os.
    """

    number: int
    ios: list[int] = field(default_factory=lambda: [0, 0])
    bytes: list[int] = field(default_factory=lambda: [0, 0])
    sizes: tuple[Counter[int], Counter[int]] = field(default_factory=lambda: (Counter(), Counter()))
    end: int = 0
    runs: Runs = field(default_factory=Runs)
    gaps: Gaps = field(default_factory=Gaps)
    _last_end: int = -1
    _following: bool = False
    _last_s: float = 0.0

    def add(self, record: TraceRecord) -> bool:
        """Note an I/O; says whether it begins where the one before has ended."""
        time_s, op, offset, size, _ = record
        if self.ios[READ] or self.ios[WRITE]:
            self.gaps.add(time_s - self._last_s)
        self._last_s = time_s
        self.ios[op] += 1
        self.bytes[op] += size
        sizes = self.sizes[op]
        if size in sizes or len(sizes) < _MOST_SIZES:
            sizes[size] += 1
        follows = offset == self._last_end
        if follows:
            self.runs.following += 1
            if not self._following:
                self.runs.runs += 1
        self._following = follows
        self._last_end = offset + size
        self.end = max(self.end, self._last_end)
        return follows

    @property
    def records(self) -> int:
        """Reads and writes."""
        return self.ios[READ] + self.ios[WRITE]

    @property
    def read_share(self) -> float:
        """Share of the I/Os that read."""
        return self.ios[READ] / self.records

    @property
    def sequential_share(self) -> float:
        """Share of the I/Os that begin where the one before has ended."""
        return self.runs.following / self.records


@dataclass
class TraceSummary:
    """What is in a trace.

    Attributes
    ----------
    devices
        By name, in the order in which they come.
    last_s
        Time of the last I/O, from the first.
    peak_per_s
        Most I/Os in a second (whole seconds from the first I/O).
    """

    devices: dict[str, DeviceSummary] = field(default_factory=dict)
    last_s: float = 0.0
    peak_per_s: int = 0
    gaps: Gaps = field(default_factory=Gaps)
    counts: Counts = field(default_factory=Counts)
    touched: TouchedPieces = field(default_factory=TouchedPieces)

    @property
    def records(self) -> int:
        """I/Os of all devices."""
        return sum(device.records for device in self.devices.values())

    @property
    def ios(self) -> tuple[int, int]:
        """Reads and writes of all devices."""
        devices = self.devices.values()
        return sum(device.ios[READ] for device in devices), sum(device.ios[WRITE] for device in devices)

    @property
    def bytes(self) -> tuple[int, int]:
        """Bytes read and written on all devices."""
        devices = self.devices.values()
        return sum(device.bytes[READ] for device in devices), sum(device.bytes[WRITE] for device in devices)

    @property
    def read_share(self) -> float:
        """Share of the I/Os that read."""
        return self.ios[READ] / self.records

    @property
    def runs(self) -> Runs:
        """Sequential I/Os of all devices."""
        parts = [device.runs for device in self.devices.values()]
        return Runs(sum(part.following for part in parts), sum(part.runs for part in parts))

    @property
    def sequential_share(self) -> float:
        """Share of the I/Os that begin where the one before on their device has ended."""
        return self.runs.following / self.records

    @property
    def mean_per_s(self) -> float | None:
        """I/Os a second; None if all come at once."""
        return (self.records - 1) / self.last_s if self.last_s else None

    def sizes(self, op: int) -> Counter[int]:
        """Reads or writes of all devices by size (bytes)."""
        total: Counter[int] = Counter()
        for device in self.devices.values():
            total.update(device.sizes[op])
        return total


def summarised(records: Iterable[TraceRecord], name: str) -> TraceSummary:
    """What is in the records of the trace called `name`.

    Raises
    ------
    InputError
        If there is no record, or if there are more devices than a trace has.
    """
    summary = TraceSummary()
    devices = summary.devices
    second, in_second, last_s = 0, 0, 0.0
    for i, record in enumerate(records):
        time_s = record.time_s
        device = devices.get(record.device)
        if device is None:
            if len(devices) == MOST_DEVICES:
                raise InputError(name, f"found more than {MOST_DEVICES} devices", "expected: a trace of fewer")
            device = devices[record.device] = DeviceSummary(len(devices))
        follows = device.add(record)
        summary.touched.add(device.number, record.offset, record.size, not follows)
        summary.counts.add(time_s)
        if i:
            summary.gaps.add(time_s - last_s)
        last_s = time_s
        if int(time_s) != second:
            second, in_second = int(time_s), 0
        in_second += 1
        summary.peak_per_s = max(summary.peak_per_s, in_second)
    if not devices:
        raise InputError(name, "found no reads and no writes", "expected: at least one")
    summary.last_s = last_s
    return summary
