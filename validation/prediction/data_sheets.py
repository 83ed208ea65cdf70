"""Compare the figures of data sheets with what the model of the drive gives, for hard disks and solid-state drives.

The drive alone is simulated, with a host that keeps a number of commands outstanding and takes a fixed time from a
completion to the next command, as in the makers' tests. The figures are in ``data_sheets.yaml``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from ...model.core.engine import Engine
from ...model.core.errors import InputError
from ...model.core.request import READ, WRITE, Request
from ...model.disk.actuators.split_drive import SplitDrive
from ...model.disk.hard_disk import HardDisk
from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import drive, drive_name
from ...model.files.description import Duration, PositiveSize, Rate, Spec, refusal
from ...model.files.description_errors import load_spec
from ...model.solid_state.drive import SolidState
from ...model.solid_state.standing_load import can_stand, stands

SHEETS = Path(__file__).with_suffix(".yaml")
HOST_S = 5e-6
"""Assumed: what the host takes from a completion to the next command in its place (driver, interrupt, benchmark)."""
_RANDOM, _IN_ORDER = 4096, 131072
_MEASURED = 12_000
_MEASURED_ON_DISK = 3_000
"""A hard disk is five hundred times as slow at random I/Os, and 3,000 of them tell a mean to 1 %."""
_OUTER_SPAN = 0.02
"""Share of a hard disk that counts as its outermost or innermost part: less than a zone of those simulated."""
LARGE_ERROR = math.log(1.3)
"""An error above this needs a stated reason."""
_SYNCED = 200
"""Writes that are followed by a flush."""
_SECTOR = 512
_BUFFERS = 4
"""The write buffer is filled so many times before anything is counted."""
_SHARES = {"read": 1.0, "write": 0.0, "70/30": 0.7}

Load = Literal["sequential read", "sequential write", "random read", "random write", "random 70/30"]


class SheetFigure(Spec):
    """One figure of a data sheet."""

    load: Load
    depth: int = Field(ge=1)
    block: PositiveSize | None = None
    """What was done, how many commands were outstanding, and their size."""
    state: Literal["fresh", "after", "outer", "inner"] | None = None
    """As of a drive in a scenario; "after" is in order, once the cache of one bit per cell is full. Reads are of a
    drive that was filled in order; writes in order too, and random ones go to a drive in its steady state. Of a hard
    disk: "outer" or "inner", where the head reads or writes in order, "outer" unless given; "after" of random writes
    once the media cache is full."""
    span: PositiveSize | None = None
    """Bytes of the drive that are reached; all unless given."""
    write_cache: bool | None = None
    """Of a hard disk: whether its write cache is on; as in the drive's file unless given."""
    rate: Rate | None = None
    iops: float | None = Field(default=None, gt=0)
    latency: Duration | None = Field(default=None, gt=0)
    """The figure: bytes/s, commands/s, or the mean time of a command in the drive (s)."""
    use: Literal["calibrate", "predict"]
    """Whether a number of the drive's file was taken from it."""
    reason: str | None = None
    """Why the model is off by more than 30 %, if it is: the mechanism that is missing."""

    @model_validator(mode="after")
    def _one_figure(self) -> Self:
        given = [name for name in ("rate", "iops", "latency") if getattr(self, name) is not None]
        if len(given) != 1:
            raise refusal(" and ".join(given) or "no figure", "expected: one of rate, iops and latency")
        return self

    @property
    def value(self) -> float:
        """What the sheet promises: bytes/s, commands/s, or seconds."""
        return self.rate or self.iops or self.latency or math.nan

    @property
    def unit(self) -> Literal["B/s", "1/s", "s"]:
        """Unit of the value."""
        return "B/s" if self.rate is not None else "1/s" if self.iops is not None else "s"

    @property
    def bytes(self) -> int:
        """Bytes of a command."""
        return self.block or (_RANDOM if self.load.startswith("random") else _IN_ORDER)


class DataSheet(Spec):
    """The figures of one drive."""

    source: str
    figures: tuple[SheetFigure, ...]
    """What the data sheet says."""


class DataSheets(Spec):
    """The figures of all drives, by their names in the catalogue."""

    drives: dict[str, DataSheet]
    """Data sheets, by the drive's name in the catalogue."""


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A figure of the sheet and of the model.

    Attributes
    ----------
    drive
        Name in the catalogue.
    figure
        The sheet's.
    model
        The model's, in the same unit.
    """

    drive: str
    figure: SheetFigure
    model: float

    @property
    def state(self) -> str:
        """What a solid-state drive had behind it, or which part of a hard disk was reached."""
        if isinstance(drive(self.drive), DriveSpec):
            return self.figure.state or ("all" if self.figure.load.startswith("random") else "outer")
        return self.figure.state or drive_state(self.figure)

    @property
    def error(self) -> float:
        """How far apart they are: |ln(model/sheet)|, about the relative error where it is small."""
        return abs(math.log(self.model / self.figure.value))


@lru_cache(maxsize=1)
def data_sheets() -> dict[str, DataSheet]:
    """The data sheets, by the drive's name in the catalogue."""
    return load_spec(DataSheets, SHEETS).drives


def compare(names: Iterable[str], watch: Callable[[int], None] | None = None) -> list[SheetCell]:
    """Simulate what the sheets of some drives promise.

    Parameters
    ----------
    names
        Of the catalogue.
    watch
        Called with the number of figures that are done.

    Raises
    ------
    InputError
        If there is no sheet of a drive.
    """
    cells: list[SheetCell] = []
    for given in names:
        name = drive_name(given)
        sheet = data_sheets().get(name)
        if sheet is None:
            raise InputError(f"drive {name!r}", "no data sheet", f"expected: {', '.join(data_sheets())}")
        for figure in sheet.figures:
            cells.append(SheetCell(name, figure, simulated(name, figure)))
            if watch is not None:
                watch(len(cells))
    return cells


