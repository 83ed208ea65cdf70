"""The arguments that all commands on scenarios share."""

from __future__ import annotations

from typing import Annotated

import typer

ScenarioArgument = Annotated[
    str, typer.Argument(help="A scenario file (YAML), the name of a library scenario, or - for stdin.")
]
"""For :func:`raidsim.scenarios.documents.document.read_document`."""

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change the scenario: depth=32, layout=raid6, machine.memory=8GiB; repeatable.",
        metavar="PATH=VALUE",
    ),
]
"""For the same function's `sets`; None without the option."""
