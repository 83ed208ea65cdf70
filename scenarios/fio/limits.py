"""What limits each group of jobs: how busy everything was while it ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...model.statistics.usage import SATURATED, Usage, bottleneck, limit
from ..running.base.run import Run
from .report import Ran

_FEW = 100
"""Fewer I/Os say nothing of what limits a job."""

_Seen = tuple[float, dict[tuple[str, str], Usage]]


class GroupLimits:
    """Looks at how busy everything is when groups begin and end.

    Parameters
    ----------
    run
        The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._began: dict[int, _Seen] = {}
        self._ended: dict[int, _Seen] = {}

    def begin(self, groupid: int) -> None:
        """A job of the group begins."""
        if groupid not in self._began:
            self._began[groupid] = self._look()

    def end(self, groupid: int) -> None:
        """A job of the group has ended."""
        self._ended[groupid] = self._look()

    def _look(self) -> _Seen:
        span = self._run.span
        return span, {(each.kind, each.name): each for each in self._run.usages()} if span > 0 else {}

    def words(self, ran: Sequence[Ran]) -> str:
        """What limits, in a sentence; group by group if there are several."""
        groups: dict[int, list[Ran]] = {}
        for each in ran:
            groups.setdefault(each.plan.groupid, []).append(each)
        found = {groupid: self._of(groupid, jobs) for groupid, jobs in groups.items() if groupid in self._ended}
        if len(set(found.values())) == 1:
            return next(iter(found.values()))
        return "; ".join(f"group {groupid}: {words}" for groupid, words in found.items()) or "nothing was busy"

    def _of(self, groupid: int, jobs: Sequence[Ran]) -> str:
        usages = _between(self._began[groupid], self._ended[groupid])
        busiest = limit(usages)
        bound = [each.plan.name for each in jobs if _is_bound(each)]
        if bound and (busiest is None or not busiest.saturated):
            names = ", ".join(dict.fromkeys(bound))
            return f"the thread of {names}, which never waits for an I/O: one core does no more"
        return bottleneck(usages)


def _is_bound(ran: Ran) -> bool:
    """Whether the one thread of a job computes nearly all of its time, so that it waits for nothing."""
    statistics = ran.statistics
    ios = sum(direction.ios for direction in statistics.directions)
    lasted_s = statistics.ended_s - statistics.began_s
    computed_s = statistics.user_s + statistics.system_s
    return ios > _FEW and computed_s >= SATURATED * lasted_s and not ran.plan.timing.thinking.pause_s


def _between(before: _Seen, after: _Seen) -> list[Usage]:
    """Usages of the time between two looks."""
    (first_s, earlier), (last_s, later) = before, after
    span = last_s - first_s
    if span <= 0:
        return []

    def share(now: float, then: float) -> float:
        return min(1.0, max(0.0, (now * last_s - then * first_s) / span))

    found = []
    for key, usage in later.items():
        old = earlier.get(key)
        old_ways = {way.name: way.utilisation for way in old.ways} if old is not None else {}
        ways = tuple(
            replace(way, utilisation=share(way.utilisation, old_ways.get(way.name, 0.0))) for way in usage.ways
        )
        busy = share(usage.utilisation, old.utilisation if old is not None else 0.0)
        found.append(replace(usage, utilisation=max((way.utilisation for way in ways), default=busy), ways=ways))
    return found
