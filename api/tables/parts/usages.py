"""Utilization of each part of a machine, identical parts on one line."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence

from ....model.files.quantities import format_duration
from ....model.statistics.usage import DISK, DRIVES, SATURATED, SSD, Usage, limit
from ....scenarios.running.base.prediction import Prediction
from ...answer.numbers import COUNT, PERCENT, fixed
from ...answer.tree import Column, Part, Row, Table, Words

_MANY = 9
"""Parts of a kind from which they share a line."""
_BUSY = {DISK: "of a disk its mechanics", SSD: "of an SSD its busiest part"}
"""What works while a drive is called busy."""
_COLUMNS = (
    Column("part"),
    Column("busy", show=PERCENT, scale=100.0),
    Column("queue", show=fixed(2)),
    Column("reads/s", show=COUNT),
    Column("writes/s", show=COUNT),
    Column("MB/s", show=fixed(2), scale=1e-6),
    Column("role", detail=True),
)


def usages(prediction: Prediction, all_parts: bool = False) -> Iterator[Part]:
    """A table of all parts; with `all_parts` each has its line, however many are alike."""
    seconds, rows = prediction.measured_s, list[Row]()
    alike = _alike(prediction.usages)
    for each in alike:
        many = not all_parts and len(each) >= _MANY
        rows += _of_many(each, seconds) if many else [row for usage in each for row in _of_one(usage, seconds)]
    yield Table(f"Utilization over {format_duration(seconds)}", _COLUMNS[:-1], [row[:-1] for row in rows])
    busy = [words for kind, words in _BUSY.items() if any(usage.kind == kind for usage in prediction.usages)]
    if busy:
        yield Words(
            f"busy: share of the time that a part works, {', '.join(busy)}. queue: mean number of commands in a drive. "
            "--json has the views of the host and of iostat."
        )
    if not all_parts and any(len(each) >= _MANY for each in alike):
        yield Words("Figures with slashes: least, median and most of parts that are alike; --all-parts lists each.")


def every_usage(prediction: Prediction) -> Table:
    """Every part, the busiest first, and which of them limit."""
    found = limit(prediction.usages)
    limits = {part.name for part in found.parts} if found is not None else set()
    role = "limits" if found is not None and found.saturated else "busiest"
    ranked = sorted(prediction.usages, key=lambda each: -each.utilization)
    rows = [
        [*next(iter(_of_one(usage, prediction.measured_s)))[:-1], role if usage.name in limits else ""]
        for usage in ranked
    ]
    return Table(f"Utilization over {format_duration(prediction.measured_s)}", _COLUMNS, rows)


def _alike(usages: Iterable[Usage]) -> list[list[Usage]]:
    """Parts that differ by the number in their names, together; in the order of the first of each."""
    found: dict[tuple[str, str, str], list[Usage]] = {}
    for usage in usages:
        found.setdefault((usage.kind, usage.name.rstrip("0123456789"), usage.what), []).append(usage)
    return list(found.values())


def _of_one(usage: Usage, seconds: float) -> Iterator[Row]:
    """A part, and its ways if it has several; a drive's queue is the mean number of commands inside it."""
    name = f"{usage.name} ({usage.what})" if usage.what else usage.name
    counts: tuple[float | None, ...]
    if usage.kind in DRIVES:
        counts = (usage.mean_queue, usage.reads / seconds, usage.writes / seconds, usage.bytes / seconds)
    else:
        counts = (None, None, None, usage.bytes / seconds if usage.bytes else None)
    yield name, usage.utilization, *counts, ""
    for way in usage.ways if len(usage.ways) > 1 else ():
        yield f"  {way.name}", way.utilization, None, None, None, way.bytes / seconds if way.bytes else None, ""


def _of_many(usages: Sequence[Usage], seconds: float) -> Iterator[Row]:
    """Parts of a kind on one line: the least, the median and the most of each column, and how many are saturated."""
    full = sum(usage.utilization >= SATURATED for usage in usages)
    name = f"{len(usages)} x {usages[0].name.rstrip('0123456789')} ({usages[0].name} to {usages[-1].name})"
    cells = ["", "", "", ""]
    if usages[0].kind in DRIVES:
        cells[0] = _spread([usage.mean_queue for usage in usages], 1)
        cells[1] = _spread([usage.reads / seconds for usage in usages], 0)
        cells[2] = _spread([usage.writes / seconds for usage in usages], 0)
    if any(usage.bytes for usage in usages):
        cells[3] = _spread([usage.bytes / 1e6 / seconds for usage in usages], 1)
    yield name, f"{_spread([100 * usage.utilization for usage in usages], 0)} %", *cells, ""
    if full:
        yield f"  {full} of them above {100 * SATURATED:.0f} %", *[None] * 6


def _spread(values: Sequence[float], digits: int) -> str:
    """The least, the median and the most: "79/85/91"; one number if they print alike."""
    shown = [f"{value:,.{digits}f}" for value in (min(values), statistics.median(values), max(values))]
    return shown[0] if len(set(shown)) == 1 else "/".join(shown)
