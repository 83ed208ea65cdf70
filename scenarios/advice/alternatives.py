"""What would do if nothing meets a requirement: more drives, or less load on those there are."""

from __future__ import annotations

from ..designs.designs import Design, families, impossible
from ..designs.families import Family
from .bounds.bounds import TOO_MANY
from .bounds.drive_times import drive_time
from .fewest_drives import FULL_IOS, at_least, first_that
from .ranking import cost_key
from .runs import Search, Simulations, Task
from .trials import BRIEF_IOS, Trials
from .verdict import Attainable, Verdict

_MOST_SUGGESTED = 120
"""Drives of a design that nobody asked for: more are several arrays."""
_GROWTH = 1.6
"""More drives are tried in steps of this factor until they do."""
_RESOLUTION = 0.05
"""How near to the fewest drives a suggestion is, as a share of them."""
_MARGIN = 0.08
"""Share of drives that are added until the intervals keep the limits too."""
_STEPS = 8
"""Bisections of the load, at most."""
_CLOSE = 0.1
"""Share of the load that the bisection ends at."""
_ROUGHLY = BRIEF_IOS[:2]
"""I/Os of the runs that look for a number of drives; the one found is simulated to the precision."""
_LEAST_SHARE = 1 / 32
"""Lower loads than this share of the required one are no alternative to it."""
_TRIES = 4
_BACK = 0.93
"""A rate that brief runs let pass is lowered to this share of itself, so that intervals keep the limits too."""


class Alternatives:
    """Looks for what would do instead.

    Parameters
    ----------
    trials
        Tries designs.
    """

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._requirement = trials.requirement

    def search(self, simulations: Simulations) -> tuple[list[Verdict], list[Attainable]]:
        """What more drives would do, and what those there are can."""
        more: list[Search[Verdict | None]] = []
        fewer: list[Search[Attainable | None]] = []
        for chosen in self._most_promising():
            more.append(self._more_drives(chosen))
            design = self._largest(chosen)
            if design is not None:
                fewer.append(self._less_load(design))
        found = simulations.run([*more, *fewer])
        would_do = [each for each in found if isinstance(each, Verdict)]
        attainable = [each for each in found if isinstance(each, Attainable)]
        return sorted(would_do, key=cost_key), sorted(attainable, key=lambda each: -each.iops)

    def _most_promising(self) -> list[Family]:
        """Of every drive, for arrays on every controller and pools, the family with the fewest commands of the load."""
        best: dict[object, tuple[float, float, Family]] = {}
        for family, counts in families(self._requirement):
            design = next(
                (
                    each
                    for count in (counts[-1], *range(counts[-1] + 1, 2 * counts[-1] + 8))
                    if family.fits(count - self._requirement.hot_spares)
                    and impossible(each := Design(family, count, self._requirement.hot_spares)) is None
                ),
                None,
            )
            if design is None:
                continue
            facts = self._trials.facts(design)
            if facts.survives_any < self._requirement.survives:
                continue
            visits = drive_time(self._trials.spec(design)).demand(1.0).visits
            key = (family.drive.identity, repr(family.controller), family.level.is_pool)
            entry = (visits, -facts.usable_bytes / facts.raw_bytes, family)
            if key not in best or entry[:2] < best[key][:2]:
                best[key] = entry
        return [entry[2] for entry in best.values()]

    def _largest(self, family: Family) -> Design | None:
        """The family with as many of the requirement's drives as it can have."""
        reach = self._requirement.load.span or 0
        for count in reversed(family.drive.count):
            design = Design(family, count, self._requirement.hot_spares)
            if not family.fits(design.members) or impossible(design) is not None:
                continue
            return design if self._trials.facts(design).usable_bytes >= reach else None
        return None

    def _more_drives(self, family: Family) -> Search[Verdict | None]:
        """The fewest drives of a family that would do, whatever the requirement's numbers; None if none would."""
        spares, iops = self._requirement.hot_spares, self._requirement.load.total_iops
        start = family.drive.count[0]
        most = max(start, _MOST_SUGGESTED)
        counts = [n for n in range(start, most + 1) if family.fits(n - spares) and family.is_regular(n - spares)]
        designs = [Design(family, count, spares) for count in counts]
        first = first_that(
            len(designs),
            lambda i: (
                impossible(designs[i]) is None
                and not [each for each in self._trials.refused(designs[i]) if each.bound not in TOO_MANY]
            ),
        )
        if first is None:
            return None
        low, high = first, first
        while True:
            screened = yield from self._trials.screened(designs[high], iops, _ROUGHLY)
            if screened.seems:
                break
            if high == len(designs) - 1:
                return None
            low = high + 1
            high = at_least(counts, _GROWTH * counts[high], low)
        while counts[high] - counts[low] > _RESOLUTION * counts[high]:
            middle = (low + high) // 2
            screened = yield from self._trials.screened(designs[middle], iops, _ROUGHLY)
            if not screened.seems:
                low = middle + 1
            else:
                high = middle
        # A little more than what seemed to do, so that intervals keep the limits too.
        step = at_least(counts, (1.0 + _MARGIN) * counts[high], high)
        for _ in range(_TRIES):
            verdict = yield from self._trials.precisely(designs[step], iops)
            if verdict.status == "meets" and (self._requirement.headroom or self._requirement.data_loss) is not None:
                verdict = yield from self._trials.completed(verdict)
            if verdict.status == "meets":
                return verdict
            if step == len(designs) - 1:
                return None
            step = at_least(counts, (1.0 + _MARGIN) * counts[step], step + 1)
        return None

    def _less_load(self, design: Design) -> Search[Attainable | None]:
        """The most I/Os per second of a design within the limits: bisection below what all drives serve."""
        refused = self._trials.refused(design)
        if any(each.bound == "latency" for each in refused):
            return None  # not even idle drives keep the limit
        most = [each.most_iops for each in refused if each.most_iops is not None]
        if not most:
            full = yield Task(design, "full", self._requirement.load.total_iops, FULL_IOS)
            most = [full.iops]
        high = min(self._requirement.load.total_iops, *most)
        low = 0.0
        for _ in range(_STEPS):
            if high < _LEAST_SHARE * self._requirement.load.total_iops:
                return None
            rate = (low + high) / 2.0
            screened = yield from self._trials.screened(design, rate)
            if not screened.seems:
                high = rate
            else:
                low = rate
            if high - low <= _CLOSE * high:
                break
        if not low:
            return None
        rate = low
        for _ in range(_TRIES):
            rate *= _BACK
            verdict = yield from self._trials.precisely(design, rate)
            if verdict.status == "meets":
                return Attainable(verdict, rate)
        return None
