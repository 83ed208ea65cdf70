"""B-WF2Q+: whose turn it is when everybody is to get an equal share of the service.

Every flow has a virtual start and finish: its start plus the service (bytes) that it may have, its budget. Of the flows
whose start has come the one with the earliest finish is next; the virtual time goes on with the service that is given,
shared by all. What a flow did not use of its budget is given back to it, because its start moves on by what it has
used. Source: block/bfq-wf2q.c (bfq_bfqq_served, __bfq_activate_entity, __bfq_deactivate_entity,
bfq_calc_vtime_jump), with equal weights and no groups.
"""

from __future__ import annotations

from heapq import heappop, heappush


class Flow:
    """Somebody who is served.

    Attributes
    ----------
    start, finish
        Virtual times (bytes).
    service, budget
        What it has had of its turn, and what it may have (bytes).
    remembered
        The number of the entry that remembers its recent service; 0 if none does.
    """

    __slots__ = ("budget", "finish", "remembered", "service", "start")

    def __init__(self) -> None:
        self.start = self.finish = 0.0
        self.service = self.budget = 0.0
        self.remembered = 0

    @property
    def budget_left(self) -> float:
        """What is left of its turn (bytes)."""
        return self.budget - self.service


class FairQueueing:
    """Flows that wait for their turn, the one that has it, and those whose recent service is still remembered.

    Each kind is a heap, as virtual time only goes on: so a turn does not cost more with many flows.
    """

    __slots__ = ("_begun", "_many", "_now", "_number", "_remembered", "_served", "_to_begin")

    def __init__(self) -> None:
        self._now = 0.0
        self._number = 0
        # What waits: by its start until that has come, then by its finish; of equal ones the first that came.
        self._to_begin: list[tuple[float, int, Flow]] = []
        self._begun: list[tuple[float, int, Flow]] = []
        # By their finish. A flow that has come back leaves its entry here.
        self._remembered: list[tuple[float, int, Flow]] = []
        self._many = 0
        self._served: Flow | None = None

    @property
    def busy(self) -> int:
        """Flows that wait or are served."""
        return len(self._to_begin) + len(self._begun) + (self._served is not None)

    def activate(self, flow: Flow, back_in_time: bool) -> None:
        """A flow has something to do again; `back_in_time`: it loses nothing by having been away for a moment."""
        now = self._now
        shifted = back_in_time and now > flow.finish
        earliest = flow.finish if shifted else now
        if flow.remembered:
            flow.remembered = 0
            self._many -= 1
            earliest = max(earliest, flow.finish)
        flow.start = earliest
        flow.finish = earliest + flow.budget
        if shifted and now > flow.finish:
            flow.start += now - flow.finish
            flow.finish = now
        self._wait(flow)

    def _wait(self, flow: Flow) -> None:
        self._number += 1
        heappush(self._to_begin, (flow.start, self._number, flow))

    def choose(self) -> Flow | None:
        """Give the turn to the flow that is next; None if none waits."""
        to_begin, begun = self._to_begin, self._begun
        if to_begin:
            if not begun and to_begin[0][0] > self._now:
                self._now = to_begin[0][0]
            while to_begin and to_begin[0][0] <= self._now:
                _, number, flow = heappop(to_begin)
                heappush(begun, (flow.finish, number, flow))
        elif not begun:
            return None
        self._forget()
        self._served = heappop(begun)[2]
        return self._served

    def serve(self, flow: Flow, size: float) -> None:
        """Charge a flow for bytes of its turn."""
        flow.service += size
        self._now += size / max(self.busy + self._many, 1)
        self._forget()

    def end_turn(self, goes_on: bool) -> None:
        """The turn is over; the flow waits for the next one if it `goes_on`."""
        flow, self._served = self._served, None
        assert flow is not None
        flow.finish = flow.start + flow.service
        if goes_on:
            flow.start = flow.finish
            flow.finish = flow.start + flow.budget
            self._wait(flow)
        elif flow.finish > self._now:
            self._number += 1
            flow.remembered = self._number
            self._many += 1
            heappush(self._remembered, (flow.finish, self._number, flow))

    def _forget(self) -> None:
        remembered = self._remembered
        while remembered and remembered[0][0] <= self._now:
            _, number, flow = heappop(remembered)
            if flow.remembered == number:
                flow.remembered = 0
                self._many -= 1
