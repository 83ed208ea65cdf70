"""`raidsim schema`: the format of scenario files, for editors and for other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...scenarios.documents.schema import document_schema
from ..support.write_file import write_file


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
