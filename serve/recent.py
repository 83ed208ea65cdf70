"""What a served array has done since somebody last looked: the figures of a live view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from time import monotonic
from typing import Any

from pydantic import TypeAdapter

from ..model.statistics import LatencyHistogram
from ..model.statistics.usage import Usage, limit
from ..scenarios.running.base.prediction import RebuildProgress
from .array import ServedArray
from .counts import NAMES, Counts
from .pace import Pace

EVERY_S = 0.9
"""Least time (s of the wall clock) between two looks that several viewers share. Viewers ask every second."""
_PERCENT = (50.0, 99.0)


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of one kind: how many a second of simulated time, and their mean, p50 and p99 latency (s)."""

    kind: str
    per_second: float
    mean_s: float
    p50_s: float
    p99_s: float


@dataclass(frozen=True, slots=True)
class Look:
    """One look.

    Attributes
    ----------
    at_s, span_s
        Simulated time now, and since the last look (s).
    requests
        What was answered, by kind.
    bytes_per_second
        Bytes read and written, per second of simulated time.
    outstanding
        Requests in the array.
    dirty_bytes
        Bytes in the drives' write caches that are not on their media.
    parts
        (name, kind, utilization 0 to 1) of each part since the last look, the busiest first.
    bottleneck
        In words; None if nothing was used.
    rebuilds
        Rebuilds and checks that are not over.
    late_p50_s, late_p99_s, late_share
        Lateness of the answers since the last look (s of the wall clock), and of all as a share of the latency; None as
        fast as possible.
    """

    at_s: float
    span_s: float
    requests: tuple[Requests, ...]
    bytes_per_second: float
    outstanding: int
    dirty_bytes: int
    parts: tuple[tuple[str, str, float], ...]
    bottleneck: str | None
    rebuilds: tuple[RebuildProgress, ...]
    late_p50_s: float | None
    late_p99_s: float | None
    late_share: float | None

    def document(self) -> dict[str, Any]:
        """The look as plain data for JSON."""
        found: dict[str, Any] = _LOOK.dump_python(self, mode="json")
        return found


_LOOK = TypeAdapter(Look)


class Recent:
    """Looks at a served array again and again.

    Parameters
    ----------
    array, counts
        The array, and what it has answered; `counts` keeps figures for this from now on.
    """

    def __init__(self, array: ServedArray, counts: Counts) -> None:
        self._array = array
        self._counts = counts
        self._at_s = array.engine.now
        self._bytes = counts.read_bytes + counts.write_bytes
        self._busy = {each.name: each.utilization * array.span for each in self._used()}
        counts.recent = self._fresh()

    def _fresh(self) -> dict[int | None, LatencyHistogram]:
        return {op: LatencyHistogram() for op in (*NAMES, None)}

    def look(self, outstanding: int) -> Look:
        """What has happened since the last look, with the number of requests in the array."""
        array, counts = self._array, self._counts
        found, counts.recent = counts.recent, self._fresh()
        assert found is not None
        now = array.engine.now
        span, self._at_s = now - self._at_s, now
        moved = counts.read_bytes + counts.write_bytes
        rate, self._bytes = (moved - self._bytes) / span if span > 0 else 0.0, moved
        requests = tuple(
            Requests(name, found[op].count / span, found[op].mean, *(found[op].percentile(each) for each in _PERCENT))
            for op, name in NAMES.items()
            if found[op].count and span > 0
        )
        late = found[None]
        timed = counts.speed is not None
        usages = self._usages(span)
        bottleneck = limit(usages) if usages and max(each.utilization for each in usages) > 0 else None
        return Look(
            at_s=now,
            span_s=span,
            requests=requests,
            bytes_per_second=rate,
            outstanding=outstanding,
            dirty_bytes=sum(getattr(disk, "dirty_bytes", 0) for disk in array.machine.disks.values()),
            parts=tuple(
                sorted(((each.name, each.kind, each.utilization) for each in usages), key=lambda part: -part[2])
            ),
            bottleneck=None if bottleneck is None else bottleneck.words,
            rebuilds=tuple(each for each in array.working()),
            late_p50_s=late.percentile(50.0) if timed and late.count else 0.0 if timed else None,
            late_p99_s=late.percentile(99.0) if timed and late.count else 0.0 if timed else None,
            late_share=counts.late_share if timed and isfinite(counts.late_share) else None,
        )

    def _usages(self, span: float) -> tuple[Usage, ...]:
        """Utilization of each part since the last look: from what it has been since the first request."""
        array = self._array
        if not span > 0:
            return ()
        found, busy = [], {}
        for usage in self._used():
            busy[usage.name] = seconds = usage.utilization * array.span
            share = (seconds - self._busy.get(usage.name, 0.0)) / min(span, array.span)
            found.append(array.with_utilization(usage, min(1.0, max(0.0, share))))
        self._busy = busy
        return tuple(found)

    def _used(self) -> tuple[Usage, ...]:
        """Utilization of each part since the first request; none before it."""
        array = self._array
        return array.usages() if array.is_counting and array.span > 0 else ()


class Looks:
    """Looks that all viewers of a server share: the terminal, the web page, an operator.

    Parameters
    ----------
    pace
        Of the server.
    clock
        The wall clock (s).
    """

    def __init__(self, pace: Pace, clock: Callable[[], float] = monotonic) -> None:
        self._pace = pace
        self._clock = clock
        self._recent: Recent | None = None
        self._last: Look | None = None
        self._at_s = 0.0

    def latest(self) -> Look:
        """The last look, or a new one if `EVERY_S` have passed. The first one has no figures yet: nobody counted."""
        now_s = self._clock()
        if self._last is not None and now_s - self._at_s < EVERY_S:
            return self._last
        if self._recent is None:
            self._recent = Recent(self._pace.array, self._pace.counts)
        self._last, self._at_s = self._recent.look(self._pace.outstanding), now_s
        return self._last

    def document(self) -> dict[str, Any]:
        """What is served, and the latest look, as plain data for JSON."""
        return {"served": self._pace.array.name, "look": self.latest().document()}
