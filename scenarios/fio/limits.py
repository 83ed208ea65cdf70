"""What limits each group of jobs: the utilization of everything while it ran."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.statistics.usage import SATURATED, bottleneck, limit
from ..running.base.looks import Look, look_at, usages_between
from ..running.base.run import Run
from ..running.base.waits import longest_wait
from .report import Ran

_FEW = 100
"""Fewer I/Os say nothing of what limits a job."""


class GroupLimits:
    """Records the utilization of everything when groups begin and end.

    Parameters
    ----------
    run
        The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._began: dict[int, Look] = {}
        self._ended: dict[int, Look] = {}

    def begin(self, groupid: int) -> None:
        """A job of the group begins."""
        if groupid not in self._began:
            self._began[groupid] = look_at(self._run)

    def end(self, groupid: int) -> None:
        """A job of the group has ended."""
        self._ended[groupid] = look_at(self._run)

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
        usages = usages_between(self._began[groupid], self._ended[groupid])
        busiest = limit(usages)
        bound = [each.plan.name for each in jobs if _is_bound(each)]
        if bound and (busiest is None or not busiest.saturated):
            names = ", ".join(dict.fromkeys(bound))
            return f"the thread of {names}, which never waits for an I/O: one core does no more"
        return bottleneck(usages, longest_wait([each.statistics.waits for each in jobs]))


def _is_bound(ran: Ran) -> bool:
    """Whether the one thread of a job computes nearly all of its time, so that it waits for nothing."""
    statistics = ran.statistics
    ios = sum(direction.ios for direction in statistics.directions)
    lasted_s = statistics.ended_s - statistics.began_s
    computed_s = statistics.user_s + statistics.system_s
    return ios > _FEW and computed_s >= SATURATED * lasted_s and not ran.plan.timing.thinking.pause_s
