"""`raidsim inspect`: a scenario from this machine, or from what its tools have printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...api.inspection import MOST_CHARACTERS, Source, decoded, inspect_sources, read_source
from ..support.files import write_file

_STDIN = "-"
_OWN_NAME = "this machine"

Files = list[Path] | None


def _option(kind: str, what: str) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(f"--{kind}", metavar="FILE", help=f"What {what} printed; repeatable.")
    return found


def inspect_command(
    files: Annotated[
        Files, typer.Argument(metavar="FILE", help="Printed output of any kind; - is standard input.")
    ] = None,
    mdstat: Annotated[Files, _option("mdstat", "/proc/mdstat")] = None,
    mdadm: Annotated[Files, _option("mdadm", "mdadm --detail or --examine")] = None,
    lsblk: Annotated[Files, _option("lsblk", "lsblk, as a table or with -J or -P,")] = None,
    smartctl: Annotated[Files, _option("smartctl", "smartctl -j -i")] = None,
    storcli: Annotated[Files, _option("storcli", "storcli or perccli, with or without J,")] = None,
    megacli: Annotated[Files, _option("megacli", "MegaCli -LDInfo, -PDList ...")] = None,
    cpuinfo: Annotated[Files, _option("cpuinfo", "/proc/cpuinfo")] = None,
    meminfo: Annotated[Files, _option("meminfo", "/proc/meminfo")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Of the scenario; default: the first file's.")] = None,
    ignore_solid_state: Annotated[
        bool, typer.Option("--ignore-solid-state", help="Leave out arrays of drives without moving parts.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.yaml", help="Write the scenario there.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Make a scenario from this machine, or from what mdadm, lsblk, smartctl, storcli ... printed."""
    given: list[tuple[Path, str | None]] = [(path, None) for path in files or []]
    kinds = {
        "mdstat": mdstat,
        "mdadm": mdadm,
        "lsblk": lsblk,
        "smartctl": smartctl,
        "storcli": storcli,
        "megacli": megacli,
        "cpuinfo": cpuinfo,
        "meminfo": meminfo,
    }
    given += [(path, kind) for kind, paths in kinds.items() for path in paths or []]
    if [str(path) for path, _ in given].count(_STDIN) > 1:
        raise InputError(_STDIN, "found twice", "expected: standard input once")
    sources = [_source(path, kind) for path, kind in given]
    made = inspect_sources(
        sources, name or _name(given), ignore_solid_state, lambda note: typer.echo(f"note: {note}", err=True)
    )
    if output is not None:
        write_file(output, made.text, force)
    if as_json:
        found = made.found
        document = {"document": found.document, "found": found.found, "assumed": found.assumed, "notes": made.notes}
        typer.echo(json.dumps(document, allow_nan=False))
    elif output is None:
        typer.echo(made.text, nl=False)


def _name(given: list[tuple[Path, str | None]]) -> str:
    stem = given[0][0].stem if given else _OWN_NAME
    return stem if stem not in ("", _STDIN) else "inspected machine"


def _source(path: Path, kind: str | None) -> Source:
    if str(path) != _STDIN:
        return read_source(path, kind)
    content = sys.stdin.buffer.read(4 * MOST_CHARACTERS + 1)
    return Source("<stdin>", decoded(content, "<stdin>"), kind)
