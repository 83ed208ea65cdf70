"""The first I/Os of a load as a picture: each one, and below it what it became on every drive."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...scenarios.pictures.style import GREY, GRID, INK, PALE, bare, blank, headed
from ...scenarios.timeline.timeline import Command, Timeline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH_IN, _LANE_IN, _LEAST_LANE_IN, _MOST_IN = 12.0, 0.22, 0.07, 16.0
_NUMBER_PT = 6.5
_DIGIT_IN = 0.06
_GAP = 0.45
"""Between drives, in lanes."""


@dataclass(frozen=True, slots=True)
class _Look:
    """Color, hatching and words of a kind of bar; hatched is what parity costs."""

    colour: str
    hatch: str
    words: str


_LOOKS = {
    ("read", "data"): _Look("#cfe1f2", "", "reads data"),
    ("read", "old data"): _Look("#cfe1f2", "////", "reads old data"),
    ("read", "parity"): _Look("#f9d9a8", "", "reads parity"),
    ("read", "old parity"): _Look("#f9d9a8", "////", "reads old parity"),
    ("read", "Q"): _Look("#e6cfe9", "", "reads second parity"),
    ("read", "old Q"): _Look("#e6cfe9", "////", "reads old second parity"),
    ("write", "data"): _Look("#7fa8d1", "", "writes data"),
    ("write", "parity"): _Look("#e0a04a", "\\\\\\\\", "writes new parity"),
    ("write", "Q"): _Look("#b48cbc", "\\\\\\\\", "writes new second parity"),
}
_KINDS = {
    "metadata": _Look("#ffffff", "||", "bitmap and journal"),
    "resync": _Look("#f0f0f0", "xxxx", "resync and rebuild"),
    "destage": _Look("#f0f0f0", "----", "a controller's cache writes"),
    "read-ahead": _Look("#f0f0f0", "||||", "a controller reads ahead"),
}
_REST = _Look("#ffffff", "", "for other I/Os")
_WAITS = ("#d1495b", "#66a182", "#edae49", "#30638e", "#8d6a9f")
"""Colors of the causes that take most of the time, in a strip below each I/O; those of all others are grey."""
_OTHER_WAIT = "#bbbbbb"
_STRIP, _STRIP_AT = 0.2, 0.33
"""Height and place of the strip, in lanes."""
_READ, _WRITE = _Look(PALE, "", "a read of the load"), _Look("#9fb3c8", "", "a write of the load")


def timeline_figure(timeline: Timeline) -> Figure:
    """Each logical I/O as a bar with its number, and the commands of each drive with the numbers they are for."""
    from matplotlib.patches import Patch

    began = timeline.ios[0].began_s if timeline.ios else timeline.began_s
    over = max((io.ended_s for io in timeline.ios if io.ended_s is not None), default=timeline.ended_s)
    shown = [each for each in timeline.commands if each.ended_s > began and each.started_s < over]
    drives = sorted({each.drive for each in shown}, key=lambda name: (len(name), name))
    groups = [("I/Os", _packed([(io.began_s, io.ended_s or timeline.ended_s) for io in timeline.ios]))]
    of_drive = {name: [each for each in shown if each.drive == name] for name in drives}
    groups += [(name, _packed([(each.started_s, each.ended_s) for each in of_drive[name]])) for name in drives]
    lanes = sum(max(places, default=0) + 1 for _, places in groups) + _GAP * len(groups)
    lane_in = max(_LEAST_LANE_IN, min(_LANE_IN, _MOST_IN / lanes))
    picture = blank(_WIDTH_IN, 1.9 + lane_in * lanes)
    axes = picture.subplots()
    scale = 1e6 if over - began < _SHORT_S else 1e3
    inch = _WIDTH_IN * 0.9 / max(scale * (over - began), 1e-9)
    used: dict[str, _Look] = {}
    waits = {str(io.number): io.waits for io in timeline.ios}
    shades = dict(zip(_longest(timeline), _WAITS, strict=False))
    top, ticks = 0.0, []
    for name, places in groups:
        high = max(places, default=0) + 1
        ticks.append((top + high / 2 - 0.5, name))
        bars: Iterable[tuple[float, float, _Look, str]]
        if name == "I/Os" and top == 0.0:
            bars = [
                (io.began_s, io.ended_s or timeline.ended_s, _READ if io.op == "read" else _WRITE, str(io.number))
                for io in timeline.ios
            ]
        else:
            bars = [(each.started_s, each.ended_s, _look(each), _numbers(each)) for each in of_drive[name]]
        for (start, end, look, number), place in zip(bars, places, strict=True):
            used[look.words] = look
            left, width = scale * (start - began), scale * (end - start)
            at = top + place
            axes.barh(
                at, width, left=left, height=0.86, color=look.colour, hatch=look.hatch, edgecolor=INK, linewidth=0.4
            )
            for wait in waits.get(number, ()) if name == "I/Os" else ():
                shade = shades.get(wait.cause, _OTHER_WAIT)
                from_, lasts = scale * (wait.began_s - began), scale * (wait.ended_s - wait.began_s)
                axes.barh(at + _STRIP_AT, lasts, left=from_, height=_STRIP, color=shade, linewidth=0)
            if lane_in > 0.1 and number and inch * width > _DIGIT_IN * (len(number) + 1):
                box = {"facecolor": look.colour, "edgecolor": "none", "pad": 0.3} if look.hatch else None
                middle = left + width / 2
                axes.text(middle, at, number, ha="center", va="center", fontsize=_NUMBER_PT, bbox=box, clip_on=True)
        top += high + _GAP
        axes.axhline(top - 0.5 - _GAP / 2, color=GREY if name == "I/Os" else GRID, linewidth=0.8)
    axes.set(xlim=(0, scale * (over - began) * 1.005), ylim=(top - 0.5 - _GAP / 2, -0.75))
    axes.set_yticks([place for place, _ in ticks], [name for _, name in ticks])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"time since the first I/O ({'us' if scale == _MICRO else 'ms'})")
    bare(axes)
    order = [_READ, _WRITE, *_LOOKS.values(), *_KINDS.values(), _REST]
    keys = [
        Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=INK, linewidth=0.4, label=look.words)
        for look in order
        if look.words in used
    ]
    keys += [Patch(facecolor=shade, label=f"time for: {cause}") for cause, shade in shades.items()]
    picture.legend(handles=keys, loc="outside lower left", ncols=min(5, max(1, len(keys))), handlelength=2.6)
    headed(picture, f"{timeline.scenario}: {_fan_out(timeline)}")
    return picture


def _longest(timeline: Timeline) -> list[str]:
    """The causes that the I/Os spend most of their time on."""
    sums: dict[str, list[float]] = {}
    for io in timeline.ios:
        for wait in io.waits:
            sums.setdefault(wait.cause, []).append(wait.ended_s - wait.began_s)
    return sorted(sums, key=lambda cause: -math.fsum(sums[cause]))[: len(_WAITS)]


_SHORT_S = 5e-3
_MICRO = 1e6


def _look(command: Command) -> _Look:
    if command.kind in _KINDS:
        return _KINDS[command.kind]
    if not command.causes:
        return _REST
    return _LOOKS.get((command.op, command.role), _LOOKS[command.op, "data"])


def _numbers(command: Command) -> str:
    """The logical I/Os that a command is for; of many the first."""
    if len(command.causes) > _FEW:
        return f"{command.causes[0]}, ..."
    return ",".join(map(str, command.causes))


_FEW = 3


def _packed(spans: Sequence[tuple[float, float]]) -> list[int]:
    """A lane for each span, so that none overlaps another one in its lane; the first that is free."""
    free: list[float] = []
    places = [0] * len(spans)
    for i in sorted(range(len(spans)), key=lambda i: spans[i]):
        start, end = spans[i]
        lane = next((lane for lane, until in enumerate(free) if until <= start), len(free))
        if lane == len(free):
            free.append(end)
        free[lane] = end
        places[i] = lane
    return places


def _fan_out(timeline: Timeline) -> str:
    """What reads and writes became, in words: here is the penalty of small writes."""
    caused = {io.number: 0 for io in timeline.ios}
    marks = 0
    for command in timeline.commands:
        if command.kind == "metadata":
            marks += 1 if command.causes else 0
            continue
        for number in command.causes:
            caused[number] = caused.get(number, 0) + 1
    said = []
    for op in ("read", "write"):
        counts = [caused[io.number] for io in timeline.ios if io.op == op and io.ended_s is not None]
        if counts:
            each = f"{sum(counts) / len(counts):.3g}"
            said.append(
                f"{len(counts)} {op}{'' if len(counts) == 1 else 's'}, {each} command{'' if each == '1' else 's'} each"
            )
    if marks:
        said.append(f"{marks} more for bitmap and journal")
    return "; ".join(said) if said else "no I/O was recorded"
