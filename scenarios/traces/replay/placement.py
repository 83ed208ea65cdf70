"""Where the I/Os of a trace go on the device that they are replayed on, and what is known of them before they do.

A trace is read twice. The first time says how many I/Os there are, of which devices, and how far each of them
reaches, so that what does not fit is refused before anything is simulated; the second time is the replay. A short trace
is remembered meanwhile (:data:`REMEMBERED`), and of a long one nothing, so that memory does not grow with it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import chain, islice
from operator import add, itemgetter, or_
from typing import Literal

from ....model.core.errors import InputError
from ....model.core.request import FLUSH, READ, TRIM, WRITE
from ....model.loads.trace_load import SECTOR, TraceIo
from ..formats.record import TraceRecord

Fit = Literal["refuse", "wrap", "scale"]
"""What becomes of I/Os beyond the end: refused, begun anew at the start, or all offsets drawn together."""
PIECE = 1 << 20
"""What scaling moves as one, so that I/Os that follow each other still do."""
REMEMBERED = 1 << 20
"""I/Os of a trace that are not read a second time: 29 bytes each."""
_BATCH = 4096
"""Records that are surveyed at once."""
_PLAIN = frozenset((READ, WRITE))


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records of a trace are replayed.

    Attributes
    ----------
    device
        Only those of this device; None for all.
    limit
        No more than so many of them.
    last_s
        Only those that come within this time (s) of the first one, in the trace's own time.
    """

    device: str | None = None
    limit: int | None = None
    last_s: float | None = None

    def of(self, records: Iterable[TraceRecord]) -> Iterator[tuple[int, TraceRecord]]:
        """The chosen records with their numbers in the trace, from 1; times count from the first chosen one."""
        return islice(self._chosen(records), self.limit)

    def _chosen(self, records: Iterable[TraceRecord]) -> Iterator[tuple[int, TraceRecord]]:
        first_s: float | None = None
        wanted, last_s = self.device, self.last_s
        if wanted is None and last_s is None:
            records = iter(records)
            first = next(records, None)
            if first is None:
                return
            records = chain((first,), records)
            if not first.time_s:
                # All of them, as they are.
                yield from enumerate(records, 1)
                return
        for number, (time_s, op, offset, size, device) in enumerate(records, 1):
            if wanted is not None and device != wanted:
                continue
            if first_s is None:
                first_s = time_s
            at = time_s - first_s
            if last_s is not None and at > last_s:
                return
            yield number, TraceRecord(at, op, offset, size, device)


@dataclass(slots=True)
class DeviceExtent:
    """How far the I/Os of one device of a trace reach.

    Attributes
    ----------
    end
        Where the furthest one ends (bytes).
    number
        The number of its record.
    largest
        Bytes of the largest.
    """

    end: int = 0
    number: int = 0
    largest: int = 0


@dataclass(slots=True)
class Survey:
    """What the chosen part of a trace holds; sizes and offsets are those in whole sectors.

    Attributes
    ----------
    records, reads, discards, flushes, bytes
        Of the I/Os; discards and flushes have no bytes.
    length_s
        From the first I/O to the last (s).
    devices
        How far each device's I/Os reach, in order of their first one.
    unaligned
        I/Os that do not begin and end at a multiple of 512 bytes.
    empty
        Records of no bytes, which are not among `records`.
    earlier
        I/Os that are earlier than the one before.
    """

    records: int = 0
    reads: int = 0
    discards: int = 0
    flushes: int = 0
    bytes: int = 0
    length_s: float = 0.0
    devices: dict[str, DeviceExtent] = field(default_factory=dict)
    unaligned: int = 0
    empty: int = 0
    earlier: int = 0

    @classmethod
    def of(cls, records: Iterable[tuple[int, TraceRecord]], memory: TraceMemory | None = None) -> Survey:
        """Read all `records` with their numbers, and note them in `memory`."""
        survey = cls()
        records = iter(records)
        while batch := list(islice(records, _BATCH)):
            found = list(map(itemgetter(1), batch))
            if not survey._count_alike(batch, found):
                for number, record in batch:
                    survey._count(number, record)
                found = [record for record in found if record.size > 0]
            if memory is not None and found:
                memory.note(found)
        return survey

    def _count_alike(self, batch: list[tuple[int, TraceRecord]], found: list[TraceRecord]) -> bool:
        """Count a batch at once if it is plain: reads and writes of whole sectors, one device, in order."""
        times, ops, starts, sizes, devices = zip(*found, strict=True)
        device = devices[0]
        if (
            devices.count(device) < len(batch)
            or not _PLAIN.issuperset(ops)
            or min(sizes) <= 0
            or reduce(or_, starts, reduce(or_, sizes)) % SECTOR
            or times[0] < self.length_s
            or list(times) != sorted(times)
        ):
            return False
        self.length_s = times[-1]
        self.records += len(batch)
        self.reads += ops.count(READ)
        self.bytes += sum(sizes)
        extent = self.devices.setdefault(device, DeviceExtent())
        extent.largest = max(extent.largest, *sizes)
        ends = list(map(add, starts, sizes))
        end = max(ends)
        if end > extent.end:
            extent.end, extent.number = end, batch[ends.index(end)][0]
        return True

    def _count(self, number: int, record: TraceRecord) -> None:
        time_s, op, start, size, device = record
        if size <= 0:
            self.empty += 1
            return
        if (start | size) % SECTOR:
            self.unaligned += 1
            start, size = whole_sectors(start, size)
        if time_s < self.length_s:
            self.earlier += 1
        else:
            self.length_s = time_s
        self.records += 1
        self.reads += op == READ
        if op == FLUSH:
            self.flushes += 1
        elif op == TRIM:
            self.discards += 1
        else:
            self.bytes += size
        extent = self.devices.get(device)
        if extent is None:
            extent = self.devices[device] = DeviceExtent()
        if size > extent.largest:
            extent.largest = size
        if start + size > extent.end:
            extent.end, extent.number = start + size, number


