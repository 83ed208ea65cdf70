"""What a comparison tells of designs on controllers: without the battery, how long a cache lasts, where time goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....model.files.quantities import format_duration, format_size
from ....scenarios.comparison.lost_battery import FIGURES as LOST
from ....scenarios.comparison.side_by_side import Measured
from ...answer.numbers import number
from ...answer.tree import Column, Row, Table
from ...support.figures import SPEED
from .design_table import design_table
from .waits import first_causes


def without_battery(designs: Sequence[Measured]) -> Table:
    """What designs do whose controllers have lost their batteries; no rows if none depends on them."""

    def cells(each: Measured) -> Row | None:
        cache = each.without_battery
        if cache is None:
            return None
        figures = {} if cache.saturated else cache.figures
        held = "" if each.holds_s is None else format_duration(each.holds_s)
        return format_size(cache.write_bytes), held, cache.figures.get("iops"), *(figures.get(name) for name in names)

    names = [name for name in SPEED if name in LOST and any(each.without_battery for each in designs)]
    columns = [Column("memory\nfor writes", show=str), Column("holds these\nwrites for", show=str)]
    columns += [SPEED["iops"], *(SPEED[name] for name in names if name != "iops")]
    columns = [replace(column, show=number) if index > 1 else column for index, column in enumerate(columns)]
    names = [name for name in names if name != "iops"]
    return design_table("With the controller's battery lost: write-through", columns, cells, designs)


def waits(designs: Sequence[Measured]) -> Table:
    """What mean latencies are made of; no rows where nothing is known of it."""
    ops = [op for op in ("read", "write") if any(op in each.waits for each in designs)]

    def cells(each: Measured) -> Row | None:
        return (
            [", ".join(first_causes(each.waits[op])) if op in each.waits else "" for op in ops] if each.waits else None
        )

    return design_table("What the mean latency is made of", [Column(f"of a {op}") for op in ops], cells, designs)


def cache_note(each: Measured) -> str:
    """What a run that ends before the cache is full does not show."""
    return (
        f"measured for {format_duration(each.given_s or 0.0)}, in which its cache can take all writes; for what lasts "
        "leave out duration and warm_up"
    )