def median_error(cells: Iterable[SheetCell], use: str) -> float | None:
    """Median of the errors of the figures of one use; None if there is none."""
    errors = [cell.error for cell in cells if cell.figure.use == use]
    return float(np.median(errors)) if errors else None


def drive_state(figure: SheetFigure) -> str:
    """What the simulated drive has behind it."""
    if figure.state == "fresh":
        return "fresh"
    random_writes = figure.load.startswith("random") and figure.load != "random read"
    return "steady" if random_writes else "sequential"


def simulated(name: str, figure: SheetFigure) -> float:
    """What the model gives for a figure, in its unit."""
    spec = drive(name)
    engine = Engine(0)
    writes = not figure.load.endswith("read")
    if isinstance(spec, DriveSpec):
        if figure.write_cache is not None:
            spec = spec.with_values(write_cache=figure.write_cache)
        if figure.state == "after":
            spec = spec.with_values(media_cache_filled=1.0)
        disk = SplitDrive(engine, spec, name) if spec.actuators > 1 else HardDisk(engine, spec, name)
        ignored, measured = _BUFFERS * spec.write_buffer // figure.bytes if writes else 0, _MEASURED_ON_DISK
        begin, span = _part(spec, figure)
        load = _Load(engine, disk, figure, begin, span)
    else:
        if figure.state == "after":
            spec = spec.with_values(slc_cache=0)
        device = SolidState(engine, spec, name, state=drive_state(figure))
        ignored, measured = _BUFFERS * spec.write_buffer // figure.bytes if writes else 0, _MEASURED
        if figure.load == "random write" and figure.depth > 1 and can_stand(device) and not spec.in_place:
            # A controller that is hardly faster than its flash fills the buffer only after many times its size.
            device.open_long_ago()
            stands(device, engine, 0.0, spec.interface_rate)
            ignored //= _BUFFERS
        load = _Load(engine, device, figure, 0, min(figure.span or spec.capacity, spec.capacity))
    seconds = load.run(max(2 * figure.depth, ignored), min(measured, _MEASURED))
    per_second = load.measured / seconds
    if figure.latency is not None:
        return figure.depth / per_second - HOST_S
    return per_second * figure.bytes if figure.rate is not None else per_second


def synced_write(name: str) -> float:
    """Seconds that a random write of 4 KiB and the flush after it take in the drive alone, one at a time (fsync).

    A solid-state drive is new (data sheets of desktop drives) if it has a cache of one bit per cell, and in its steady
    state otherwise; a hard disk has its write cache as shipped.
    """
    spec = drive(name)
    engine = Engine(0)
    device: HardDisk | SolidState
    if isinstance(spec, DriveSpec):
        device = HardDisk(engine, spec, name)
    else:
        device = SolidState(engine, spec, name, state="fresh" if spec.slc_cache else "steady")
    draw = np.random.default_rng(0)
    waited = 0.0
    for _ in range(_SYNCED):
        began = engine.now
        place = int(draw.integers(spec.capacity // _RANDOM)) * _RANDOM
        device.submit(Request(WRITE, place, _RANDOM, lambda _: device.flush(_nothing)))
        engine.run()
        waited += engine.now - began
        engine.run(until=engine.now + HOST_S)
    return waited / _SYNCED


def _nothing() -> None:
    """Nobody waits: the clock stops when the flush is over."""


def _part(spec: DriveSpec, figure: SheetFigure) -> tuple[int, int]:
    """First byte and number of bytes of a hard disk that a figure is about."""
    if figure.load.startswith("random"):
        return 0, min(figure.span or spec.capacity, spec.capacity)
    span = int(spec.capacity * _OUTER_SPAN) // figure.bytes * figure.bytes
    return (spec.capacity - span) // _SECTOR * _SECTOR if figure.state == "inner" else 0, span


class _Load:
    """Keeps commands at a drive, as a benchmark does."""

    def __init__(
        self, engine: Engine, device: HardDisk | SplitDrive | SolidState, figure: SheetFigure, begin: int, span: int
    ) -> None:
        self._engine = engine
        self._device = device
        self._bytes = figure.bytes
        self._depth = figure.depth
        self._random = figure.load.startswith("random")
        self._share = _SHARES[figure.load.split()[-1]]
        self._begin = begin
        self._places = span // self._bytes
        self.measured = 0
        self._draw = np.random.default_rng(0)
        self._next = 0
        self._done = 0
        self._wanted = 0
        self._over = engine.event()

    def run(self, ignored: int, measured: int) -> float:
        """Seconds that `measured` commands take, after `ignored` ones."""
        for _ in range(self._depth):
            self._submit()
        self._until(ignored)
        began = self._engine.now
        self.measured = measured
        self._until(ignored + measured)
        return self._engine.now - began

    def _until(self, count: int) -> None:
        self._wanted = count
        self._over = self._engine.event()
        self._engine.run(self._over)

    def _submit(self, _: object = None) -> None:
        if self._random:
            place = int(self._draw.integers(self._places))
        else:
            place = self._next
            self._next = (place + 1) % self._places
        op = READ if self._share == 1.0 or (self._share and self._draw.random() < self._share) else WRITE
        self._device.submit(Request(op, self._begin + place * self._bytes, self._bytes, self._completed))

    def _completed(self, request: Request) -> None:
        self._done += 1
        if self._done == self._wanted:
            self._over.succeed()
        self._engine.call_at(self._engine.now + HOST_S, self._submit)
