"""`raidsim drives`: what the catalogue of drives holds, and where each number comes from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import AnyDrive, drive, drive_names, drive_sources
from ...model.files.quantities import format_rate, format_size
from ...model.solid_state.spec import SolidStateSpec
from ...validation.prediction.data_sheets import SheetCell, compare, data_sheets, median_error
from ..support.progress import progress_bar
from ..tables.catalogue import entry_document, entry_table, makers_rate, wide_console

_HARD_DISKS = ("capacity", "rpm", "outer", "inner", "seek", "cache", "queue")
_SOLID_STATE = ("capacity", "spare", "dies", "read", "program", "SLC cache", "queues", "kept without power")
_USES = {"calibrate": "figures that the drives' numbers were taken from", "predict": "figures that none was taken from"}
_CELLS = {1: "MLC, page by page", 2: "MLC", 3: "TLC", 4: "QLC"}


def drives_command(
    name: Annotated[str | None, typer.Argument(help="One drive: every field with its source.")] = None,
    sheet: Annotated[
        bool,
        typer.Option("--sheet", help="Of solid-state drives: what the data sheet says, beside what the model gives."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the drives in the catalogue, or everything about one of them."""
    if sheet:
        _compare(name, as_json)
        return
    if as_json:
        typer.echo(json.dumps(drive_document(name) if name is not None else catalogue_document()))
        return
    console = wide_console()
    if name is not None:
        console.print(entry_table(drive_sources(name)))
        return
    specs = {known: drive(known) for known in drive_names()}
    console.print(_hard_disks({known: spec for known, spec in specs.items() if isinstance(spec, DriveSpec)}))
    console.print(_solid_state({known: spec for known, spec in specs.items() if isinstance(spec, SolidStateSpec)}))


def catalogue_document() -> dict[str, Any]:
    """Return ``{"drives": {name: fields}}``, fields in SI units (bytes, seconds, bytes/s, turns per minute).

    The field `rotational` tells hard disks from solid-state drives.
    """
    specs = {name: drive(name) for name in drive_names()}
    found = {name: {"rotational": spec.rotational, **spec.model_dump(mode="json")} for name, spec in specs.items()}
    return {"drives": found}


def drive_document(name: str) -> dict[str, Any]:
    """Return one drive, see :func:`~raidsim.cli.tables.catalogue.entry_document`; `InputError` if the catalogue does
    not hold it.
    """
    values = drive(name).model_dump(mode="json")
    known = next(known for known in drive_names() if known.casefold() == name.casefold())
    return entry_document(known, values, drive_sources(name))


def sheet_document(cells: Sequence[SheetCell]) -> dict[str, Any]:
    """Return ``figures``, each with the sheet's value and the model's (bytes/s or commands/s), and ``median_error``.

    The error of a figure is |ln(model/sheet)|; the medians are by ``use``, null where there is none.
    """
    figures = [
        {
            "drive": cell.drive,
            "load": cell.figure.load,
            "state": cell.figure.state,
            "depth": cell.figure.depth,
            "block": cell.figure.bytes,
            "unit": "B/s" if cell.figure.rate is not None else "1/s",
            "sheet": cell.figure.value,
            "model": cell.model,
            "use": cell.figure.use,
        }
        for cell in cells
    ]
    return {"figures": figures, "median_error": {use: median_error(cells, use) for use in _USES}}


def _compare(name: str | None, as_json: bool) -> None:
    """Simulate what data sheets promise, of one drive or of all."""
    known = next((each for each in data_sheets() if name is not None and each.casefold() == name.casefold()), name)
    names = tuple(data_sheets()) if known is None else (known,)
    total = sum(len(data_sheets()[each].figures) for each in names if each in data_sheets())
    with progress_bar("figures") as update:
        cells = compare(names, lambda done: update(done, total))
    if as_json:
        typer.echo(json.dumps(sheet_document(cells)))
        return
    console = wide_console()
    console.print(_sheet_table(cells))
    for use, words in _USES.items():
        error = median_error(cells, use)
        if error is not None:
            count = sum(cell.figure.use == use for cell in cells)
            console.print(Text(f"{words}: {count}, median error {100 * error:.0f} %"))


def _sheet_table(cells: Sequence[SheetCell]) -> Table:
    table = _table("solid-state drive", (), "load", "state")
    for heading in ("block", "depth", "data sheet", "model", "ratio"):
        table.add_column(heading, justify="right")
    table.add_column("use")
    before = ""
    for cell in cells:
        figure = cell.figure
        values = (
            makers_rate(each) if figure.rate is not None else f"{each:,.0f}/s" for each in (figure.value, cell.model)
        )
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
    return table


def _hard_disks(specs: dict[str, DriveSpec]) -> Table:
    table = _table("hard disk", _HARD_DISKS, "interface")
    for name, spec in specs.items():
        table.add_row(
            Text(name),
            _capacity(spec),
            f"{spec.rotation:.0f}",
            format_rate(spec.outer_media_rate),
            format_rate(spec.inner_media_rate),
            f"{spec.seek_average * 1e3:.1f} ms",
            format_size(spec.cache),
            str(spec.queue_depth),
            Text(spec.interface),
        )
    return table


def _solid_state(specs: dict[str, SolidStateSpec]) -> Table:
    table = _table("solid-state drive", _SOLID_STATE, "flash", "interface")
    for name, spec in specs.items():
        table.add_row(
            Text(name),
            _capacity(spec),
            f"{100 * (spec.flash / spec.capacity - 1):.0f} %",
            str(spec.dies),
            f"{spec.read_time * 1e6:.0f} us",
            f"{spec.program_time * 1e6:.0f} us",
            f"{spec.slc_cache / 1e9:.0f} GB" if spec.slc_cache else "",
            f"{spec.queues} x {spec.queue_depth}" if spec.queues > 1 else str(spec.queue_depth),
            "yes" if spec.power_loss_protection else "no",
            _CELLS[spec.bits_per_cell],
            Text(spec.interface),
        )
    return table


def _table(first: str, numbers: tuple[str, ...], *words: str) -> Table:
    table = Table(box=SIMPLE_HEAD)
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
