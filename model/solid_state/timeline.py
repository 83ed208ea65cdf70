"""A server that serves work in the order in which it becomes ready, told of it in another order.

A drive works out when an I/O is complete at the moment it takes it: when its die has read the page, and then when the
channel and the interface have moved it. Another I/O, taken later, may have its page earlier and then goes first. So the
channel keeps what is booked on it as a few busy intervals, and work goes into the first gap that it fits after it is
ready. Gaps too short for any transfer are closed, so an overloaded server has one interval and costs little.

Limits: what is booked stays where it is; work that comes into a gap does not push it back. The order is
therefore that of readiness but for gaps that are too short, and no time is lost to work that fits.

Gaps never grow, so where work of one duration has once found none, work as long will find none either. That is
remembered, or each piece of a long backlog would look through all that is before it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

_INFINITY = float("inf")
_KEPT: Final = 64
_FAR: Final = 8
"""Intervals looked through before it is worth while to remember that there was nothing between them."""


class Timeline:
    """A server with gaps (a flash channel, a direction of the interface).

    Parameters
    ----------
    shortest_s
        Duration (s) of the shortest work that may come; a shorter gap counts as busy.

    Attributes
    ----------
    busy_s
        Time (s) booked.
    """

    __slots__ = ("_ends", "_full_from", "_full_s", "_full_to", "_shortest_s", "_starts", "busy_s")

    def __init__(self, shortest_s: float = 0.0) -> None:
        self._starts = [_INFINITY]
        self._ends = [_INFINITY]
        self._shortest_s = shortest_s
        # Between these two times (s) there is no gap as long as the duration (s).
        self._full_from = self._full_to = -_INFINITY
        self._full_s = _INFINITY
        self.busy_s = 0.0

    def book(self, now: float, ready: float, duration: float) -> float:
        """Serve `duration` (s) in the first gap from `ready` on; when it is over (s).

        Parameters
        ----------
        now
            The current time (s); what was over before it is forgotten.
        """
        self.busy_s += duration
        starts, ends = self._starts, self._ends
        i = bisect_right(ends, ready)
        end = ready + duration
        if starts[i] < end:
            if now <= ready < self._full_to and ready >= self._full_from and duration >= self._full_s:
                ahead = self._full_to
                i = bisect_right(ends, ahead)
                end = ahead + duration
            first = i
            while starts[i] < end:
                end = ends[i] + duration
                i += 1
            if i > first:
                self._remember(ready, ends[i - 1], duration, i - first)
        shortest = self._shortest_s
        begin = end - duration
        if i and begin - ends[i - 1] < shortest:
            if starts[i] - end < shortest:
                ends[i - 1] = ends[i]
                del starts[i], ends[i]
            else:
                ends[i - 1] = end
        elif starts[i] - end < shortest:
            starts[i] = begin
        else:
            starts.insert(i, begin)
            ends.insert(i, end)
            if i > _KEPT:
                over = bisect_right(ends, now)
                del starts[:over], ends[:over]
        return end

    def is_idle(self, at: float) -> bool:
        """Whether nothing is booked that ends after `at` (s)."""
        ends = self._ends
        return len(ends) < 2 or ends[-2] <= at

    def _remember(self, ready: float, to: float, duration: float, looked_at: int) -> None:
        """From `ready` to the end `to` of a busy interval (s) there is no gap for `duration` (s)."""
        if duration == self._full_s and self._full_from <= ready <= self._full_to:
            if to > self._full_to:
                self._full_to = to
        elif looked_at > _FAR:
            self._full_from, self._full_to, self._full_s = ready, to, duration
