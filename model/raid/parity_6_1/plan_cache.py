"""What to read and write for a run of stripe heads: md's rule (:mod:`raidsim.model.raid.stripes.write_plan`),
remembered.

Rows of a layout repeat, and so do the states of their heads, so few different plans are made.
"""

from __future__ import annotations

from ...layouts.parity import ParityLayout
from ..stripes.write_plan import WritePlan, plan_write
from .stripe_head_run import StripeHeadRun

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

    __slots__ = ("_data", "_layout", "_plans", "_rmw_level", "_slots")

    def __init__(self, layout: ParityLayout, rmw_level: int) -> None:
        self._layout = layout
        self._rmw_level = rmw_level
        self._data = range(layout.data_members)
        self._slots = range(layout.data_members + layout.parities)
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
                [index for index in self._data if run.full >> index & 1],
                [index for index in self._data if run.partial >> index & 1],
                unreadable,
                absent,
                [slot for slot in self._slots if run.known >> slot & 1],
                self._rmw_level,
            )
            # The thread goes through a head's members from the last to the first (raid5.c, ops_run_io).
            reads, writes = (tuple(sorted(slots, reverse=True)) for slots in (plan.reads, plan.writes))
            plan = self._plans[key] = plan._replace(reads=reads, writes=writes)
        return plan
