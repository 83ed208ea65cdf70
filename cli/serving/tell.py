"""`raidsim tell`: an operator's command to a running `raidsim serve`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...serve.ask import ask
from ...serve.commands import COMMANDS


def _usage(name: str) -> str:
    words = [f"[{each.name}]" if each.optional else each.name.upper() for each in COMMANDS[name][1]]
    return " ".join([name, *words])


def tell_command(
    control: Annotated[Path, typer.Argument(metavar="SOCKET", help="The server's --control.")],
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND...",
            help=f"One of: {'; '.join(f'{_usage(name)} ({what})' for name, (what, _) in COMMANDS.items())}.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the server's answer as it is.")] = False,
) -> None:
    """Tell a running server to fail, replace or hurt a drive, to check the array, or to say how it does."""
    name, *given = words
    if name not in COMMANDS:
        raise InputError("COMMAND", f"found {name!r}", f"expected: {', '.join(COMMANDS)}")
    wanted = COMMANDS[name][1]
    if len(given) > len(wanted):
        raise InputError(name, f"found {given[len(wanted)]!r} too many", f"expected: {_usage(name)}")
    asked = {"do": name, **{each.name: value for each, value in zip(wanted, given, strict=False)}}
    answer = ask(control, asked)
    if not answer.get("ok"):
        # The server's errors have the form of all others: place, found, expected.
        place, _, rest = str(answer.get("error", "no answer")).partition(": ")
        found, _, expected = rest.partition("; ")
        raise InputError(place, found, expected)
    typer.echo(
        json.dumps(answer) if as_json or name in ("status", "look") else f"{answer['at_s']:.3f} s: {answer['done']}"
    )
