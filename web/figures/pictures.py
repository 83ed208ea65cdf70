"""Pictures as Vega-Lite descriptions: axes with units, and nothing that only a color says.

The page gives each one a text for those who do not see it, and a table with the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...api.curve import LoadCurve
from ...api.support.explorer import SATURATED, Prediction, Timeline, limit
from ...api.tables.run import latency_shares as latency_shares_of
from ..work.tasks import CoursePart
from .tables import command_words
from .theme import BLUE, ORANGE, TEAL

Picture = dict[str, Any]

ROW_PX, AXIS_PX, KEY_PX = 22, 64, 34
"""Of a bar, of the axis below, and of a line of the legend."""
_NARROW_PX, _WIDE_PX = 8, 16
"""Of bars of parity and of all others, which tells them apart without colours."""
_MOST_BARS = 40
_IDLE = 0.005
"""What is less busy than this has no bar; the table has it."""
_COMMANDS = {
    "reads old data": "#9ecae1",
    "reads old parity": "#fdbb84",
    "reads old second parity": "#d9b3dd",
    "reads data": "#6baed6",
    "reads parity": "#fdae6b",
    "writes data": "#08519c",
    "writes new parity": "#b2500a",
    "writes new second parity": "#6a2c70",
}
"""Reads light, writes dark; data blue, parity orange."""
_OTHER = "#8a8f94"


def usage_bars(prediction: Prediction) -> Picture:
    """Utilization of every part, and which ones limit."""
    found = limit(prediction.usages)
    limits = {part.name for part in found.parts} if found is not None else set()
    mark = "limits" if found is not None and found.saturated else "busiest"
    ranked = sorted(prediction.usages, key=lambda each: -each.utilization)
    busiest = [each for each in ranked if each.utilization >= _IDLE or each is ranked[0]][:_MOST_BARS]
    values = [
        {
            "part": each.name,
            "busy": round(100 * each.utilization, 2),
            "role": mark if each.name in limits else "others",
            "text": f"{100 * each.utilization:.0f} %" + (f" {mark}" if each.name in limits else ""),
        }
        for each in busiest
    ]
    y = {"field": "part", "type": "nominal", "sort": None, "title": None, "axis": ROWS}
    colour = {
        "field": "role",
        "type": "nominal",
        "scale": {"domain": [mark, "others"], "range": [ORANGE, TEAL]},
        "legend": None,
    }
    x = {"field": "busy", "type": "quantitative", "title": "utilization (%)", "scale": {"domain": [0, 132]}}
    x["axis"] = {"values": [0, 25, 50, 75, 100]}
    bars = {
        "mark": {"type": "bar", "stroke": "#555", "strokeWidth": 0.5},
        "encoding": {"x": x, "y": y, "color": colour},
    }
    words = {
        "mark": {"type": "text", "align": "left", "dx": 4},
        "encoding": {"x": x, "y": y, "text": {"field": "text"}},
    }
    rule = {
        "data": {"values": [{"busy": 100 * SATURATED}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#777", "opacity": 0.6},
        "encoding": {"x": {"field": "busy", "type": "quantitative"}},
    }
    return {
        "data": {"values": values},
        "height": AXIS_PX + ROW_PX * len(values),
        "layer": [bars, rule, words],
    }


def latency_shares(prediction: Prediction) -> Picture:
    """Which share of the I/Os was over within which time."""
    values: list[dict[str, Any]] = [
        {"op": f"{op}s", "ms": ms, "share": share}
        for op, bins in prediction.latency_bins.items()
        for ms, share in latency_shares_of(bins)
    ]
    encoding = {
        "x": {"field": "ms", "title": "latency (ms)", **logarithmic([value["ms"] for value in values])},
        "y": {"field": "share", "type": "quantitative", "title": "done within it (% of I/Os)"},
        "color": _series("op", values),
        "strokeDash": _dashes("op", values),
    }
    return {
        "data": {"values": values},
        "height": 320,
        "mark": {"type": "line", "interpolate": "step-after"},
        "encoding": encoding,
    }


def curve_picture(curve: LoadCurve) -> Picture:
    """Response time against offered load, with the knee and the saturation."""
    values: list[dict[str, Any]] = []
    for point in curve.points:
        if not point.saturated:
            values.append({"load": point.offered_iops, "ms": 1e3 * point.mean_s, "figure": "mean"})
            values.append({"load": point.offered_iops, "ms": 1e3 * point.p99_s, "figure": "99 %"})
    encoding = {
        "x": {"field": "load", "type": "quantitative", "title": "offered load (I/Os per second)"},
        "y": {"field": "ms", "title": "response time (ms)", **logarithmic([value["ms"] for value in values])},
        "color": _series("figure", values),
        "strokeDash": _dashes("figure", values),
    }
    layers: list[Picture] = [{"mark": {"type": "line", "point": {"filled": True}}, "encoding": encoding}]
    marks = [(curve.saturation, "saturation")]
    if curve.knee is not None:
        marks.append((curve.knee.offered_iops, "knee"))
    for load, name in marks:
        layers += _upright("load", load, name, {"baseline": "bottom", "y": "height"})
    return {"data": {"values": values}, "height": 380, "layer": layers}


def timeline_picture(timeline: Timeline) -> Picture:
    """The commands of the drives that the recorded I/Os became, drive by drive."""
    began = timeline.ios[0].began_s if timeline.ios else timeline.began_s
    values = [
        {
            "drive": each.drive,
            "begin": 1e3 * (each.started_s - began),
            "end": 1e3 * (each.ended_s - began),
            "command": command_words(each.op, each.role, each.kind),
            "I/O": ", ".join(map(str, each.causes)),
        }
        for each in timeline.commands
        if each.causes
    ]
    return _bars_in_time(values, "drive", "time (ms)")


def one_io_picture(timeline: Timeline, number: int) -> Picture:
    """What became of one logical I/O: what it spent its time on, and each command as it came; waiting is thin."""
    io = timeline.ios[number]
    values: list[Picture] = []
    ended = timeline.ended_s if io.ended_s is None else io.ended_s
    values.append(
        {"row": f"I/O {number}: {io.op}", "begin": 0.0, "end": 1e3 * (ended - io.began_s), "command": "logical I/O"}
    )
    for wait in io.waits:
        begin, end = (1e3 * (at - io.began_s) for at in (wait.began_s, wait.ended_s))
        values.append({"row": f"time for: {wait.cause}", "begin": begin, "end": end, "command": wait.cause})
    waits: list[Picture] = []
    for place, each in enumerate(timeline.commands_of(number), start=1):
        words = command_words(each.op, each.role, each.kind)
        row = f"{place}. {each.drive} {words}"
        begin, start, end = (1e3 * (at - io.began_s) for at in (each.arrived_s, each.started_s, each.ended_s))
        waits.append({"row": row, "begin": begin, "end": start, "command": words})
        values.append({"row": row, "begin": start, "end": end, "command": words})
    picture = _bars_in_time(values, "row", "time since the I/O was sent (ms)")
    colour = {**picture["layer"][0]["encoding"]["color"], "legend": None}  # every row says what it is
    encoding = {key: picture["layer"][0]["encoding"][key] for key in ("x", "x2", "y")}
    picture["layer"] = [{**bars, "encoding": {**bars["encoding"], "color": colour}} for bars in picture["layer"]]
    thin = {"data": {"values": waits}, "mark": {"type": "bar", "height": 2, "color": "#777"}, "encoding": encoding}
    rows = 1 + len(waits) + len({wait.cause for wait in io.waits})
    return {**picture, "height": AXIS_PX + (ROW_PX + 4) * rows, "layer": [*picture["layer"], thin]}


def _bars_in_time(values: list[Picture], row: str, title: str) -> Picture:
    used = list(dict.fromkeys(value["command"] for value in values))
    known = [name for name in _COMMANDS if name in used]
    domain = [*known, *(name for name in used if name not in known)]
    rows = list(dict.fromkeys(value[row] for value in values))
    if row == "drive":
        rows.sort(key=lambda name: (len(name), name))
    colours = [_COMMANDS.get(name, _OTHER) for name in domain]
    encoding = {
        "x": {"field": "begin", "type": "quantitative", "title": title},
        "x2": {"field": "end"},
        "y": {"field": row, "type": "nominal", "sort": rows, "title": None, "axis": ROWS},
        "color": {
            "field": "command",
            "type": "nominal",
            "scale": {"domain": domain, "range": colours},
            "legend": {**LEGEND, "columns": 2},
        },
        "tooltip": [{"field": name, "type": "nominal"} for name in values[0]] if values else [],
    }
    return {
        "data": {"values": values},
        "height": AXIS_PX + KEY_PX + (ROW_PX + 4) * len(rows) + KEY_PX * -(-len(domain) // 2),
        "layer": [  # one without bars has no extent, which vega warns about
            _bars_of_height(height, f"indexof(datum.command, 'parity') {which} 0", encoding)
            for height, which, parity in ((_WIDE_PX, "<", False), (_NARROW_PX, ">=", True))
            if any(("parity" in name) == parity for name in domain)
        ],
    }


def _bars_of_height(height: int, chosen: str, encoding: Picture) -> Picture:
    mark = {"type": "bar", "stroke": "#333", "strokeWidth": 0.4, "height": height, "minBandSize": 1}
    return {"transform": [{"filter": chosen}], "mark": mark, "encoding": encoding}


def course_picture(parts: Sequence[CoursePart], failed_s: float, latency: bool = False) -> Picture:
    """I/Os per second, or their mean latency, over a run in which a disk fails."""
    values = [
        {"s": (each.begin_s + each.end_s) / 2, "value": 1e3 * (each.mean_s or 0.0) if latency else each.iops}
        for each in parts
        if not latency or each.mean_s is not None
    ]
    named = "mean latency (ms)" if latency else "I/Os per second"
    line = {
        "mark": {"type": "line", "interpolate": "step", "color": ORANGE if latency else BLUE},
        "encoding": {
            "x": {"field": "s", "type": "quantitative", "title": "time (s)"},
            "y": {"field": "value", "type": "quantitative", "title": named, "scale": {"zero": True}},
        },
    }
    return {"data": {"values": values}, "height": 260, "layer": [line, *_upright("s", failed_s, "disk fails")]}


_TOP: Picture = {"baseline": "top", "y": 4}


def _upright(field: str, at: float, name: str, place: Picture = _TOP) -> list[Picture]:
    """A dashed line across the picture, with its name at one of its ends."""
    data = {"values": [{field: at, "name": name}]}
    x = {"field": field, "type": "quantitative"}
    return [
        {"data": data, "mark": {"type": "rule", "strokeDash": [5, 4], "color": "#777"}, "encoding": {"x": x}},
        {
            "data": data,
            "mark": {"type": "text", "align": "right", "baseline": place["baseline"], "dx": -4},
            "encoding": {"x": x, "y": {"value": place["y"]}, "text": {"field": "name"}},
        },
    ]


ROWS = {"labelOverlap": False, "labelLimit": 240, "domain": False, "ticks": False}
LEGEND = {"orient": "top", "title": None}


_FIRSTS = {"op": ("reads", "writes"), "figure": ("mean", "99 %")}
"""What is solid and blue, and what dashed and orange."""
_MOST_DECADES = 2.5
"""A logarithmic axis of more has numbers at powers of ten alone."""


def _series(field: str, values: list[dict[str, Any]]) -> Picture:
    return coded(field, values, (BLUE, ORANGE))


def _dashes(field: str, values: list[dict[str, Any]]) -> Picture:
    return coded(field, values, ([1, 0], [6, 3]))


def coded(field: str, values: list[dict[str, Any]], codes: tuple[Any, Any]) -> Picture:
    """What tells the two apart; the legend names only what there is."""
    there = {value[field] for value in values}
    found = [(name, code) for name, code in zip(_FIRSTS[field], codes, strict=True) if name in there]
    scale = {"domain": [name for name, _ in found], "range": [code for _, code in found]}
    return {"field": field, "type": "nominal", "scale": scale, "legend": {**LEGEND, "symbolType": "stroke"}}


def logarithmic(values: list[float]) -> Picture:
    """An axis for values, with numbers at 1, 2 and 5 times powers of ten."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    steps = (1, 2, 5) if math.log10(high / low) < _MOST_DECADES else (1,)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [step * 10.0**power for power in range(first - 1, last + 2) for step in steps]
    inside = [tick for tick in ticks if low / 5 <= tick <= high * 5]
    begin = max((tick for tick in inside if tick <= low), default=low)
    end = min((tick for tick in inside if tick >= high), default=high)
    if begin == end:
        begin, end = begin / 2, end * 2
    shown = [tick for tick in ticks if begin <= tick <= end]
    scale = {"type": "log", "domain": [begin, end], "nice": False}
    axis = {"values": shown, "format": "~g", "labelOverlap": True}
    return {"type": "quantitative", "scale": scale, "axis": axis}
