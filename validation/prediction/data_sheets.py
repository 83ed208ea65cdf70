"""What data sheets promise of solid-state drives, beside what the model of the drive gives.

The drive alone is simulated, with a host that keeps a number of commands at it and takes a fixed time from one to the
next, as in the makers' tests. The figures are in ``data_sheets.yaml``.
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
from ...model.drives.catalogue import drive
from ...model.files.description import PositiveSize, Rate, Spec, refusal
from ...model.files.description_errors import load_spec
from ...model.solid_state.drive import SolidState
from ...model.solid_state.spec import SolidStateSpec

SHEETS = Path(__file__).with_suffix(".yaml")
HOST_S = 5e-6
"""Assumed: what the host takes from a completion to the next command in its place (driver, interrupt, benchmark)."""
_RANDOM, _IN_ORDER = 4096, 131072
_MEASURED = 12_000
_BUFFERS = 4
"""The write buffer is filled so many times before anything is counted."""
_SHARES = {"read": 1.0, "write": 0.0, "70/30": 0.7}

Load = Literal["sequential read", "sequential write", "random read", "random write", "random 70/30"]


class SheetFigure(Spec):
    """One figure of a data sheet.

    Attributes
    ----------
    load, depth, block
        What was done, how many commands were outstanding, and their size.
    state
        As of a drive in a scenario; "after" is in order, once the cache of one bit per cell is full. Reads are of a
        drive that was filled in order; writes in order too, and random ones go to a drive in its steady state.
    span
        Bytes of the drive that are reached; all unless given.
    rate, iops
        The figure: bytes/s, or commands/s.
    use
        Whether a number of the drive's file was taken from it.
    """

    load: Load
    depth: int = Field(ge=1)
    block: PositiveSize | None = None
    state: Literal["fresh", "after"] | None = None
    span: PositiveSize | None = None
    rate: Rate | None = None
    iops: float | None = Field(default=None, gt=0)
    use: Literal["calibrate", "predict"]

    @model_validator(mode="after")
    def _one_figure(self) -> Self:
        if (self.rate is None) == (self.iops is None):
            raise refusal("rate and iops" if self.rate else "neither rate nor iops", "allowed: one of them")
        return self

    @property
    def value(self) -> float:
        """What the sheet promises: bytes/s, or commands/s."""
        return self.rate or self.iops or math.nan

    @property
    def bytes(self) -> int:
        """Bytes of a command."""
        return self.block or (_RANDOM if self.load.startswith("random") else _IN_ORDER)


class DataSheet(Spec):
    """The figures of one drive."""

    source: str
    figures: tuple[SheetFigure, ...]


class DataSheets(Spec):
    """The figures of all drives, by their names in the catalogue."""

    drives: dict[str, DataSheet]


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A figure beside what the model gives.

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
        """What the drive had behind it: "fresh", "sequential", "steady", or "after" the cache of one bit per cell."""
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
    for name in names:
        sheet = data_sheets().get(name)
        if sheet is None:
            raise InputError(f"drive {name!r}", "no data sheet", f"allowed: {', '.join(data_sheets())}")
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
    assert isinstance(spec, SolidStateSpec)
    random = figure.load.startswith("random")
    writes = not figure.load.endswith("read")
    if figure.state == "after":
        spec = spec.with_values(slc_cache=0)
    engine = Engine(0)
    device = SolidState(engine, spec, name, state=drive_state(figure))
    load = _Load(engine, device, figure, random)
    ignored = _BUFFERS * spec.write_buffer // figure.bytes if writes else 0
    seconds = load.run(max(2 * figure.depth, ignored), _MEASURED)
    per_second = _MEASURED / seconds
    return per_second * figure.bytes if figure.rate is not None else per_second


class _Load:
    """Keeps commands at a drive, as a benchmark does."""

    def __init__(self, engine: Engine, device: SolidState, figure: SheetFigure, random: bool) -> None:
        self._engine = engine
        self._device = device
        self._bytes = figure.bytes
        self._depth = figure.depth
        self._random = random
        self._share = _SHARES[figure.load.split()[-1]]
        self._places = min(figure.span or device.capacity, device.capacity) // self._bytes
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
        self._device.submit(Request(op, place * self._bytes, self._bytes, self._completed))

    def _completed(self, request: Request) -> None:
        self._done += 1
        if self._done == self._wanted:
            self._over.succeed()
        self._engine.call_at(self._engine.now + HOST_S, self._submit)
