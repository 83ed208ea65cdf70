"""B-WF2Q+: whose turn it is when everybody is to get an equal share of the service.

Every flow has a virtual start and finish: its start plus the service (bytes) that it may have, its budget. Of the flows
whose start has come the one with the earliest finish is next; the virtual time goes on with the service that is given,
shared by all. What a flow did not use of its budget is given back to it, because its start moves on by what it has
used. Source: block/bfq-wf2q.c (bfq_bfqq_served, __bfq_activate_entity, __bfq_deactivate_entity,
bfq_calc_vtime_jump), with equal weights and no groups.
"""

from __future__ import annotations


class Flow:
    """Somebody who is served.

    Attributes
    ----------
    start, finish
        Virtual times (bytes).
    service, budget
        What it has had of its turn, and what it may have (bytes).
    """

    __slots__ = ("budget", "finish", "service", "start")

    def __init__(self) -> None:
        self.start = self.finish = 0.0
        self.service = self.budget = 0.0

    @property
    def budget_left(self) -> float:
        """What is left of its turn (bytes)."""
        return self.budget - self.service


class FairQueueing:
    """Flows that wait for their turn, the one that has it, and those whose recent service is still remembered."""

    __slots__ = ("_now", "_remembered", "_served", "_waiting")

    def __init__(self) -> None:
        self._now = 0.0
        self._waiting: list[Flow] = []
        self._remembered: list[Flow] = []
        self._served: Flow | None = None

    @property
    def busy(self) -> int:
        """Flows that wait or are served."""
        return len(self._waiting) + (self._served is not None)

    def activate(self, flow: Flow, back_in_time: bool) -> None:
        """A flow has something to do again; `back_in_time`: it loses nothing by having been away for a moment."""
        now = self._now
        shifted = back_in_time and now > flow.finish
        earliest = flow.finish if shifted else now
        if flow in self._remembered:
            self._remembered.remove(flow)
            earliest = max(earliest, flow.finish)
        flow.start = earliest
        flow.finish = earliest + flow.budget
        if shifted and now > flow.finish:
            flow.start += now - flow.finish
            flow.finish = now
        self._waiting.append(flow)

    def choose(self) -> Flow | None:
        """Give the turn to the flow that is next; None if none waits."""
        waiting = self._waiting
        if not waiting:
            return None
        earliest = min(flow.start for flow in waiting)
        if earliest > self._now:
            self._now = earliest
        self._forget()
        chosen = min((flow for flow in waiting if flow.start <= self._now), key=_finish)
        waiting.remove(chosen)
        self._served = chosen
        return chosen

    def serve(self, flow: Flow, size: float) -> None:
        """Charge a flow for bytes of its turn."""
        flow.service += size
        sharing = self.busy + len(self._remembered)
        self._now += size / max(sharing, 1)
        self._forget()

    def end_turn(self, goes_on: bool) -> None:
        """The turn is over; the flow waits for the next one if it `goes_on`."""
        flow, self._served = self._served, None
        assert flow is not None
        flow.finish = flow.start + flow.service
        if goes_on:
            flow.start = flow.finish
            flow.finish = flow.start + flow.budget
            self._waiting.append(flow)
        elif flow.finish > self._now:
            self._remembered.append(flow)

    def _forget(self) -> None:
        if self._remembered:
            self._remembered = [flow for flow in self._remembered if flow.finish > self._now]


def _finish(flow: Flow) -> float:
    return flow.finish
