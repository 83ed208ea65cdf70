"""Which of several designs that differ by their chunk alone is run further than a brief run.

All of them cost the same and survive the same failures, so the ranking goes by their latencies. The largest chunk is
simulated first, as it makes the fewest commands. If it meets the requirement, the others have a brief run with the same
I/Os. A design whose reads and writes are clearly slower in it cannot be the first of its kind and is not run further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from ..designs.designs import Design
from .bounds.drive_times import drive_time
from .fewest_drives import Candidates
from .runs import Measured, Simulations
from .trials import BRIEF_IOS, KEPT_S, Trials
from .verdict import Verdict


class Rivals:
    """Compares designs that differ by their chunk alone.

    Parameters
    ----------
    trials
        Tries designs.
    candidates
        All families, with what bounds say.

    Attributes
    ----------
    first
        The families that are simulated at once.
    """

    def __init__(self, trials: Trials, candidates: Sequence[Candidates]) -> None:
        self._trials = trials
        self.first = list(candidates)
        self._others: list[tuple[Candidates, Candidates]] = []
        if trials.requirement.all_chunks:
            return
        kinds: dict[tuple[object, ...], list[Candidates]] = {}
        for each in candidates:
            # Of several numbers of drives each family has its own fewest, and those are not alike in cost.
            if len(each.possible) == 1 and self._shows_at_once(each.possible[0]):
                kinds.setdefault((each.possible[0].drives, *each.family.without_chunk), []).append(each)
        for kind in kinds.values():
            leader = max(kind, key=lambda each: each.family.chunk)
            self._others += [(each, leader) for each in kind if each is not leader]
        waiting = {id(each) for each, _ in self._others}
        self.first = [each for each in candidates if id(each) not in waiting]

    def beaten(self, simulations: Simulations, found: dict[int, Verdict]) -> list[Verdict]:
        """Of the families that have waited those that are beaten.

        Parameters
        ----------
        simulations
            Runs the brief simulations.
        found
            What is known of those that were simulated at once, by the identity of the family.
        """
        pairs = [(each, found[id(leader.family)]) for each, leader in self._others]
        pairs = [(each, leader) for each, leader in pairs if leader.status == "meets"]
        iops, ops = self._trials.requirement.load.total_iops, self._trials.requirement.load.ops
        looks = [self._trials.screened(each.possible[0], iops, BRIEF_IOS[:1]) for each, _ in pairs]
        slower = []
        for verdict, (_, leader) in zip(simulations.run(looks), pairs, strict=True):
            assert verdict.measured is not None
            assert leader.measured is not None
            if verdict.status != "fails" and is_slower(verdict.measured, leader.measured, ops):
                reason = f"not run further: beaten by {leader.design.name}"
                slower.append(replace(verdict, status="beaten", reasons=(reason,)))
        return slower

    def waiting(self, found: dict[int, Verdict]) -> list[Candidates]:
        """Families of which nothing is known in the end yet."""
        return [each for each, _ in self._others if id(each.family) not in found]

    def _shows_at_once(self, design: Design) -> bool:
        """Whether a brief run shows how designs compare: no cache or bitmap fills up and changes that."""
        time = drive_time(self._trials.spec(design))
        bitmap = time.below.bitmap
        if time.writes_back:
            return False
        return bitmap is None or time.bits_s(bitmap, self._trials.requirement.load.total_iops) > KEPT_S


def is_slower(one: Measured, other: Measured, ops: Sequence[str]) -> bool:
    """Whether reads and writes are slower: by the 90 % intervals of their means, and by their p99."""
    for op in ops:
        slow, fast = (each.latencies.get(f"{op}_mean") for each in (one, other))
        if slow is None or fast is None or not isfinite(slow.half_width) or not isfinite(fast.half_width):
            return False
        slow_tail, fast_tail = (each.latencies.get(f"{op}_p99") for each in (one, other))
        if slow_tail is None or fast_tail is None:
            return False
        if slow.low <= fast.high or slow_tail.mean <= fast_tail.mean:
            return False
    return True