class TraceMemory:
    """The I/Os of a trace, as long as they are not too many.

    Parameters
    ----------
    most
        How many that is.

    Attributes
    ----------
    complete
        Whether all that were noted are there.
    """

    __slots__ = ("_devices", "_names", "_offsets", "_ops", "_sizes", "_times", "complete", "most")

    def __init__(self, most: int = REMEMBERED) -> None:
        self.most = most
        self.complete = True
        self._forget()

    def _forget(self) -> None:
        self._times, self._ops = array("d"), array("b")
        self._offsets, self._sizes, self._devices = array("q"), array("q"), array("l")
        self._names: dict[str, int] = {}

    def note(self, more: list[TraceRecord]) -> None:
        """Remember more of them, at least one; if there are too many, forget them all."""
        if not self.complete:
            return
        if len(self._times) + len(more) > self.most:
            self.complete = False
            self._forget()
            return
        times, ops, offsets, sizes, devices = zip(*more, strict=True)
        self._times.extend(times)
        self._ops.extend(ops)
        self._offsets.extend(offsets)
        self._sizes.extend(sizes)
        names = self._names
        self._devices.extend([names.setdefault(device, len(names)) for device in devices])

    def records(self) -> Iterator[TraceRecord]:
        """All that were noted, in their order."""
        names = list(self._names)
        devices = (names[number] for number in self._devices)
        made = partial(tuple.__new__, TraceRecord)
        return map(made, zip(self._times, self._ops, self._offsets, self._sizes, devices, strict=True))

    def ios(self) -> Iterator[TraceIo]:
        """The same where they are, whatever their device."""
        return zip(self._times, self._ops, self._offsets, self._sizes, strict=True)


def whole_sectors(offset: int, size: int) -> tuple[int, int]:
    """Offset and size of the sectors of 512 bytes that a range touches."""
    start = offset // SECTOR * SECTOR
    return start, -(-(offset + size) // SECTOR) * SECTOR - start


class Placement:
    """Puts the devices of a trace side by side on one device, each in an equal part.

    Parameters
    ----------
    survey
        What the trace holds.
    target, capacity
        The device it is replayed on, and its bytes.
    fit
        What becomes of I/Os that lie beyond the part of their device.

    Attributes
    ----------
    starts
        Where each device's part begins.
    room
        Bytes of each part.
    moved
        I/Os that went elsewhere than they did, so far.
    stays
        Whether every I/O goes to where it went, in whole sectors already.

    Raises
    ------
    InputError
        If a part is too small, naming the record that reaches furthest, or the largest I/O.
    """

    def __init__(self, survey: Survey, target: str, capacity: int, fit: Fit = "refuse") -> None:
        parts = len(survey.devices)
        self.room = capacity // SECTOR * SECTOR if parts == 1 else capacity // parts // PIECE * PIECE
        self.starts = {name: number * self.room for number, name in enumerate(survey.devices)}
        self.moved = 0
        self._fit = fit
        self._ends = {name: extent.end for name, extent in survey.devices.items()}
        self.stays = parts == 1 and not survey.unaligned and max(self._ends.values()) <= self.room
        of = f"{target}, which has {capacity} bytes"
        if parts > 1:
            of = f"each of {parts} equal parts of {target} ({self.room} bytes)"
        for name, extent in survey.devices.items():
            if extent.largest > self.room:
                found = f"an I/O of {extent.largest} bytes of device {name}"
                raise InputError("trace", found, f"expected: I/Os that fit in {of}")
            if extent.end > self.room and fit == "refuse":
                found = f"I/O {extent.number:,} (device {name}) ends at byte {extent.end}"
                allowed = f"expected: within {of}; or --fit wrap, --fit scale"
                raise InputError("trace", found, allowed if parts == 1 else f"{allowed}, or one --device")

    def __call__(self, record: TraceRecord) -> TraceIo:
        """The record as an I/O to the target."""
        time_s, op, offset, size, device = record
        if (offset | size) % SECTOR:
            offset, size = whole_sectors(offset, size)
        end, room = self._ends[device], self.room
        place = offset
        if end > room:
            if self._fit == "scale":
                piece, inside = divmod(offset, PIECE)
                place = piece * room // end * PIECE + inside
            else:
                place = offset % room
            place = min(place, room - size)
            self.moved += place != offset
        return time_s, op, self.starts[device] + place, size


def placed(
    source: Callable[[], Iterable[TraceRecord]],
    selection: Selection,
    survey: Survey,
    place: Placement,
    memory: TraceMemory | None = None,
) -> Iterator[TraceIo]:
    """The surveyed I/Os as they go to the target, from `memory` or read one by one from `source`."""
    if memory is not None and memory.complete:
        if place.stays:
            return memory.ios()
        return map(place, memory.records())
    chosen = (record for _, record in selection.of(source()) if record.size > 0)
    return map(place, islice(chosen, survey.records))
