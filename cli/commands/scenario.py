"""`raidsim scenario` and `raidsim schema`: the scenarios that come with raidsim, and the format of their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import InputError
from ...api.answer.tree import Column, Table
from ...api.scenario import (
    PREFIX,
    changed_text,
    document_file,
    document_schema,
    library_names,
    library_summary,
    parse_layer,
    plain_text,
    read_document,
    read_text,
    written,
)
from ..support.files import write_file
from ..support.options import SetOption
from ..support.terminal import show


def schema_command(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
) -> None:
    """Print the JSON Schema (draft 2020-12) of scenario files."""
    text = json.dumps(document_schema(), indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_file(output, text, force)


def scenario_command(
    scenario: Annotated[
        str | None, typer.Argument(help="A scenario of the library, or a file (YAML); all of the library without it.")
    ] = None,
    sets: SetOption = None,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="With every shorthand written out and every default filled in.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the scenarios of the library; show one, with changes, or write it to a file of your own."""
    if scenario is None:
        _check_alone({"--set": sets, "--resolved": resolved, "--output": output, "--force": force})
        _list(as_json)
        return
    if as_json:
        if output is not None:
            raise InputError("--json", "found together with --output", "expected: one of the two")
        typer.echo(json.dumps(_document(scenario, sets, resolved), allow_nan=False))
        return
    text = _resolved_text(scenario, sets) if resolved else _text(scenario, sets, output)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_file(output, text, force)
    typer.echo(f"written: {output}", err=True)


def _check_alone(given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value:
            raise InputError(option, "found without a scenario", f"allowed with a file or {', '.join(library_names())}")


def _list(as_json: bool) -> None:
    scenarios = {name: library_summary(name) for name in library_names()}
    if as_json:
        listed = [{"name": name, "summary": summary} for name, summary in scenarios.items()]
        typer.echo(json.dumps({"scenarios": listed}))
        return
    show(Table("", (Column("scenario", whole=True), Column("what it is")), list(scenarios.items())))


def _document(scenario: str, sets: list[str] | None, resolved: bool) -> dict[str, Any]:
    """The document, or with `resolved` the whole scenario in SI units."""
    document = read_document(scenario, sets or ())
    spec = document.spec()
    if resolved:
        return {"name": document.name, "scenario": spec.model_dump(mode="json")}
    return {"name": document.name, "document": document.data}


def _resolved_text(scenario: str, sets: list[str] | None) -> str:
    document = read_document(scenario, sets or ())
    changes = "".join(f"\n--set {text}" for text in sets or ())
    return plain_text(written(document.spec()), f"{document.name} with every default filled in{changes}")


def _text(scenario: str, sets: list[str] | None, output: Path | None) -> str:
    """The file with its changes; if it is to stand where it would not find what it extends, merged with that."""
    text, document = changed_text(scenario, sets or ())
    document.spec()
    name, path = document_file(scenario)
    below = parse_layer(read_text(path, name), name).data.get("extends")
    if output is None or not isinstance(below, str) or below.startswith(PREFIX):
        return text
    if output.absolute().parent.resolve() == path.absolute().parent.resolve():
        return text
    changes = "".join(f"\n--set {option}" for option in sets or ())
    return plain_text(document.data, f"{document.name}, merged with what it extends{changes}")
