"""Pictures of several designs: comparisons, mechanisms, advice and lessons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...api.advice import Advice
from ...api.comparison import Comparison
from ...api.result import Result
from ..work.explain import Effect
from .pictures import AXIS_PX, KEY_PX, LEGEND, ROW_PX, ROWS, Picture, coded, logarithmic
from .theme import BLUE, GREEN, GREY, ORANGE, PURPLE, TEAL


def comparison_picture(found: Comparison) -> Picture:
    """Throughput of designs with 90 % intervals."""
    values = []
    for each in found:
        if each.refused is None:
            iops = each.interval("iops")
            low, high = (iops.low, iops.high) if math.isfinite(iops.low) else (iops.value, iops.value)
            values.append({"design": each.name, "iops": iops.value, "low": low, "high": high})
    y = {"field": "design", "type": "nominal", "sort": None, "title": None, "axis": ROWS}
    x = {"field": "iops", "type": "quantitative", "title": "I/Os per second", "scale": {"zero": True}}
    return {
        "data": {"values": values},
        "height": AXIS_PX + 46 * len(values),
        "layer": [
            {"mark": {"type": "bar", "color": TEAL, "opacity": 0.75, "height": 18}, "encoding": {"x": x, "y": y}},
            {
                "mark": {"type": "errorbar", "ticks": {"size": 14, "thickness": 2}, "thickness": 2, "color": ORANGE},
                "encoding": {
                    "x": {"field": "low", "type": "quantitative", "title": "I/Os per second"},
                    "x2": {"field": "high"},
                    "y": y,
                },
            },
        ],
    }


def latency_picture(found: Comparison) -> Picture:
    """Latencies of designs: mean and 99 % of reads and of writes."""
    values: list[dict[str, Any]] = []
    for each in found:
        for op in ("read", "write"):
            for figure, words in (("mean", "mean"), ("p99", "99 %")):
                value = math.nan if each.refused or each.saturated else each.interval(f"{op}.{figure}").value
                if math.isfinite(value) and value > 0:
                    values.append({"design": each.name, "ms": 1e3 * value, "op": f"{op}s", "figure": words})
    return {
        "data": {"values": values},
        "height": AXIS_PX + KEY_PX + 46 * len({value["design"] for value in values}),
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.9},
        "encoding": {
            "x": {"field": "ms", "title": "latency (ms)", **logarithmic([value["ms"] for value in values])},
            "y": {"field": "design", "type": "nominal", "sort": None, "title": None, "axis": ROWS},
            "yOffset": {"field": "op", "type": "nominal"},
            "color": {**coded("op", values, (BLUE, ORANGE)), "legend": LEGEND},
            "shape": {
                "field": "figure",
                "type": "nominal",
                "scale": {"domain": ["mean", "99 %"], "range": ["circle", "triangle-right"]},
                "legend": LEGEND,
            },
        },
    }


def effects_picture(effects: Sequence[Effect]) -> Picture:
    """By how much the load changes without each mechanism."""
    values = [
        {
            "mechanism": each.mechanism,
            "change": 100 * each.change,
            "certain": "certain" if each.certain else "not told from chance",
            "text": f"{100 * each.change:+.0f} %" if each.certain else "no certain difference",
        }
        for each in effects
    ]
    x = {"field": "change", "type": "quantitative", "title": "change without the mechanism (%)"}
    y = {"field": "mechanism", "type": "nominal", "sort": None, "title": None, "axis": ROWS}
    colour = {"field": "certain", "type": "nominal", "legend": None,
              "scale": {"domain": ["certain", "not told from chance"], "range": [TEAL, GREY]}}  # fmt: skip
    words = {"type": "text", "align": "left", "dx": 4}
    return {
        "data": {"values": values},
        "height": AXIS_PX + (ROW_PX + 8) * len(values),
        "layer": [
            {"mark": {"type": "bar", "height": 16}, "encoding": {"x": x, "y": y, "color": colour}},
            {"mark": words, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
        ],
    }


CHOSEN = "chosen"
"""The selection of the picture of designs."""
_STATUS = {"on the shortlist": (GREEN, "diamond"), "meets it": (TEAL, "circle"), "close": (PURPLE, "square"),
           "not run further": (GREY, "circle"), "does not": (GREY, "cross")}  # fmt: skip
_WORDS = {"meets": "meets it", "close": "close", "beaten": "not run further"}


def advice_picture(found: Advice) -> Picture:
    """Latency of designs over their cost, or over their number of drives; a click chooses a design."""
    best = {each.name for each in found.best}
    values: list[dict[str, Any]] = []
    for each in (*found.meets, *found.others, *found.would_do):
        if math.isfinite(each.p99):
            status = "on the shortlist" if each.name in best else _WORDS.get(each.status)
            cost = each.drives if each.cost is None else each.cost
            values.append({"design": each.name, "cost": cost, "ms": 1e3 * each.p99, "status": status or "does not"})
    priced = any(each.cost is not None for each in (*found.meets, *found.others))
    there = [name for name in _STATUS if any(value["status"] == name for value in values)]
    costs = [float(value["cost"]) for value in values]
    margin = 0.1 * (max(costs) - min(costs)) or 1.0 if costs else 1.0
    domain = [min(costs) - margin, max(costs) + margin] if costs else [0, 1]
    encoding = {
        "x": {
            "field": "cost",
            "type": "quantitative",
            "title": "cost" if priced else "drives",
            "scale": {"domain": domain, "nice": False},
            "axis": {"tickMinStep": 1, "tickCount": 8},
        },
        "y": {"field": "ms", "title": "latency of 99 % (ms)", **logarithmic([value["ms"] for value in values])},
        "color": {
            "field": "status",
            "type": "nominal",
            "scale": {"domain": there, "range": [_STATUS[name][0] for name in there]},
            "legend": LEGEND,
        },
        "shape": {
            "field": "status",
            "type": "nominal",
            "scale": {"domain": there, "range": [_STATUS[name][1] for name in there]},
            "legend": LEGEND,
        },
        "tooltip": [{"field": name, "type": "nominal"} for name in ("design", "cost", "ms", "status")],
    }
    return {
        "data": {"values": values},
        "height": 340,
        "params": [{"name": CHOSEN, "select": {"type": "point", "fields": ["design"]}}],
        "mark": {"type": "point", "filled": True, "size": 160, "opacity": 0.9, "cursor": "pointer"},
        "encoding": encoding,
    }


def lesson_picture(found: Sequence[tuple[str, Result]], as_bytes: bool = False) -> Picture:
    """I/Os per second, or MB/s, of the answers to a lesson's question."""
    rates = [(name, each.throughput / 1e6 if as_bytes else each.iops) for name, each in found]
    values = [
        {"design": name, "rate": rate, "text": f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"} for name, rate in rates
    ]
    y = {"field": "design", "type": "nominal", "sort": None, "title": None, "axis": ROWS}
    title = "MB/s" if as_bytes else "I/Os per second"
    x = {"field": "rate", "type": "quantitative", "title": title, "scale": {"zero": True}, "axis": {"tickCount": 6}}
    words = {"type": "text", "align": "left", "dx": 4}
    return {
        "data": {"values": values},
        "height": AXIS_PX + 34 * len(values),
        "layer": [
            {"mark": {"type": "bar", "color": TEAL, "height": 20}, "encoding": {"x": x, "y": y}},
            {"mark": words, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
        ],
    }
