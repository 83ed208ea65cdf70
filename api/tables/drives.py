"""What the catalogue of drives tells: all drives, their data sheets next to the model, and a measured trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import (
    AnyDrive,
    drive,
    drive_aliases,
    drive_name,
    drive_names,
    is_drive_file,
    named_drive,
)
from ...model.drives.search import drive_class
from ...model.files.quantities import format_duration, format_size
from ...model.solid_state.spec import SolidStateSpec
from ...validation.drives.check import DriveCheck
from ...validation.drives.demerit import Demerit
from ...validation.prediction.data_sheets import LARGE_ERROR, SheetCell, median_error
from ..answer.numbers import COUNT, PERCENTS, fixed
from ..answer.tree import RULE, Answer, Column, Part, Row, Table, Words, lines
from .catalogue import entry_document, entry_table, makers_rate

_COLUMNS = (
    Column("drive"),
    *(Column(name, show=str) for name in ("capacity", "rate", "access", "cache", "queue")),
    *map(Column, ("write cache", "cells", "interface")),
)
"""Of a hard disk: media rates, average seek and half a revolution, buffer. Of a solid-state drive: the rate of its
interface, a read's time in flash and firmware, and the cache of one bit per cell."""
_USES = {"calibrate": "figures that the drives' numbers were taken from", "predict": "figures that none was taken from"}
_CELLS = {1: "one page at a time", 2: "MLC", 3: "TLC", 4: "QLC"}


def drives_answer(name: str | None = None) -> Answer:
    """All drives, or every number of one of them with its source."""
    if name is None:
        more = Words("raidsim drives NAME shows every number of a drive with its source.")
        return Answer("", [_catalogue_table({known: drive(known) for known in drive_names()}), more])
    spec, sources = named_drive(name)
    return Answer("", [Words(_named(name, spec)), entry_table(sources)])


def catalogue_document() -> dict[str, Any]:
    """Return ``{"drives": {name: fields}}``, fields in SI units (bytes, seconds, bytes/s, turns per minute).

    The field `rotational` tells hard disks from solid-state drives, `class` is the group that the table lists it in,
    and `aliases` are its further names.
    """
    specs = {name: drive(name) for name in drive_names()}
    return {
        "drives": {
            name: {
                "rotational": spec.rotational,
                "class": drive_class(spec),
                "aliases": list(drive_aliases(name)),
                **spec.model_dump(mode="json"),
            }
            for name, spec in specs.items()
        }
    }


def drive_document(name: str) -> dict[str, Any]:
    """Return one drive, see :func:`~raidsim.api.tables.catalogue.entry_document`; `InputError` if the catalogue does
    not hold it.
    """
    spec, sources = named_drive(name)
    return entry_document(name if is_drive_file(name) else drive_name(name), spec.model_dump(mode="json"), sources)


def check_document(name: str, trace: str, found: DriveCheck) -> dict[str, Any]:
    """Return the demerits of ``all``, ``reads`` and ``writes`` (null where there are none), times in seconds.

    ``demerit`` is the root mean square of the distance between the distributions of response times over the measured
    mean; ``deviation`` the mean absolute difference of a request over the same.
    """

    def part(demerit: Demerit | None) -> dict[str, Any] | None:
        if demerit is None:
            return None
        return {
            "ios": demerit.ios,
            "measured_mean_s": demerit.measured_s,
            "simulated_mean_s": demerit.simulated_s,
            "rms_s": demerit.rms_s,
            "demerit": demerit.share,
            "deviation": demerit.deviation_share,
        }

    parts = {"all": part(found.all), "reads": part(found.reads), "writes": part(found.writes)}
    return {"drive": name, "trace": trace, **parts, "buffer_hits": found.hits}


def sheet_document(cells: Sequence[SheetCell], synced: dict[str, float]) -> dict[str, Any]:
    """Return ``figures``, each with the sheet's value and the model's (in its ``unit``), and ``median_error``.

    ``fsync`` is what a random write of 4 KiB and a flush take (s), one after the other; no sheet gives it, so ``sheet``
    is null. The error of a figure is |ln(model/sheet)|; the medians are by ``use``, null where there is none.
    """
    figures = [
        {
            "drive": cell.drive,
            "load": cell.figure.load,
            "state": cell.figure.state,
            "depth": cell.figure.depth,
            "block": cell.figure.bytes,
            "unit": cell.figure.unit,
            "sheet": cell.figure.value,
            "model": cell.model,
            "use": cell.figure.use,
            "reason": cell.figure.reason,
        }
        for cell in cells
    ]
    return {
        "figures": figures,
        "fsync": [{"drive": name, "unit": "s", "sheet": None, "model": value} for name, value in synced.items()],
        "median_error": {use: median_error(cells, use) for use in _USES},
    }


def check_answer(drive_and_trace: str, found: DriveCheck) -> Answer:
    """How far the response times of a replayed trace are off."""
    columns = [Column(""), Column("requests", show=COUNT)]
    columns += [Column(name, "ms", fixed(3), 1e3) for name in ("measured", "simulated", "demerit")]
    columns += [Column(name, show=PERCENTS, scale=100.0) for name in ("demerit", "per request")]
    rows = [
        (words, each.ios, each.measured_s, each.simulated_s, each.rms_s, each.share, each.deviation_share)
        for words, each in (("reads", found.reads), ("writes", found.writes), ("all", found.all))
        if each is not None
    ]
    hits = f"{drive_and_trace}: {100 * found.hits:.0f} % of the reads were served by the buffer"
    return Answer("", [Words(hits), Table("", columns, rows)])


