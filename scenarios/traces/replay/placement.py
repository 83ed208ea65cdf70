"""Where the I/Os of a trace go on the device that they are replayed on, and what is known of them before they do.

A trace is read twice. The first time says how many I/Os there are, of which devices, and how far each of them
reaches, so that what does not fit is refused before anything is simulated; the second time is the replay. A short trace
is remembered meanwhile (:data:`REMEMBERED`), and of a long one nothing, so that memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....model.core.errors import InputError
from ....model.core.request import FLUSH, READ, TRIM, WRITE
from ....model.loads.trace_ios import TraceIos
from ....model.loads.trace_load import SECTOR
from ..formats.record import TraceColumns

Fit = Literal["refuse", "wrap", "scale"]
"""What becomes of I/Os beyond the end: refused, begun anew at the start, or all offsets drawn together."""
PIECE = 1 << 20
"""What scaling moves as one, so that I/Os that follow each other still do."""
REMEMBERED = 1 << 20
"""I/Os of a trace that are not read a second time: 29 bytes each."""
_OPS = 1 + max(READ, WRITE, TRIM, FLUSH)


class ChosenIos(NamedTuple):
    """Some of the chosen I/Os of a trace.

    Attributes
    ----------
    numbers
        Their numbers in the trace, from 1.
    ios
        The I/Os.
    """

    numbers: NDArray[np.int64]
    ios: TraceColumns


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records of a trace are replayed.

    Attributes
    ----------
    device
        Only those of this device; None for all.
    limit
        Upper limit of their number.
    last_s
        Only those that come within this time (s) of the first one, in the trace's own time.
    """

    device: str | None = None
    limit: int | None = None
    last_s: float | None = None

    def of(self, parts: Iterable[TraceColumns]) -> Iterator[ChosenIos]:
        """The chosen I/Os with their numbers in the trace, from 1; times count from the first chosen one."""
        left = self.limit
        first_s: float | None = None
        before = 0
        for part in parts:
            numbers = np.arange(before + 1, before + 1 + len(part))
            before += len(part)
            if self.device is not None:
                wanted = part.devices == _number_of(self.device, part.names)
                part, numbers = part[wanted], numbers[wanted]
            if not len(part):
                continue
            if first_s is None:
                first_s = float(part.times_s[0])
            if first_s:
                part = replace(part, times_s=part.times_s - first_s)
            over, end = False, len(part)
            if self.last_s is not None:
                late = part.times_s > self.last_s
                over = bool(late.any())
                end = int(np.argmax(late)) if over else end
            if left is not None:
                end = min(end, left)
                left -= end
            if end:
                yield ChosenIos(numbers[:end], part[:end])
            if over or left == 0:
                return


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
    def of(cls, parts: Iterable[ChosenIos], memory: TraceMemory | None = None) -> Survey:
        """Look at all chosen I/Os, and note them in `memory`."""
        survey = cls()
        for numbers, ios in parts:
            empty = ios.sizes <= 0
            if empty.any():
                survey.empty += int(empty.sum())
                numbers, ios = numbers[~empty], ios[~empty]
            if len(ios):
                survey._count(numbers, ios)
                if memory is not None:
                    memory.note(ios)
        return survey

    def _count(self, numbers: NDArray[np.int64], ios: TraceColumns) -> None:
        """Count some I/Os, none of them empty."""
        reached = np.maximum.accumulate(np.concatenate(([self.length_s], ios.times_s)))
        self.earlier += int((ios.times_s < reached[:-1]).sum())
        self.length_s = float(reached[-1])
        self.records += len(ios)
        counts = np.bincount(ios.ops, minlength=_OPS).tolist()
        self.reads += counts[READ]
        self.discards += counts[TRIM]
        self.flushes += counts[FLUSH]
        starts, sizes, unaligned = _whole_sectors(ios.offsets, ios.sizes)
        self.unaligned += unaligned
        moved = sizes if counts[READ] + counts[WRITE] == len(ios) else sizes[ios.ops <= WRITE]
        self.bytes += int(moved.sum())
        # An end may be 2^63.
        ends = starts.astype(np.uint64) + sizes.astype(np.uint64)
        if bool((ios.devices == ios.devices[0]).all()):
            self._reach(ios.names[int(ios.devices[0])], numbers, ends, sizes)
            return
        for device in dict.fromkeys(ios.devices.tolist()):
            of_it = ios.devices == device
            self._reach(ios.names[device], numbers[of_it], ends[of_it], sizes[of_it])

    def _reach(
        self, device: str, numbers: NDArray[np.int64], ends: NDArray[np.uint64], sizes: NDArray[np.int64]
    ) -> None:
        """Note how far some I/Os of a device reach."""
        extent = self.devices.setdefault(device, DeviceExtent())
        extent.largest = max(extent.largest, int(sizes.max()))
        last = int(np.argmax(ends))
        if int(ends[last]) > extent.end:
            extent.end, extent.number = int(ends[last]), int(numbers[last])


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

    __slots__ = ("_count", "_parts", "complete", "most")

    def __init__(self, most: int = REMEMBERED) -> None:
        self.most = most
        self.complete = True
        self._parts: list[TraceColumns] = []
        self._count = 0

    def note(self, more: TraceColumns) -> None:
        """Remember more of them; if there are too many, forget them all."""
        if not self.complete:
            return
        self._count += len(more)
        self._parts.append(more)
        if self._count > self.most:
            self.complete = False
            self._parts = []

    def columns(self) -> Iterator[TraceColumns]:
        """All that were noted, in their order."""
        return iter(self._parts)


