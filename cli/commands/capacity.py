"""`raidsim capacity`: how much an array holds, what it survives, and what it costs."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from ...api.run import run
from ...api.scenario import Scenario
from ...model.core.errors import InputError
from ...model.drives.catalogue import drive as catalogued
from ...model.drives.power import watts as drive_watts
from ...model.files.quantities import parse_fraction, parse_size
from ...model.layouts import layout_for
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.advice.endurance import Endurance, endurance
from ...scenarios.description.workloads import MOST_OUTSTANDING
from ...scenarios.designs.capacity import CHUNK, DATA_OFFSET, PlannedPower, capacity_plan
from ..tables.capacity import print_capacity, print_endurance, print_power

_MOST_DISKS = 1000
_USERS_PER_DRIVE = 128
"""As many as a load curve measures the saturation with."""


def capacity_command(
    level: Annotated[str, typer.Argument(help="raid0, raid1, raid5, raid6, raid10, raid50, raid60 ...")],
    drives: Annotated[int, typer.Argument(min=1, max=_MOST_DISKS, help="Number of drives, spares among them.")],
    size: Annotated[str | None, typer.Option("--size", help="Of each drive: 18TB.")] = None,
    drive: Annotated[str | None, typer.Option("--drive", metavar="MODEL", help="A drive of the catalogue.")] = None,
    spares: Annotated[int, typer.Option("--spares", min=0, help="Drives that stand by.")] = 0,
    groups: Annotated[int | None, typer.Option("--groups", min=1, help="raid50, raid60: inner arrays.")] = None,
    file_system: Annotated[
        Literal["ext4", "xfs", "none"], typer.Option("--file-system", help="What is made on the array.")
    ] = "ext4",
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
    if (size is None) == (drive is None):
        raise InputError("--size", "found both --size and --drive" if size else "missing", "expected --size or --drive")
    if performance and drive is None:
        raise InputError(
            "--performance", "found it without --drive", "expected: a drive of the catalogue: --drive MODEL"
        )
    if written is not None and drive is None:
        raise InputError("--written", "found it without --drive", "expected: a drive of the catalogue: --drive MODEL")
    bytes_each = catalogued(drive).capacity if drive is not None else parse_size(size, "--size")
    plan = capacity_plan(
        level,
        drives,
        bytes_each,
        spares=spares,
        groups=groups,
        file_system=file_system,
        fill=parse_fraction(fill, "--fill"),
        price=price,
    )
    lasting = None if written is None else _endurance(level, drives - spares, str(drive), groups, written)
    power = _power(drives, spares, drive, watts, energy_price)
    iops = _random_iops(level, drives, str(drive), spares, groups) if performance else None
    if as_json:
        told = {**dataclasses.asdict(plan), "cost_per_tb": plan.cost_per_tb, "random_iops": iops}
        told["cost_per_iops"] = None if plan.cost is None or iops is None else plan.cost / iops
        told["power"] = None if power is None else power.document()
        told["endurance"] = None if lasting is None else dataclasses.asdict(lasting)
        typer.echo(json.dumps(told))
    else:
        print_capacity(Console(highlight=False), level, bytes_each, plan, iops)
        if power is not None:
            print_power(Console(highlight=False), power, str(drive))
        if written is not None:
            print_endurance(Console(highlight=False), written, lasting)


def _endurance(level: str, members: int, model: str, groups: int | None, written: str) -> Endurance | None:
    """How long the drives last; None if their data sheet gives no endurance."""
    spec = catalogued(model)
    if not isinstance(spec, SolidStateSpec):
        raise InputError("--written", f"found it with {model}, a hard disk", "expected: a solid-state drive")
    a_day = parse_size(written, "--written")
    if a_day <= 0:
        raise InputError("--written", f"found {written}", "expected: more than 0 bytes a day")
    layout = layout_for(level, members, CHUNK, spec.capacity - DATA_OFFSET, groups=groups)
    return endurance(layout, spec, a_day)


def _power(
    drives: int, spares: int, model: str | None, watts: float | None, energy_price: float | None
) -> PlannedPower | None:
    """Power of all drives, hot spares idle; None if nobody asks for it: neither a drive nor its power is given."""
    if watts is not None:
        return PlannedPower(drives * watts, drives * watts, energy_price)
    if model is not None:
        spec = catalogued(model)
        idle, active = drive_watts(spec, 0.0), drive_watts(spec, 1.0)
        if idle is None or active is None:
            return PlannedPower()
        return PlannedPower(drives * idle, (drives - spares) * active + spares * idle, energy_price)
    if energy_price is not None:
        raise InputError("--energy-price", "found it without a drive", "expected: --drive MODEL or --watts of a drive")
    return None


def _random_iops(level: str, drives: int, model: str, spares: int, groups: int | None) -> float:
    """Random I/Os a second of 4 KiB, 70 % of them reads, with all drives busy."""
    array: dict[str, Any] = {"level": level, "members": drives - spares, "spares": spares}
    if groups is not None:
        array["groups"] = groups
    described = {
        "machine": {"model": "server", "drives": {"model": model, "count": drives}},
        "arrays": {"md0": array},
        "workload": {
            "read_share": 0.7,
            "depth": min(_USERS_PER_DRIVE * drives, MOST_OUTSTANDING),
            "independent": True,
            "warm_up": "500ms",
            "duration": "1s",
        },
    }
    return run(Scenario.from_yaml(json.dumps(described)), progress=False).iops
