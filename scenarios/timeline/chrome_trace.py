"""A timeline as a trace that Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) draw.

The format is Chrome's trace event JSON: times in microseconds, here from the beginning of the measurement. Slices of
one track must not overlap unless one is inside the other, so what happens side by side gets tracks of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .events import Command
from .timeline import Timeline

_LOGICAL, _PROCESSORS, _CONTROLLERS, _LINKS, _DRIVES = 1, 2, 3, 4, 5
"""Numbers of the groups of tracks; each drive has one of its own from the last on."""

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Slice:
    """Something from `began_s` to `ended_s`; what is `inside` it is drawn below it."""

    name: str
    began_s: float
    ended_s: float
    args: dict[str, Any]
    inside: Sequence[tuple[str, float, float]] = field(default=())


def chrome_trace(timeline: Timeline) -> dict[str, Any]:
    """The trace: groups of tracks for the logical I/Os, processors, controllers, links, and every drive."""
    events: list[Event] = list(_logical(timeline))
    events += _group(
        _PROCESSORS,
        "processors",
        [(work.processor, _Slice(work.what, work.began_s, work.ended_s, _of(work.causes))) for work in timeline.work],
        timeline.began_s,
    )
    events += _group(
        _CONTROLLERS,
        "controllers",
        [
            (
                each.controller,
                _Slice(
                    f"{each.op} {_size(each.size)}",
                    each.began_s,
                    each.ended_s,
                    {"offset": each.offset, "size": each.size, **_of(each.causes)},
                ),
            )
            for each in timeline.controller_commands
        ],
        timeline.began_s,
    )
    events += _group(
        _LINKS,
        "links",
        [
            (
                each.link,
                _Slice(
                    f"{each.op} {_size(each.size)}",
                    each.began_s,
                    each.ended_s,
                    {"size": each.size, **_of(each.causes)},
                ),
            )
            for each in timeline.transfers
        ],
        timeline.began_s,
    )
    for number, drive in enumerate(sorted({command.drive for command in timeline.commands})):
        slices = [(drive, _command(command)) for command in timeline.commands if command.drive == drive]
        events += _group(_DRIVES + number, f"drive {drive}", slices, timeline.began_s)
    named = [event for event in events if event["ph"] == "M"]
    timed = sorted((event for event in events if event["ph"] != "M"), key=_order)
    return {
        "traceEvents": named + timed,
        "displayTimeUnit": "ms",
        "otherData": {
            "scenario": timeline.scenario,
            "clock": f"microseconds from {timeline.began_s:.6f} s of simulated time, when the measurement began",
            "logical I/Os": len(timeline.ios),
        },
    }


def _order(event: Event) -> tuple[float, float]:
    """By time; what is longer before what is inside it."""
    return event["ts"], -event.get("dur", 0.0)


def _logical(timeline: Timeline) -> Iterator[Event]:
    if not timeline.ios:
        return
    yield from _names(_LOGICAL, "logical I/O")
    targets = sorted({io.device for io in timeline.ios})
    for thread, target in enumerate(targets, start=1):
        yield _meta("thread_name", _LOGICAL, thread, name=target)
    for io in timeline.ios:
        ended = timeline.ended_s if io.ended_s is None else io.ended_s
        args = {"number": io.number, "kind": io.kind, "offset": io.offset, "size": io.size, "issuer": io.issuer}
        if io.ended_s is not None:
            args["latency_ms"] = round(1e3 * (io.ended_s - io.began_s), 6)
        common = {
            "cat": "logical",
            "name": f"{io.op} {_size(io.size)}",
            "id": io.number,
            "pid": _LOGICAL,
            "tid": 1 + targets.index(io.device),
        }
        yield {"ph": "b", "ts": _us(io.began_s, timeline.began_s), **common, "args": args}
        for wait in io.waits:
            part = {**common, "name": wait.cause}
            yield {"ph": "b", "ts": _us(wait.began_s, timeline.began_s), **part}
            yield {"ph": "e", "ts": _us(wait.ended_s, timeline.began_s), **part}
        yield {"ph": "e", "ts": _us(ended, timeline.began_s), **common}


def _command(command: Command) -> _Slice:
    """A command, with its wait in the queue and in the drive, and its service, inside."""
    words = f"{command.role} {command.op}" if command.role else command.op
    args = {"kind": command.kind, "offset": command.offset, "size": command.size, "block I/Os": command.parts}
    phases = [
        ("in the queue", command.arrived_s, command.sent_s),
        ("waits in the drive", command.sent_s, command.started_s),
        ("served", command.started_s, command.ended_s),
    ]
    return _Slice(
        f"{words} {_size(command.size)}",
        command.arrived_s,
        command.ended_s,
        args | _of(command.causes),
        [phase for phase in phases if phase[1] < phase[2]],
    )


def _group(process: int, name: str, slices: Iterable[tuple[str, _Slice]], origin: float) -> Iterator[Event]:
    """A group of tracks: as many for each part as it does things side by side."""
    parts: dict[str, list[_Slice]] = {}
    for part, each in slices:
        parts.setdefault(part, []).append(each)
    if parts:
        yield from _names(process, name)
    thread = 0
    for part in sorted(parts):
        ends: list[float] = []
        for each in sorted(parts[part], key=lambda each: (each.began_s, each.ended_s)):
            begin, end = _us(each.began_s, origin), _us(each.ended_s, origin)
            track = next((i for i, over in enumerate(ends) if over <= begin), len(ends))
            if track == len(ends):
                ends.append(0.0)
                label = part if not track else f"{part} ({track + 1})"
                yield _meta("thread_name", process, thread + track + 1, name=label)
            ends[track] = end
            at = {"pid": process, "tid": thread + track + 1}
            yield {"ph": "X", "name": each.name, "ts": begin, "dur": _span(begin, end), **at, "args": each.args}
            for inner, low, high in each.inside:
                first, last = _us(low, origin), _us(high, origin)
                yield {"ph": "X", "name": inner, "ts": first, "dur": _span(first, last), **at}
        thread += len(ends)


def _names(process: int, name: str) -> Iterator[Event]:
    yield _meta("process_name", process, 0, name=name)
    yield _meta("process_sort_index", process, 0, sort_index=process)


def _meta(what: str, process: int, thread: int, **args: Any) -> Event:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": args}


def _of(causes: tuple[int, ...]) -> dict[str, Any]:
    return {"logical": list(causes)} if causes else {}


def _us(seconds: float, origin: float) -> float:
    """Microseconds from the origin, in whole nanoseconds; what began before it, as far as it is seen."""
    return max(0, round(1e9 * (seconds - origin))) / 1000


def _span(begin: float, end: float) -> float:
    return round(end - begin, 3)


def _size(size: int) -> str:
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} bytes"
