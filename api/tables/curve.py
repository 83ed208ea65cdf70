"""What a load curve tells: latency against offered load, the knee and the saturation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...model.files.quantities import format_duration
from ...scenarios.questions.load_curve import CurvePoint, LoadCurve
from ..answer.numbers import COUNT, known_number
from ..answer.svg import lines as curves
from ..answer.tree import Answer, Column, Picture, Table, Words


def curve_answer(name: str, curve: LoadCurve) -> Answer:
    """The knee in words, the table and the picture."""
    caption = "Response time against offered load"
    points = [each for each in curve.points if not each.saturated]
    series = [
        ("mean", [(each.offered_iops, 1e3 * each.mean_s) for each in points]),
        ("99 %", [(each.offered_iops, 1e3 * each.p99_s) for each in points]),
    ]
    drawn = Picture(caption, lambda: curves(series, "offered load (I/Os per second)", "ms", caption))
    return Answer(name, [Words(knee_words(curve)), curve_table(curve, caption), drawn])


def knee_words(curve: LoadCurve) -> str:
    """Where latency begins to rise faster than throughput, and where throughput ends."""
    if curve.knee is None:
        return f"Every load was too much; saturation at {curve.saturation_iops:,.0f} I/Os per second."
    return (
        f"Knee at {curve.knee.offered_iops:,.0f} I/Os per second with a mean latency of "
        f"{format_duration(curve.knee.mean_s)}: above it, latency rises faster than throughput. Saturation at "
        f"{curve.saturation_iops:,.0f}."
    )


def _latencies(point: CurvePoint, each: Sequence[tuple[str, str]]) -> Iterator[float]:
    """Mean and p99 (s) of all I/Os, and those of reads and writes that are asked for."""
    yield from (point.mean_s, point.p99_s)
    yield from (point.figures.get(f"{op}_{figure}_seconds", math.nan) for op, figure in each)


def curve_table(curve: LoadCurve, title: str) -> Table:
    """The loads of a curve, ascending."""
    ops = [op for op in ("read", "write") if any(f"{op}_mean_seconds" in point.figures for point in curve.points)]
    each = [(op, figure) for op in ops for figure in ("mean", "p99")] if len(ops) > 1 else []
    columns = [Column(f"{name}\n", "1/s", COUNT) for name in ("offered", "served", "lost")]
    columns += [Column(f"{name}\n", "ms", known_number, 1e3) for name in ("mean", "p99")]
    columns += [Column(f"{op}\n{figure}", show=known_number, scale=1e3) for op, figure in each]
    rows = [
        [
            point.offered_iops,
            point.iops,
            point.lost_iops,
            *((math.nan,) * (2 + len(each)) if point.saturated else _latencies(point, each)),
            "knee" if point == curve.knee else "too much" if point.saturated else "",
        ]
        for point in curve.points
    ]
    return Table(title, [*columns, Column("")], rows)
