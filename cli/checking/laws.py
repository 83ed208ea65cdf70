"""`raidsim laws`: draw scenarios at random, and find those that break a law of every machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console
from rich.text import Text

from ...api.support.files import write_whole
from ...api.support.progress import progress_bar
from ...api.validation import LAWS, Broken, Hunt, Tally, laws_named, open_kinds
from ..support.interrupts import interrupted_status

_WIDTH = 120


def laws_command(
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="Scenarios to draw.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same scenarios.")] = 0,
    names: Annotated[
        list[str] | None, typer.Option("--law", help="Check this law alone; repeatable. Default: all.")
    ] = None,
    shrink: Annotated[
        bool, typer.Option("--shrink/--no-shrink", help="Find the simplest scenario of each kind of violation.")
    ] = True,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Folder that gets a file for each kind of violation.")
    ] = None,
    known: Annotated[
        bool, typer.Option("--known/--no-known", help="Count kinds that are kept as open as broken, too.")
    ] = True,
    listed: Annotated[bool, typer.Option("--list", help="List the laws and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Draw scenarios at random, and find those that break a law of every machine."""
    chosen = laws_named(names or [])
    if listed:
        _list(as_json)
        return
    hunt = Hunt(chosen, count, seed)
    console = Console() if Console().is_terminal else Console(width=_WIDTH)
    interrupt: KeyboardInterrupt | None = None
    smallest: dict[str, Broken] = {}
    try:
        with progress_bar("laws") as progress:
            for broken in hunt.run(lambda done: progress(done, count)):
                if not as_json:
                    console.print(_line(broken))
        if shrink:
            smallest = _smallest(hunt)
    except KeyboardInterrupt as error:
        interrupt = error
    kinds = {kind: smallest.get(kind, found[0]) for kind, found in hunt.tally.kinds().items()}
    if keep is not None:
        _keep(keep, kinds.values())
    if as_json:
        typer.echo(json.dumps(_document(hunt.tally, seed, kinds, interrupt is not None)))
    else:
        _print(console, hunt.tally, kinds)
    if interrupt is not None:
        raise typer.Exit(interrupted_status(interrupt))
    if any(known or kind not in open_kinds() for kind in kinds):
        raise typer.Exit(1)


def _smallest(hunt: Hunt) -> dict[str, Broken]:
    kinds = hunt.tally.kinds()
    found = {}
    with progress_bar("making scenarios smaller") as progress:
        for number, (kind, broken) in enumerate(kinds.items()):
            found[kind] = hunt.smallest(broken[0])
            progress(number + 1, len(kinds))
    return found


def _list(as_json: bool) -> None:
    if as_json:
        fields = ("name", "statement", "applies", "tolerance")
        typer.echo(json.dumps([{field: getattr(law, field) for field in fields} for law in LAWS.values()]))
        return
    for law in LAWS.values():
        typer.echo(f"{law.name}: {law.statement}\n  applies to: {law.applies}\n  tolerance: {law.tolerance}\n")


def _line(broken: Broken) -> Text:
    text = Text(f"{broken.kind}: ", style="yellow")
    text.append(f"{broken.violation.said}; expected: {broken.violation.expected}", style="none")
    return text


def _print(console: Console, tally: Tally, kinds: dict[str, Broken]) -> None:
    opened = open_kinds()
    for kind, broken in kinds.items():
        console.print()
        times = len(tally.kinds()[kind])
        mark = ", known and open" if kind in opened else ""
        console.print(Text(f"{kind} ({times} {'violation' if times == 1 else 'violations'}{mark})", style="bold"))
        console.print(Text(f"{broken.violation.said}; expected: {broken.violation.expected}"))
        typer.echo(_yaml(broken.shown))
    refused = f", {tally.refused} refused" if tally.refused else ""
    checks = sum(tally.checked.values())
    found = f"{len(tally.broken)} violations of {len(kinds)} kinds" if kinds else "no law is broken"
    console.print(Text(f"{tally.drawn} scenarios{refused}, {checks} checks: {found}", style="bold"))


def _document(tally: Tally, seed: int, kinds: dict[str, Broken], interrupted: bool) -> dict[str, Any]:
    opened = open_kinds()
    return {
        "seed": seed,
        "drawn": tally.drawn,
        "refused": tally.refused,
        "interrupted": interrupted,
        "checks": tally.checked,
        "violations": [
            {"law": each.law, "kind": each.violation.kind, **_figures(each), "scenario": each.shown}
            for each in tally.broken
        ],
        "kinds": [
            {
                "kind": kind,
                "violations": len(tally.kinds()[kind]),
                "open": kind in opened,
                **_figures(each),
                "scenario": each.shown,
            }
            for kind, each in kinds.items()
        ],
    }


def _figures(broken: Broken) -> dict[str, str]:
    return {"said": broken.violation.said, "expected": broken.violation.expected}


def _yaml(data: dict[str, Any]) -> str:
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=_WIDTH, allow_unicode=True)


def _keep(folder: Path, found: Iterable[Broken]) -> None:
    """Write each kind as a file that :func:`raidsim.validation.laws.broken.kept` reads; one that is there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in found:
        path = folder / f"{each.kind.replace(': ', '-').replace(' ', '-')}.yaml"
        if path.exists():
            continue
        head = {"law": each.law, "kind": each.violation.kind, "status": "open"}
        reason = {"reason": f"said: {each.violation.said}; expected: {each.violation.expected}"}
        write_whole(path, _yaml({**head, **reason, "scenario": each.shown}))
