"""`raidsim drives`: what the catalogue of drives holds, and where each number comes from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from ...api.support.progress import progress_bar
from ...model.core.errors import InputError
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
from ...scenarios.traces.reading import open_trace
from ...validation.drives.check import DriveCheck, check
from ...validation.drives.demerit import Demerit
from ...validation.prediction.data_sheets import (
    LARGE_ERROR,
    SheetCell,
    compare,
    data_sheets,
    median_error,
    synced_write,
)
from ..support.table import Table
from ..tables.catalogue import entry_document, entry_table, makers_rate, wide_console

_NUMBERS = ("capacity", "rate", "access", "cache", "queue")
_WORDS = ("write cache", "cells", "interface")
"""Of a hard disk: media rates, average seek and half a revolution, buffer. Of a solid-state drive: the rate of its
interface, a read's time in flash and firmware, and the cache of one bit per cell."""
_USES = {"calibrate": "figures that the drives' numbers were taken from", "predict": "figures that none was taken from"}
_CELLS = {1: "one page at a time", 2: "MLC", 3: "TLC", 4: "QLC"}


def drives_command(
    name: Annotated[
        str | None,
        typer.Argument(help="One drive, by name, alias, model number or its file's path: every field with its source."),
    ] = None,
    sheet: Annotated[
        bool,
        typer.Option("--sheet", help="Compare what the data sheets say with what the model gives."),
    ] = False,
    check_trace: Annotated[
        Path | None,
        typer.Option("--check", metavar="TRACE", help="Replay a trace measured on such a drive: the model's demerit."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the drives in the catalogue, or everything about one of them."""
    if check_trace is not None:
        _check(name, check_trace, sheet, as_json)
        return
    if sheet:
        _compare(name, as_json)
        return
    if as_json:
        typer.echo(json.dumps(drive_document(name) if name is not None else catalogue_document()))
        return
    console = wide_console()
    if name is not None:
        spec, sources = named_drive(name)
        console.print(Text(_named(name, spec)))
        console.print(entry_table(sources))
        return
    console.print(_catalogue_table({known: drive(known) for known in drive_names()}))
    console.print(Text("raidsim drives NAME shows every number of a drive with its source."))


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
    """Return one drive, see :func:`~raidsim.cli.tables.catalogue.entry_document`; `InputError` if the catalogue does
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


def _check(name: str | None, path: Path, sheet: bool, as_json: bool) -> None:
    """Replay a measured trace on a drive, and print how far the response times are off."""
    if name is None:
        raise InputError("--check", "found it without a drive", "expected: raidsim drives NAME --check TRACE")
    if sheet:
        raise InputError("--check", "found it with --sheet", "expected: one of the two")
    spec, _ = named_drive(name)
    if not isinstance(spec, DriveSpec):
        raise InputError(f"drive {name!r}", "found a solid-state drive", "expected: a hard disk")
    found = check(spec, list(open_trace(path).measured()), str(path))
    if as_json:
        typer.echo(json.dumps(check_document(name, str(path), found), allow_nan=False))
        return
    console = wide_console()
    console.print(Text(f"{path.name} on {name}: {100 * found.hits:.0f} % of the reads were served by the buffer"))
    console.print(_check_table(found))


def _check_table(found: DriveCheck) -> Table:
    table = _table("", ("requests", "measured (ms)", "simulated (ms)", "demerit (ms)", "demerit", "per request"))
    for words, demerit in (("reads", found.reads), ("writes", found.writes), ("all", found.all)):
        if demerit is not None:
            table.add_row(
                words,
                f"{demerit.ios:,}",
                *(f"{1e3 * time_s:.3f}" for time_s in (demerit.measured_s, demerit.simulated_s, demerit.rms_s)),
                f"{100 * demerit.share:.1f} %",
                f"{100 * demerit.deviation_share:.1f} %",
            )
    return table


def _compare(name: str | None, as_json: bool) -> None:
    """Simulate what data sheets promise, of one drive or of all."""
    names = tuple(data_sheets()) if name is None else (drive_name(name),)
    total = sum(len(data_sheets()[each].figures) for each in names if each in data_sheets())
    with progress_bar("figures") as update:
        cells = compare(names, lambda done: update(done, total))
    synced = {each: synced_write(each) for each in dict.fromkeys(cell.drive for cell in cells)}
    if as_json:
        typer.echo(json.dumps(sheet_document(cells, synced)))
        return
    console = wide_console()
    console.print(_sheet_table(cells, synced))
    for use, words in _USES.items():
        error = median_error(cells, use)
        if error is not None:
            count = sum(cell.figure.use == use for cell in cells)
            console.print(Text(f"{words}: {count}, median error {100 * error:.0f} %"))
    for reason, drives in _reasons(cells).items():
        console.print(Text(f"off by more than 30 % ({', '.join(drives)}): {reason}"))


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
    table = _table("drive", (), "load", "state")
    for heading in ("block", "depth", "data sheet", "model", "ratio"):
        table.add_column(heading, justify="right")
    table.add_column("use")
    before = ""

    def end_of(name: str) -> None:
        """The last line of a drive: what fsync takes, which no sheet gives."""
        if name:
            time = format_duration(synced[name])
            table.add_row("", "random write and flush", "", "4 KiB", "1", "no figure", time, "", "")

    for cell in cells:
        if cell.drive != before:
            end_of(before)
        figure = cell.figure
        values = (_written(each, figure.unit) for each in (figure.value, cell.model))
        table.add_row(
            Text("" if cell.drive == before else cell.drive),
            figure.load,
            cell.state,
            format_size(figure.bytes),
            str(figure.depth),
            *values,
            f"{cell.model / figure.value:.2f}",
            figure.use,
        )
        before = cell.drive
    end_of(before)
    return table


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
    table = _table("drive", _NUMBERS, *_WORDS)
    classes: dict[str, list[str]] = {}
    for name, spec in specs.items():
        classes.setdefault(drive_class(spec), []).append(name)
    for of_class in sorted(classes, key=lambda each: (not specs[classes[each][0]].rotational, each)):
        table.add_section()
        table.add_row(Text(of_class, style="bold"))
        for name in sorted(classes[of_class], key=lambda each: (specs[each].capacity, each)):
            spec = specs[name]
            row = _disk_row(spec) if isinstance(spec, DriveSpec) else _flash_row(spec)
            table.add_row(Text(f"  {name}"), _capacity(spec), *row, Text(spec.interface))
    return table


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


def _table(first: str, numbers: tuple[str, ...], *words: str) -> Table:
    table = Table()
    table.add_column(first)
    for heading in numbers:
        table.add_column(heading, justify="right")
    for heading in words:
        table.add_column(heading)
    return table


def _capacity(spec: AnyDrive) -> str:
    """Capacity in the makers' decimal units."""
    if spec.capacity >= 10**12:
        return f"{spec.capacity / 1e12:.1f} TB" if spec.rotational else f"{spec.capacity / 1e12:.2f} TB"
    return f"{spec.capacity / 1e9:.0f} GB"
