"""`raidsim drives`: what the catalogue of drives holds, and where each number comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...api.catalogue import DriveSpec, check, compare, data_sheets, drive_name, named_drive, open_trace, synced_write
from ...api.support.progress import progress_bar
from ...api.tables.drives import (
    catalogue_document,
    check_answer,
    check_document,
    drive_document,
    drives_answer,
    sheet_answer,
    sheet_document,
)
from ..support.terminal import WIDE, console_of, show


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
    show(drives_answer(name), console_of(WIDE))


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
    show(check_answer(f"{path.name} on {name}", found), console_of(WIDE))


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
    show(sheet_answer(cells, synced), console_of(WIDE))
