"""What a plan of capacity tells: what remains of the raw bytes, failures survived, cost, power and endurance."""

from __future__ import annotations

from collections.abc import Iterator

from ...scenarios.advice.endurance import Endurance
from ...scenarios.comparison.rules_of_thumb import RuleOfThumb
from ...scenarios.designs.capacity import CapacityPlan, PlannedPower
from ..answer.numbers import PERCENTS, counted, fixed
from ..answer.power import class_note
from ..answer.tree import Column, Table

_COLUMNS = (
    Column(""),
    Column("TB", show=fixed(2), scale=1e-12),
    Column("TiB", show=fixed(2), scale=2.0**-40),
    Column("of raw", show=PERCENTS, scale=100.0),
)


def capacity_title(level: str, drive_bytes: int, plan: CapacityPlan) -> str:
    """The drives and the level."""
    spares = f", {plan.spares} of them spare" if plan.spares else ""
    return f"{level} of {plan.drives} drives of {drive_bytes / 1e12:.4g} TB{spares}"


def capacity_table(plan: CapacityPlan) -> Table:
    """Capacity step by step."""
    metadata, whole, kept = "- md's metadata", "array", "- file system"
    if plan.pool_size is not None:
        metadata, whole, kept = "- ZFS's labels and metaslabs", "pool", "- kept back (slop space)"
    sizes = {
        "raw": plan.raw_bytes,
        "- parity, copies, spares": plan.array_bytes + plan.metadata_bytes - plan.raw_bytes,
        metadata: -plan.metadata_bytes,
        whole: plan.array_bytes,
        kept: -plan.file_system_bytes,
        "usable": plan.usable_bytes,
        "to be planned with (fill limit)": plan.planned_bytes,
    }
    rows = [(words, size, size, size / plan.raw_bytes) for words, size in sizes.items()]
    return Table("", _COLUMNS, rows)


def capacity_lines(plan: CapacityPlan, iops: float | None, rule: RuleOfThumb | None = None) -> Iterator[str]:
    """Failures survived, cost and I/Os per second."""
    yield f"survives {counted(plan.survives_any, 'failed drive')}, whichever"
    if plan.pool_size is not None:
        listed, usable = plan.pool_size / 2**40, plan.usable_bytes / 2**40
        yield (
            f"SIZE of zpool list: {listed:,.4g} TiB, with parity; zfs list: {usable:,.4g} TiB in blocks of 128 KiB, "
            "and smaller blocks take more of it"
        )
    if plan.cost is not None and plan.cost_per_tb is not None:
        yield f"cost {plan.cost:,.0f}, {plan.cost_per_tb:,.2f} per TB that is planned with"
    if iops is not None:
        per = "" if plan.cost is None else f", {plan.cost / iops:,.2f} per I/O per s"
        yield f"about {iops:,.0f} random I/Os per s (4 KiB, 70 % reads, all drives busy){per}"
    if rule is not None:
        yield f"rule of thumb: {rule.factor:.3g} x the {rule.drive_iops:,.0f} of one drive, {rule.iops:,.0f} per s"


def endurance_line(written: str | int, lasting: Endurance | None) -> str:
    """How many years the flash lasts, with the share of the writes that parity and copies are."""
    if lasting is None:
        return "endurance: no figure, the catalogue has none for this drive"
    return (
        f"endurance at {written} a day: {lasting.small_years:,.1f} years of random 4 KiB writes (each byte is "
        f"written {lasting.small_writes:.3g} times), {lasting.stripe_years:,.1f} years of whole stripes "
        f"({lasting.whole_stripes:.3g} times); each drive may be written {lasting.per_drive / 1e15:,.3g} PB"
    )


def power_words(power: PlannedPower, model: str | None) -> str:
    """Power of all drives between idle and busy, its energy in a year, and what that costs."""
    idle, active, energy, cost = power.idle_watts, power.active_watts, power.kwh_a_year, power.cost_a_year
    if idle is None or active is None or energy is None:
        return f"power: not known for {model}; give the power of one drive with --watts"
    words = f"power of the drives: {_between(idle, active, 3)} W, {_between(*energy, 0)} kWh a year"
    if cost is not None:
        words += f", which costs {_between(*cost, 0)}"
    words = words if idle == active else f"{words} (idle to busy)"
    return words + class_note({} if model is None or power.class_spread is None else {model: power.class_spread})


def _between(low: float, high: float, digits: int) -> str:
    ends = [f"{value:.{digits}g}" if digits and value < 100 else f"{value:,.0f}" for value in (low, high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
