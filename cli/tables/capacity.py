"""What `raidsim capacity` prints."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ...model.layouts import LEVELS
from ...model.layouts.factory import level_name
from ...scenarios.advice.endurance import Endurance
from ...scenarios.designs.capacity import CapacityPlan, PlannedPower
from ..support.table import Table


def print_capacity(console: Console, level: str, drive_bytes: int, plan: CapacityPlan, iops: float | None) -> None:
    """Capacity step by step, then failures survived, cost and I/Os per second."""
    spares = f", {plan.spares} of them spare" if plan.spares else ""
    title = f"{LEVELS[level_name(level)].label} of {plan.drives} drives of {drive_bytes / 1e12:.4g} TB{spares}"
    console.print(Text(title, style="bold"))
    table = Table()
    table.add_column("")
    for unit in ("TB", "TiB", "of raw"):
        table.add_column(unit, justify="right")
    lost = plan.raw_bytes - plan.array_bytes - plan.metadata_bytes
    for words, size in (
        ("raw", plan.raw_bytes),
        ("- parity, copies, spares", -lost),
        ("- md's metadata", -plan.metadata_bytes),
        ("array", plan.array_bytes),
        ("- file system", -plan.file_system_bytes),
        ("usable", plan.usable_bytes),
        ("to be planned with (fill limit)", plan.planned_bytes),
    ):
        cells = (f"{size / 1e12:,.2f}", f"{size / 2**40:,.2f}", f"{100 * size / plan.raw_bytes:.1f} %")
        table.add_row(Text(words), *cells)
    console.print(table)
    console.print(Text(f"survives {plan.survives_any} failed drive{'' if plan.survives_any == 1 else 's'}, whichever"))
    if plan.cost is not None and plan.cost_per_tb is not None:
        console.print(Text(f"cost {plan.cost:,.0f}, {plan.cost_per_tb:,.2f} per TB that is planned with"))
    if iops is not None:
        per = "" if plan.cost is None else f", {plan.cost / iops:,.2f} per I/O per s"
        console.print(Text(f"about {iops:,.0f} random I/Os per s (4 KiB, 70 % reads, all drives busy){per}"))


def print_endurance(console: Console, written: str, lasting: Endurance | None) -> None:
    """How many years the flash lasts, with the share of the writes that parity and copies are."""
    if lasting is None:
        console.print(Text("endurance: no figure, the catalogue has none for this drive"))
        return
    console.print(
        Text(
            f"endurance at {written} a day: {lasting.small_years:,.1f} years of random 4 KiB writes (each byte is "
            f"written {lasting.small_writes:.3g} times), {lasting.stripe_years:,.1f} years of whole stripes "
            f"({lasting.whole_stripes:.3g} times); each drive may be written {lasting.per_drive / 1e15:,.3g} PB"
        )
    )


def print_power(console: Console, power: PlannedPower, model: str) -> None:
    """Power of all drives between idle and busy, its energy in a year, and what that costs."""
    idle, active, energy, cost = power.idle_watts, power.active_watts, power.kwh_a_year, power.cost_a_year
    if idle is None or active is None or energy is None:
        console.print(Text(f"power: not known for {model}; give the power of one drive with --watts"))
        return
    words = f"power of the drives: {_between(idle, active, 3)} W, {_between(*energy, 0)} kWh a year"
    if cost is not None:
        words += f", which costs {_between(*cost, 0)}"
    console.print(Text(words if idle == active else f"{words} (idle to busy)"))


def _between(low: float, high: float, digits: int) -> str:
    ends = [f"{value:.{digits}g}" if digits and value < 100 else f"{value:,.0f}" for value in (low, high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
