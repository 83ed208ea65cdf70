"""`raidsim conformance`: the model compared with recorded behavior of real programs, case by case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...api.support.progress import progress_text
from ...api.tables.conformance import conformance_answer
from ...api.validation import DEFAULT_TRUTH, KINDS, check_kind, document, files_not_checked, kinds_to_run, load_truth
from ..support.terminal import show


def conformance_command(
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", help=f"{', '.join(KINDS)}; repeat for several. Default: all.")
    ] = None,
    truth: Annotated[
        Path, typer.Option("--truth", help="Folder of recorded truth.", show_default="what comes with raidsim")
    ] = DEFAULT_TRUTH,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Compare the model with recorded behavior of real programs, case by case."""
    recorded = load_truth(truth)
    results = []
    for kind in kinds_to_run(kinds or [], recorded, truth):
        with progress_text(kind.name) as progress:
            results.append(check_kind(kind, recorded.by_kind[kind.name], progress))
    files = files_not_checked(recorded)
    if as_json:
        typer.echo(json.dumps(document(results, files)))
    else:
        show(conformance_answer(results, files))
    compared = any(result.cases for result in results)
    if not compared or not all(KINDS[result.kind].reached(result.cases, result.matched) for result in results):
        raise typer.Exit(1)
