"""B-WF2Q+ by hand: equal shares whatever the budgets, and no gain from having been away."""

from __future__ import annotations

from raidsim.model.schedulers.fair_queueing import FairQueueing, Flow


def flows(*budgets: float) -> list[Flow]:
    """Flows with these budgets."""
    made = [Flow() for _ in budgets]
    for flow, budget in zip(made, budgets, strict=True):
        flow.budget = budget
    return made


def shares(turns: FairQueueing, count: int) -> dict[Flow, float]:
    """What each flow has had after so many turns, each of which it uses up."""
    served: dict[Flow, float] = {}
    for _ in range(count):
        flow = turns.choose()
        assert flow is not None
        turns.serve(flow, flow.budget)
        served[flow] = served.get(flow, 0.0) + flow.budget
        turns.end_turn(True)
        flow.service = 0.0
    return served


def test_all_get_the_same_whatever_their_budgets() -> None:
    """A budget four times as large comes a quarter as often."""
    turns = FairQueueing()
    large, small = flows(400.0, 100.0)
    turns.activate(large, False)
    turns.activate(small, False)
    served = shares(turns, 100)
    assert abs(served[large] - served[small]) <= 400.0


def test_a_smaller_budget_is_served_first() -> None:
    """Of two that may begin, the one that finishes earlier: that is what keeps waits short."""
    turns = FairQueueing()
    large, small = flows(400.0, 100.0)
    turns.activate(large, False)
    turns.activate(small, False)
    assert turns.choose() is small


def test_who_was_away_gets_nothing_for_it() -> None:
    """A flow that comes late shares from then on; what it did not ask for before is not made up for."""
    turns = FairQueueing()
    first, late = flows(100.0, 100.0)
    turns.activate(first, False)
    shares(turns, 50)
    turns.activate(late, False)
    served = shares(turns, 20)
    assert abs(served[first] - served[late]) <= 100.0


def test_who_had_much_is_remembered() -> None:
    """A flow that goes away and comes back at once does not begin anew: the other goes first."""
    turns = FairQueueing()
    greedy, other = flows(100.0, 300.0)
    turns.activate(greedy, False)
    turns.activate(other, False)
    assert turns.choose() is greedy
    turns.serve(greedy, 1000.0)
    turns.end_turn(False)
    greedy.service, greedy.budget = 0.0, 100.0
    turns.activate(greedy, False)
    assert turns.choose() is other
