"""What is known of every family while advice is still being worked out: a ranking from bounds at once, refined then.

Before any simulation the order is that of bounds: what is not refused by cost, drives, and the least share of the
drives' time that the load takes. Every simulation replaces the line of its family.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from ..comparison.array_facts import ArrayFacts
from ..designs.designs import Design
from .bounds.drive_times import drive_time
from .fewest_drives import Candidates
from .trials import Trials
from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a family so far.

    Attributes
    ----------
    design, facts
        The number of drives that was looked at last, or the fewest that bounds let pass.
    busy
        Least share of the drives' time that the load takes, by bounds; above 1 it is more than there is.
    verdict
        The last judgment; None before the first simulation.
    """

    design: Design
    facts: ArrayFacts
    busy: float
    verdict: Verdict | None

    @property
    def fails(self) -> bool:
        """Whether it is out for good with these drives."""
        return self.verdict is not None and self.verdict.status == "fails"

    @property
    def order(self) -> tuple[float, ...]:
        """Where it stands: what is out behind all others, each by cost, drives, and latency or use of the drives."""
        cost = inf if self.facts.cost is None else self.facts.cost
        measured = self.verdict is not None and self.verdict.measured is not None
        return (
            self.fails,
            cost,
            self.facts.drives,
            not measured,
            self.verdict.worst_p99 if self.verdict else self.busy,
        )


class Standings:
    """All families in the order of what is known of them.

    Parameters
    ----------
    trials
        Knows the designs' scenarios.
    candidates
        The families, with what bounds say.
    seen
        Called with this object at once, and after every change.
    """

    def __init__(
        self, trials: Trials, candidates: Sequence[Candidates], seen: Callable[[Standings], None] | None
    ) -> None:
        self.requirement = trials.requirement
        self._trials = trials
        self._seen = seen
        self._found: dict[int, Standing] = {}
        if seen is None:
            return
        for each in candidates:
            design = each.possible[0] if each.possible else each.designs[-1]
            facts = trials.facts(design)
            refused = tuple(each.refused)
            out = Verdict(design, facts, "fails", tuple(one.text for one in refused), refused) if refused else None
            self._found[id(each.family)] = Standing(design, facts, self._busy(design), out)
        seen(self)

    def put(self, verdict: Verdict) -> None:
        """Replace what is known of a family; designs of other families, tried as alternatives, change nothing."""
        family = id(verdict.design.family)
        if self._seen is None or family not in self._found:
            return
        self._found[family] = Standing(verdict.design, verdict.facts, self._busy(verdict.design), verdict)
        self._seen(self)

    def ranked(self) -> list[Standing]:
        """The best first, what fails last."""
        return sorted(self._found.values(), key=lambda each: each.order)

    def _busy(self, design: Design) -> float:
        time = drive_time(self._trials.spec(design))
        return time.demand(self.requirement.load.total_iops, self.requirement.limits).busy / time.members
