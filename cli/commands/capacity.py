"""`raidsim capacity`: how much an array holds, what it survives, and what it costs."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from ...api.capacity import capacity
from ..support.terminal import show

_MOST_DISKS = 1000


def capacity_command(
    level: Annotated[
        str, typer.Argument(help="raid0, raid1, raid5, raid6, raid10, raid50, raid60 ...; raidz2, mirrors, ...")
    ],
    drives: Annotated[int, typer.Argument(min=1, max=_MOST_DISKS, help="Number of drives, spares among them.")],
    size: Annotated[str | None, typer.Option("--size", help="Of each drive: 18TB.")] = None,
    drive: Annotated[str | None, typer.Option("--drive", metavar="MODEL", help="A drive of the catalogue.")] = None,
    spares: Annotated[int, typer.Option("--spares", min=0, help="Drives that stand by.")] = 0,
    groups: Annotated[int | None, typer.Option("--groups", min=1, help="raid50, raid60: inner arrays.")] = None,
    file_system: Annotated[
        Literal["ext4", "xfs", "none"] | None,
        typer.Option("--file-system", help="What is made on the array; default: ext4. A pool has its own."),
    ] = None,
    fill: Annotated[str, typer.Option("--fill", metavar="SHARE", help="How full it may get.")] = "85%",
    price: Annotated[float | None, typer.Option("--price", min=0, help="Of one drive, in any currency.")] = None,
    performance: Annotated[
        bool, typer.Option("--performance", help="Simulate random I/Os too: 4 KiB, 70 % reads, all drives busy.")
    ] = False,
    written: Annotated[
        str | None, typer.Option("--written", metavar="SIZE", help="Bytes a day, for the endurance of flash: 2TB.")
    ] = None,
    watts: Annotated[
        float | None,
        typer.Option("--watts", min=0, help="Of one drive, in place of the catalogue's figures."),
    ] = None,
    energy_price: Annotated[
        float | None, typer.Option("--energy-price", min=0, help="Of a kWh, in the currency of the price.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Count what an array holds after parity, spares, md's metadata, the file system and a fill limit."""
    found = capacity(
        level,
        drives,
        size=size,
        drive=drive,
        spares=spares,
        groups=groups,
        file_system=file_system,
        fill=fill,
        price=price,
        performance=performance,
        written=written,
        watts=watts,
        energy_price=energy_price,
    )
    if as_json:
        typer.echo(json.dumps(found.document()))
    else:
        show(found.answer())