def _whole_sectors(
    offsets: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Offsets and sizes of the sectors of 512 bytes that ranges touch, and how many did not begin and end at one."""
    unaligned = int(((offsets | sizes) % SECTOR != 0).sum())
    if not unaligned:
        return offsets, sizes, 0
    before = offsets % SECTOR
    return offsets - before, -(-(before + sizes) // SECTOR) * SECTOR, unaligned


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
        I/Os that were moved to another address, so far.
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

    def ios(self, part: TraceColumns) -> TraceIos:
        """Some I/Os as they go to the target."""
        offsets, sizes, _ = _whole_sectors(part.offsets, part.sizes)
        if not self.stays:
            places = np.empty_like(offsets)
            for device in np.unique(part.devices).tolist():
                of_it = part.devices == device
                places[of_it] = self._placed(part.names[device], offsets[of_it], sizes[of_it])
            offsets = places
        return TraceIos(part.times_s.tolist(), part.ops.tolist(), offsets.tolist(), sizes.tolist())

    def _placed(self, device: str, offsets: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where I/Os of one device go on the target."""
        end, room = self._ends[device], self.room
        places = offsets
        if end > room:
            if self._fit == "scale":
                pieces = [piece * room // end for piece in (offsets // PIECE).tolist()]
                places = np.array(pieces, dtype=np.int64) * PIECE + offsets % PIECE
            else:
                places = offsets % room
            places = np.minimum(places, room - sizes)
            self.moved += int((places != offsets).sum())
        return self.starts[device] + places


def placed(
    source: Callable[[], Iterable[TraceColumns]],
    selection: Selection,
    survey: Survey,
    place: Placement,
    memory: TraceMemory | None = None,
) -> Iterator[TraceIos]:
    """The surveyed I/Os as they go to the target, from `memory` or read again from `source`."""
    if memory is not None and memory.complete:
        parts = memory.columns()
    else:
        parts = (part.ios[part.ios.sizes > 0] for part in selection.of(source()))
    return (place.ios(part) for part in parts)


def _number_of(device: str, names: Sequence[str]) -> int:
    """The number of a device's name, -1 if there is none."""
    return names.index(device) if device in names else -1
