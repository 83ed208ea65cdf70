"""Which designs meet a requirement, why the others do not, and what would.

First bounds (:mod:`.bounds`) refuse what cannot do. What is left is simulated for longer and longer: a brief run from
an empty array shows latencies that can only grow, so a design whose 90 % interval lies beyond a limit is out. What
stays in is simulated until the precision is reached. A design meets the requirement if the whole interval keeps the
limit; if only part of it does, it is too close to call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Literal

from ...model.quantities import format_duration
from ..comparison.array_facts import ArrayFacts, array_facts
from ..comparison.reliability import data_loss
from ..scenario import ScenarioSpec
from .advice_runs import Measured, Search, Simulations, Task
from .bounds import Refusal, refusals
from .designs import Design, Family, families, impossible
from .drive_time import DriveTime
from .requirement import RequirementSpec

Status = Literal["meets", "close", "fails"]
BRIEF_IOS = (600, 2500, 6000)
"""I/Os of the brief runs, one after the other."""
FULL_IOS = 3000
"""I/Os that a design that is too slow would serve in the time in which it is looked at with as many as it takes."""
_CLEARLY = 2.0
"""A percentile without interval that is so many times the limit is beyond it."""
_FINER = (1, 2, 4, 8)
"""A design that is too close to call is simulated again at half the precision, and again if an interval is unknown."""
_MOST_SUGGESTED = 120
"""Drives of a design that nobody asked for: more are several arrays."""
_GROWTH = 1.6
"""More drives are tried in steps of this factor until they do."""
_RESOLUTION = 0.05
"""How near to the fewest drives a suggestion is, as a share of them."""
_MARGIN = 0.08
"""Share of drives that are added until the intervals keep the limits too."""
_STEPS = 5
"""Bisections of the load."""
_TRIES = 4
_BACK = 0.93
"""A rate that brief runs let pass is lowered to this share of itself, so that intervals keep the limits too."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of a design.

    Attributes
    ----------
    design, facts
        What it is, and what holds without simulation.
    status
        "meets", "close" (part of an interval is beyond a limit) or "fails".
    reasons
        Why it does not.
    refusals
        Bounds that it does not keep; it was not simulated then.
    measured
        The last simulation under the load.
    needed
        Drive commands per second that the load needs at least.
    seems
        Whether it keeps the limits but for the intervals.
    full_at
        About as many I/Os per second as it serves if it is too slow, from a brief run with as many as it takes.
    saturation
        The simulation with as many I/Os as it takes.
    loss_per_year, rebuild_s
        Probability of losing data within a year, and time to rebuild a member (s) beside the load; None if not known.
    """

    design: Design
    facts: ArrayFacts
    status: Status
    reasons: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    measured: Measured | None = None
    needed: float = 0.0
    seems: bool = False
    full_at: float | None = None
    saturation: Measured | None = None
    loss_per_year: float | None = None
    rebuild_s: float | None = None

    @property
    def saturates_at(self) -> float | None:
        """I/Os per second of which more do not get through."""
        return self.saturation.iops if self.saturation is not None else None

    @property
    def worst_p99(self) -> float:
        """The slower p99 (s) of reads and writes."""
        if self.measured is None:
            return inf
        found = [each.mean for name, each in self.measured.latencies.items() if name.endswith("p99")]
        return max(found, default=inf)


@dataclass(frozen=True)
class Attainable:
    """The most I/Os per second that a design of the requirement's drives serves within the limits."""

    verdict: Verdict
    iops: float


@dataclass(frozen=True)
class Advice:
    """The answer.

    Attributes
    ----------
    requirement
        The question.
    verdicts
        All designs, in the order in which the requirement has them; of several numbers of drives the fewest that do.
    ranked
        Those that meet it, the best of them (which no other beats in everything) first.
    best
        How many of `ranked` no other beats in everything.
    alike
        Chunk sizes that were not simulated, because they make as many commands of every I/O.
    impossible
        Designs that cannot be built, with the reason.
    would_do
        If nothing meets it: designs of more drives that do.
    attainable
        If nothing meets it: what the drives there are can do.
    simulations
        How many were run.
    """

    requirement: RequirementSpec
    verdicts: tuple[Verdict, ...]
    ranked: tuple[Verdict, ...]
    best: int
    alike: tuple[int, ...]
    impossible: tuple[tuple[Design, str], ...]
    would_do: tuple[Verdict, ...] = ()
    attainable: tuple[Attainable, ...] = ()
    simulations: int = 0
    considered: int = 0


