"""What to read and write for a run of stripe heads: md's rule (:mod:`raidsim.model.raid.stripes.write_plan`),
remembered.

Rows of a layout repeat, and so do the states of their heads, so few different plans are made.
"""

from __future__ import annotations

from ...layouts.parity import ParityLayout
from ..stripes.write_plan import WritePlan, plan_write
from .stripe_head_run import StripeHeadRun, numbers

_PLANS = 4096
"""So many different plans are remembered at most."""


class RunPlans:
    """The plans of one array.

    Parameters
    ----------
    layout
        The array's.
    rmw_level
        md's setting of that name.
    """

    __slots__ = ("_layout", "_plans", "_rmw_level")

    def __init__(self, layout: ParityLayout, rmw_level: int) -> None:
        self._layout = layout
        self._rmw_level = rmw_level
        self._plans: dict[tuple[int, int, int, int, frozenset[int], frozenset[int]], WritePlan] = {}

    def plan(self, run: StripeHeadRun, unreadable: frozenset[int], absent: frozenset[int]) -> WritePlan:
        """How to write what is new in `run`."""
        key = run.row % self._layout.period, run.full, run.partial, run.known, unreadable, absent
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = plan_write(
                self._layout.row(run.row),
                numbers(run.full),
                numbers(run.partial),
                unreadable,
                absent,
                numbers(run.known),
                self._rmw_level,
            )
            # The thread goes through a head's members from the last to the first (raid5.c, ops_run_io).
            reads, writes = (tuple(sorted(slots, reverse=True)) for slots in (plan.reads, plan.writes))
            plan = self._plans[key] = plan._replace(reads=reads, writes=writes)
        return plan