def sheet_answer(cells: Sequence[SheetCell], synced: dict[str, float]) -> Answer:
    """What data sheets promise, and what the model gives."""
    parts: list[Part] = [_sheet_table(cells, synced)]
    for use, words in _USES.items():
        error = median_error(cells, use)
        if error is not None:
            count = sum(cell.figure.use == use for cell in cells)
            parts.append(Words(f"{words}: {count}, median error {100 * error:.0f} %"))
    reasons = _reasons(cells).items()
    return Answer(
        "", [*parts, *lines(f"off by more than 30 % ({', '.join(drives)}): {reason}" for reason, drives in reasons)]
    )


def _reasons(cells: Sequence[SheetCell]) -> dict[str, list[str]]:
    """The stated reasons of large errors, each with the drives that it holds for."""
    found: dict[str, list[str]] = {}
    for cell in cells:
        if cell.error > LARGE_ERROR:
            drives = found.setdefault(cell.figure.reason or "no reason is known", [])
            if cell.drive not in drives:
                drives.append(cell.drive)
    return found


def _sheet_table(cells: Sequence[SheetCell], synced: dict[str, float]) -> Table:
    columns = [*map(Column, ("drive", "load", "state"))]
    columns += [Column(name, show=str) for name in ("block", "depth", "data sheet", "model", "ratio")]
    return Table("", [*columns, Column("use")], list(_sheet_rows(cells, synced)))


def _sheet_rows(cells: Sequence[SheetCell], synced: dict[str, float]) -> Iterator[Row]:
    for place, cell in enumerate(cells):
        figure, last = cell.figure, place + 1 == len(cells) or cells[place + 1].drive != cell.drive
        values = (_written(each, figure.unit) for each in (figure.value, cell.model))
        name = "" if place and cells[place - 1].drive == cell.drive else cell.drive
        head = (name, figure.load, cell.state, format_size(figure.bytes), str(figure.depth))
        yield *head, *values, f"{cell.model / figure.value:.2f}", figure.use
        if last:  # what fsync takes, which no sheet gives
            time = format_duration(synced[cell.drive])
            yield "", "random write and flush", "", "4 KiB", "1", "no figure", time, "", ""


def _written(value: float, unit: str) -> str:
    """A figure with its unit."""
    if unit == "B/s":
        return makers_rate(value)
    return f"{value:,.0f}/s" if unit == "1/s" else format_duration(value)


def _named(name: str, spec: AnyDrive) -> str:
    """A drive's name, class and aliases, in a line."""
    if is_drive_file(name):
        return f"{name}: {drive_class(spec)}"
    aliases = drive_aliases(name)
    also = f"; also called {', '.join(aliases)}" if aliases else ""
    return f"{drive_name(name)}: {drive_class(spec)}{also}"


def _catalogue_table(specs: dict[str, AnyDrive]) -> Table:
    """All drives, grouped by class: hard disks first, in each class by capacity."""
    classes: dict[str, list[str]] = {}
    for name, spec in specs.items():
        classes.setdefault(drive_class(spec), []).append(name)
    rows: list[Row] = []
    for of_class in sorted(classes, key=lambda each: (not specs[classes[each][0]].rotational, each)):
        rows += [RULE, (of_class,)]
        for name in sorted(classes[of_class], key=lambda each: (specs[each].capacity, each)):
            spec = specs[name]
            row = _disk_row(spec) if isinstance(spec, DriveSpec) else _flash_row(spec)
            rows.append((f"  {name}", _capacity(spec), *row, spec.interface))
    return Table("", _COLUMNS, rows)


def _disk_row(spec: DriveSpec) -> tuple[str, ...]:
    """What the table shows of a hard disk, between capacity and interface."""
    rates = f"{spec.outer_media_rate / 1e6:.0f} to {spec.inner_media_rate / 1e6:.0f} MB/s"
    access = spec.seek_average + 30.0 / spec.rotation
    shipped = "on" if spec.write_cache else "off"
    return rates, f"{access * 1e3:.1f} ms", format_size(spec.cache), str(spec.queue_depth), shipped, ""


def _flash_row(spec: SolidStateSpec) -> tuple[str, ...]:
    """What the table shows of a solid-state drive, between capacity and interface."""
    queues = f"{spec.queues} x {spec.queue_depth}" if spec.queues > 1 else str(spec.queue_depth)
    cells = "overwritten in place" if spec.in_place else _CELLS[spec.bits_per_cell]
    cached = f"{spec.slc_cache / 1e9:.0f} GB" if spec.slc_cache else ""
    return (
        makers_rate(spec.interface_rate),
        f"{(spec.read_time + spec.read_overhead) * 1e6:.0f} us",
        cached,
        queues,
        "",
        cells,
    )


def _capacity(spec: AnyDrive) -> str:
    """Capacity in the makers' decimal units."""
    if spec.capacity >= 10**12:
        return f"{spec.capacity / 1e12:.1f} TB" if spec.rotational else f"{spec.capacity / 1e12:.2f} TB"
    return f"{spec.capacity / 1e9:.0f} GB"