@dataclass
class _Candidates:
    """Designs of one family, and what bounds say."""

    family: Family
    designs: list[Design]
    possible: list[Design]
    refused: list[Refusal]


def advise(
    requirement: RequirementSpec,
    workers: int | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Advice:
    """Answer a requirement.

    Parameters
    ----------
    requirement
        The question.
    workers
        Processes; as many as cores unless given. They make no difference to the answer.
    watch
        Called with the number of simulations done, and of those known to be needed.
    """
    return Adviser(requirement).answer(workers, watch)


class Adviser:
    """Answers one requirement.

    Parameters
    ----------
    requirement
        The question.
    """

    def __init__(self, requirement: RequirementSpec) -> None:
        self.requirement = requirement
        self._specs: dict[str, ScenarioSpec] = {}
        self._refusals: dict[str, list[Refusal]] = {}
        self.impossible: list[tuple[Design, str]] = []

    def spec(self, design: Design) -> ScenarioSpec:
        key = design.key
        if key not in self._specs:
            self._specs[key] = design.scenario(self.requirement)
        return self._specs[key]

    def answer(self, workers: int | None, watch: Callable[[int, int], None] | None) -> Advice:
        candidates, alike = self._candidates()
        considered = sum(len(each.designs) for each in candidates)
        with Simulations(self.requirement, workers, watch) as simulations:
            verdicts = simulations.run([self._smallest(each) for each in candidates])
            good = [verdict for verdict in verdicts if verdict.status != "fails"]
            completed = dict(zip(good, simulations.run([self.completed(each) for each in good]), strict=True))
            verdicts = [completed.get(verdict, verdict) for verdict in verdicts]
            front, rest = pareto([verdict for verdict in verdicts if verdict.status == "meets"])
            would_do: list[Verdict] = []
            attainable: list[Attainable] = []
            if not front:
                would_do, attainable = self._instead(simulations)
            done = simulations.done
        return Advice(
            requirement=self.requirement,
            verdicts=tuple(verdicts),
            ranked=(*front, *rest),
            best=len(front),
            alike=tuple(alike),
            impossible=tuple(self.impossible),
            would_do=tuple(would_do),
            attainable=tuple(attainable),
            simulations=done,
            considered=considered,
        )

    def _candidates(self) -> tuple[list[_Candidates], list[int]]:
        """Families with what bounds say; of chunk sizes that cannot differ only the first."""
        found: list[_Candidates] = []
        seen: set[object] = set()
        alike: dict[int, None] = {}
        for family, counts in families(self.requirement):
            designs = [Design(family, count, self.requirement.hot_spares) for count in counts]
            for design in designs:
                reason = impossible(design)
                if reason is not None:
                    self.impossible.append((design, reason))
            designs = [design for design in designs if impossible(design) is None]
            if not designs:
                continue
            footprint = self._footprint(designs[-1])
            if footprint is not None and (family.without_chunk, footprint) in seen:
                alike[family.chunk] = None
                continue
            seen.add((family.without_chunk, footprint))
            found.append(self._bounded(family, designs))
        return found, list(alike)

    def _bounded(self, family: Family, designs: list[Design]) -> _Candidates:
        """The designs that bounds let pass: more drives never break another bound than the budget."""

        def slow(design: Design) -> list[Refusal]:
            return [each for each in self._refused(design) if each.bound != "budget"]

        def dear(design: Design) -> list[Refusal]:
            return [each for each in self._refused(design) if each.bound == "budget"]

        first = _first(len(designs), lambda i: not slow(designs[i]))
        if first is None:
            return _Candidates(family, designs, [], self._refused(designs[-1]))
        above = _first(len(designs), lambda i: bool(dear(designs[i])))
        possible = designs[first:above]
        return _Candidates(family, designs, possible, [] if possible else self._refused(designs[first]))

    def _footprint(self, design: Design) -> object | None:
        """What commands an I/O makes, if that and nothing else depends on the chunk."""
        time = DriveTime(self.spec(design))
        same = tuple((op, round(each.total, 9), round(each.reads, 9)) for op, each in time.visits.items())
        return same if time.is_bounded and time.controller is None else None

    def _smallest(self, candidates: _Candidates) -> Search[Verdict]:
        """The fewest drives of a family that meet the requirement: more of them are never slower."""
        possible = candidates.possible
        if not possible:
            design = candidates.designs[-1]
            refused = candidates.refused
            reasons = tuple(refusal.text for refusal in refused)
            return Verdict(design, array_facts(self.spec(design)), "fails", reasons, tuple(refused))
        low, high = 0, len(possible) - 1
        last: Verdict | None = None
        while low < high:
            middle = (low + high) // 2
            screened = yield from self._screened(possible[middle], self.requirement.load.iops)
            if screened.status == "fails":
                low = middle + 1
            else:
                high = middle
        for design in possible[low : low + _TRIES]:
            last = yield from self._settled(design, self.requirement.load.iops)
            if last.status != "fails":
                return last
        assert last is not None
        if DriveTime(self.spec(last.design)).writes_back:
            return last  # what a cache takes for a while says nothing
        full = yield Task(last.design, "full", self.requirement.load.iops, FULL_IOS)
        return replace(last, full_at=full.iops)

    def _screened(self, design: Design, iops: float) -> Search[Verdict]:
        """Brief runs; "fails" is certain, anything else is not."""
        verdict: Verdict | None = None
        for ios in BRIEF_IOS:
            measured = yield Task(design, "brief", iops, ios)
            verdict = self._judged(design, measured)
            if verdict.status == "fails":
                break
        assert verdict is not None
        return verdict

    def _settled(self, design: Design, iops: float) -> Search[Verdict]:
        """Brief runs, and then one to the precision."""
        verdict = yield from self._screened(design, iops)
        if verdict.status == "fails":
            return verdict
        return (yield from self._precisely(design, iops))

    def _precisely(self, design: Design, iops: float, first: int = 0) -> Search[Verdict]:
        """A run to the precision, and to finer ones if it is too close to call; from the `first` of them on."""
        verdict: Verdict | None = None
        for finer in _FINER[first:]:
            measured = yield Task(design, "precise", iops, finer=finer)
            verdict = self._judged(design, measured)
            if verdict.status != "close" or (finer > 1 and self._known(measured)):
                break
        assert verdict is not None
        return verdict

    def _known(self, measured: Measured) -> bool:
        """Whether there are intervals of all that is limited."""
        limits = self.requirement.limits
        return all(
            isfinite(each.half_width)
            for name, each in measured.latencies.items()
            if limits.of(*name.split("_")) is not None
        )

    def completed(self, verdict: Verdict) -> Search[Verdict]:
        """What else there is to know of a design that would do, and the limits that need it."""
        wanted, design = self.requirement, verdict.design
        saturation = yield Task(design, "saturate", wanted.load.iops)
        verdict = replace(verdict, saturation=saturation)
        rebuilt = yield Task(design, "rebuild", wanted.load.iops)
        risk = data_loss(self.spec(design), rebuilt.seconds)
        if risk is not None:
            verdict = replace(verdict, loss_per_year=risk.per_year, rebuild_s=rebuilt.seconds)
        reasons = list(verdict.reasons)
        status = verdict.status
        if wanted.headroom is not None and saturation.rate is not None:
            share = wanted.load.iops / saturation.iops
            text = f"{wanted.load.iops:,.0f} IOPS are {100 * share:.0f} % of the {saturation.iops:,.0f} it saturates at"
            half = saturation.rate.half_width if isfinite(saturation.rate.half_width) else 0.0
            if wanted.load.iops > wanted.headroom * (saturation.iops + half):
                status, reasons = "fails", [*reasons, text]
            elif wanted.load.iops > wanted.headroom * (saturation.iops - half):
                status, reasons = _worse(status, "close"), [*reasons, text]
        if wanted.data_loss is not None:
            if verdict.loss_per_year is None:
                status, reasons = "fails", [*reasons, "nothing is known of how often its drives fail"]
            elif verdict.loss_per_year > wanted.data_loss:
                text = f"loses data with {verdict.loss_per_year:.2g} a year, above {wanted.data_loss:.2g}"
                status, reasons = "fails", [*reasons, text]
        return replace(verdict, status=status, reasons=tuple(reasons))

    def _judged(self, design: Design, measured: Measured) -> Verdict:
        """Compare a simulation with the limits."""
        spec = self.spec(design)
        needed = DriveTime(spec).demand(measured.task.iops).visits
        status: Status = "meets"
        reasons: list[str] = []
        near: list[str] = []
        brief = measured.task.kind == "brief"
        seems = not measured.saturated
        if measured.saturated:
            status = "fails"
            reasons.append(f"saturated, serves {measured.iops:,.0f} IOPS")
        for op in self.requirement.load.ops:
            for kind in ("p99", "mean"):
                limit = self.requirement.limits.of(op, kind)
                estimate = measured.latencies.get(f"{op}_{kind}")
                if limit is None or estimate is None:
                    continue
                known = isfinite(estimate.half_width)
                low = estimate.low if known else estimate.mean / _CLEARLY
                high = estimate.high if known else inf
                what = f"{op} {kind}"
                if estimate.mean > limit:
                    seems = False
                if low > limit:
                    status = "fails"
                    more = " and rising" if brief else ""
                    reasons.append(f"{what} {format_duration(estimate.mean)}{more}")
                elif high > limit:
                    status = _worse(status, "close")
                    width = format_duration(estimate.half_width) if known else "?"
                    near.append(f"{what} {format_duration(estimate.mean)} ± {width}, limit {format_duration(limit)}")
        why = tuple(reasons if status == "fails" else near)
        return Verdict(design, array_facts(spec), status, why, (), measured, needed, seems)

    def _instead(self, simulations: Simulations) -> tuple[list[Verdict], list[Attainable]]:
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
        return sorted(would_do, key=_cost_key), sorted(attainable, key=lambda each: -each.iops)

    def _most_promising(self) -> list[Family]:
        """Of every drive on every controller the family that makes the fewest commands of the load."""
        best: dict[object, tuple[float, float, Family]] = {}
        for family, counts in families(self.requirement):
            design = next(
                (
                    each
                    for count in (counts[-1], *range(counts[-1] + 1, 2 * counts[-1] + 8))
                    if family.fits(count - self.requirement.hot_spares)
                    and impossible(each := Design(family, count, self.requirement.hot_spares)) is None
                ),
                None,
            )
            if design is None:
                continue
            facts = array_facts(self.spec(design))
            if facts.survives_any < self.requirement.survives:
                continue
            visits = DriveTime(self.spec(design)).demand(1.0).visits
            key = (family.drive.model, repr(family.drive.overrides), repr(family.controller))
            entry = (visits, -facts.usable_bytes / facts.raw_bytes, family)
            if key not in best or entry[:2] < best[key][:2]:
                best[key] = entry
        return [entry[2] for entry in best.values()]

    def _largest(self, family: Family) -> Design | None:
        """The family with as many of the requirement's drives as it can have."""
        for count in reversed(family.drive.count):
            design = Design(family, count, self.requirement.hot_spares)
            if family.fits(design.members) and impossible(design) is None:
                return design
        return None

    def _more_drives(self, family: Family) -> Search[Verdict | None]:
        """The fewest drives of a family that would do, whatever the requirement's numbers; None if none would."""
        spares, iops = self.requirement.hot_spares, self.requirement.load.iops
        start = family.drive.count[0]
        most = max(start, _MOST_SUGGESTED)
        counts = [n for n in range(start, most + 1) if family.fits(n - spares) and family.is_regular(n - spares)]
        designs = [Design(family, count, spares) for count in counts]
        first = _first(
            len(designs),
            lambda i: (
                impossible(designs[i]) is None
                and not [each for each in self._refused(designs[i]) if each.bound != "budget"]
            ),
        )
        if first is None:
            return None
        low, high = first, first
        while True:
            screened = yield from self._screened(designs[high], iops)
            if screened.seems:
                break
            if high == len(designs) - 1:
                return None
            low = high + 1
            high = _at_least(counts, _GROWTH * counts[high], low)
        while counts[high] - counts[low] > _RESOLUTION * counts[high]:
            middle = (low + high) // 2
            screened = yield from self._screened(designs[middle], iops)
            if not screened.seems:
                low = middle + 1
            else:
                high = middle
        # A little more than what seemed to do, so that intervals keep the limits too.
        step = _at_least(counts, (1.0 + _MARGIN) * counts[high], high)
        for _ in range(_TRIES):
            verdict = yield from self._precisely(designs[step], iops, first=1)
            if verdict.status == "meets" and (self.requirement.headroom or self.requirement.data_loss) is not None:
                verdict = yield from self.completed(verdict)
            if verdict.status == "meets":
                return verdict
            if step == len(designs) - 1:
                return None
            step = _at_least(counts, (1.0 + _MARGIN) * counts[step], step + 1)
        return None

    def _refused(self, design: Design) -> list[Refusal]:
        if design.key not in self._refusals:
            self._refusals[design.key] = refusals(self.spec(design), self.requirement)
        return self._refusals[design.key]

    def _less_load(self, design: Design) -> Search[Attainable | None]:
        """The most I/Os per second of a design within the limits, by bisection."""
        high = self.requirement.load.iops
        low = 0.0
        rate = high / 2.0
        for _ in range(_STEPS):
            screened = yield from self._screened(design, rate)
            if not screened.seems:
                high = rate
            else:
                low = rate
            rate = (low + high) / 2.0 if low else high / 3.0
        if not low:
            return None
        rate = low
        for _ in range(_TRIES):
            rate *= _BACK
            verdict = yield from self._precisely(design, rate, first=1)
            if verdict.status == "meets":
                return Attainable(verdict, rate)
        return None


def _worse(one: Status, other: Status) -> Status:
    order: tuple[Status, ...] = ("meets", "close", "fails")
    return max(one, other, key=order.index)


def _first(count: int, holds: Callable[[int], bool]) -> int | None:
    """The first number below `count` for which something holds that holds from there on."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low if low < count else None


def _cost_key(verdict: Verdict) -> tuple[float, float, float]:
    cost = verdict.facts.cost
    return (inf if cost is None else cost, verdict.facts.drives, verdict.worst_p99)


def _at_least(counts: Sequence[int], wanted: float, first: int) -> int:
    """Where the first number from `first` on is that is `wanted` or more; the last place if none is."""
    return next((i for i in range(first, len(counts)) if counts[i] >= wanted), len(counts) - 1)


def _aims(verdict: Verdict) -> tuple[float, ...]:
    """What should be small: cost, drives, latency, loss of data, and with their sign capacity, failures, headroom."""
    facts = verdict.facts
    return (
        inf if facts.cost is None else facts.cost,
        facts.drives,
        verdict.worst_p99,
        inf if verdict.loss_per_year is None else verdict.loss_per_year,
        -facts.usable_bytes,
        -facts.survives_any,
        -(verdict.saturates_at or 0.0),
    )


def pareto(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Designs that no other beats in everything, and the rest; both by cost, then drives, then latency."""
    front = [one for one in verdicts if not any(_beats(other, one) for other in verdicts)]
    rest = [one for one in verdicts if one not in front]
    return sorted(front, key=_cost_key), sorted(rest, key=_cost_key)


def _beats(one: Verdict, other: Verdict) -> bool:
    pairs: Iterable[tuple[float, float]] = list(zip(_aims(one), _aims(other), strict=True))
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs for mine, theirs in pairs)
