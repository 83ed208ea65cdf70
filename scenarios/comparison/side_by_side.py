"""Designs side by side: the same requests on each, differences with intervals, capacity, failures, cost.

Every design is run several times, replication i of each with the same random numbers. A request that comes late or
goes far does so in all designs, so the difference between two designs is known much better than either of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ...model.core.errors import InputError
from ...model.statistics.batch_means import Estimate
from ..description.scenario import ScenarioSpec
from ..questions.load_curve import LoadCurve, Outcome, attempt, load_curves, runs_needed
from ..questions.replications import mean_of_replications, paired_difference, replication
from ..running.base.power import DrivePower, drive_power
from ..running.base.prediction import CacheHits, Prediction
from ..running.base.waits import WaitTimes
from ..workers.task_pool import TaskPool
from .alternatives import Design
from .array_facts import ArrayFacts, array_facts
from .lost_battery import LostBattery, lost_battery, with_lost_batteries
from .rebuild_time import RebuildTimes, rebuild_times
from .redundancy import separate_parts
from .reliability import LossRisk, data_loss, unknown_rates
from .rules_of_thumb import RuleOfThumb, rule_of_thumb

CONFIDENCE = 0.9
REPLICATIONS = 5
MOST_REPLICATIONS = 60
_Found = TypeVar("_Found")
_KINDS = (RebuildTimes, RuleOfThumb, LostBattery, InputError, type(None))
_PERFORMANCE = ("rate", "iops", "read_mean_seconds", "read_p99_seconds", "write_mean_seconds", "write_p99_seconds")


@dataclass(frozen=True, slots=True)
class Settings:
    """How designs are compared."""

    replications: int = REPLICATIONS
    """Runs of each design."""
    precision: float | None = None
    """More of them, up to `MOST_REPLICATIONS`, until the throughput and mean latencies of every design are known to
    this share (half-width of the 90 % interval)."""
    baseline: int | None = None
    """Number of the design that the others are compared with; the first that is possible unless given."""
    rebuild: bool = True
    """Whether to simulate how long a rebuild takes, without which no risk of losing data is known either."""
    curve_points: int = 0
    """Points of each load curve; 0 for none."""


@dataclass(frozen=True)
class Measured:
    """What is known of a design.

    Attributes
    ----------
    design
        Which; refused if it could not be run.
    facts
        Capacity, failures survived, cost.
    figures
        Figures of every replication, by name: "rate" (bytes/s), "iops", "read_mean_seconds" and so on.
    estimates
        Their means with 90 % intervals.
    against
        Differences from the baseline with 90 % intervals, of pairs of runs with the same random numbers; empty for the
        baseline itself, and if there is only one replication.
    bottleneck, utilization
        Of the first replication: the bottleneck, and the utilization of the busiest part.
    saturated
        More I/Os came than could be done.
    offered_iops
        I/Os per second that an open load sends; None of others, and of several loads.
    commands_per_io
        Commands of the drives for each I/O in the first replication; 0 where there are no I/Os.
    settled
        Whether nothing rose or fell while it was measured.
    ssd_caches
        What SSD caches did in the first replication.
    rebuild
        Times to rebuild a member; None without redundancy, or if they were not asked for.
    rebuild_refused
        Why there is no such time although it was asked for.
    risk
        Risk of losing data; None if unknown.
    unknown_rates
        Models of drives whose failure rate is not known.
    waits
        What the mean latencies are made of in the first replication; empty if it was saturated.
    write_rate
        Bytes written per second in the first replication.
    given_s
        How long the first replication was measured (s), if the load says so; None if it ran until its rate settled.
    without_battery
        What it does if its controllers write through; None if it does not depend on batteries.
    power
        Power of the drives in the first replication; None if the design could not be run.
    rule
        What the rule of thumb says of a pool; None of all others.
    curve, curve_refused
        The load curve, if it was asked for, or why there is none.
    """

    design: Design
    facts: ArrayFacts | None = None
    figures: dict[str, list[float]] = field(default_factory=dict)
    estimates: dict[str, Estimate] = field(default_factory=dict)
    against: dict[str, Estimate] = field(default_factory=dict)
    bottleneck: str = ""
    utilization: float = 0.0
    saturated: bool = False
    offered_iops: float | None = None
    commands_per_io: float = 0.0
    settled: bool = True
    ssd_caches: tuple[CacheHits, ...] = ()
    rebuild: RebuildTimes | None = None
    rebuild_refused: str | None = None
    risk: LossRisk | None = None
    unknown_rates: tuple[str, ...] = ()
    waits: dict[str, WaitTimes] = field(default_factory=dict)
    write_rate: float = 0.0
    given_s: float | None = None
    without_battery: LostBattery | None = None
    power: DrivePower | None = None
    rule: RuleOfThumb | None = None
    curve: LoadCurve | None = None
    curve_refused: str | None = None

    @property
    def rebuild_s(self) -> float | None:
        """Time to rebuild a member under the load (s); None without redundancy, or if it was not asked for."""
        return None if self.rebuild is None else self.rebuild.loaded_s

    @property
    def holds_s(self) -> float | None:
        """How long the cache takes all writes of this load at least (s); None without write-back or writes."""
        cache = self.without_battery
        return None if cache is None or not self.write_rate else cache.write_bytes / self.write_rate

    @property
    def ends_in_cache(self) -> bool:
        """Whether the runs are of a given length that a cache can take all writes of, so that more do not last."""
        return self.holds_s is not None and self.given_s is not None and self.given_s < self.holds_s

    @property
    def iops(self) -> float:
        """I/Os per second that are served; 0 of what has none."""
        return self.estimates["iops"].mean if "iops" in self.estimates else 0.0

    @property
    def lost_iops(self) -> float | None:
        """I/Os per second that an open load sends and that are never served; None of other loads."""
        if self.offered_iops is None:
            return None
        return max(0.0, self.offered_iops - self.iops) if self.saturated else 0.0

    @property
    def cost_per_iops(self) -> float | None:
        """Cost over I/Os per second; None without prices or I/Os."""
        cost = self.facts.cost if self.facts is not None else None
        return None if cost is None or not self.iops else cost / self.iops


@dataclass(frozen=True)
class Comparison:
    """Designs side by side.

    Attributes
    ----------
    designs
        In the order of their numbers; those that cannot be are among them.
    baseline
        Number of the design that the others are compared with.
    replications
        Runs of each.
    precise
        Whether the precision asked for was reached; True if none was.
    """

    designs: tuple[Measured, ...]
    baseline: int
    replications: int
    precise: bool


def runs_planned(designs: Sequence[Design], settings: Settings) -> int:
    """Simulations that a comparison takes, about."""
    each = settings.replications + settings.rebuild
    if settings.curve_points:
        each += runs_needed(settings.curve_points)
    possible = [design.spec for design in designs if design.spec is not None]
    return each * len(possible) + sum(with_lost_batteries(spec) is not None for spec in possible)


def compare(designs: Sequence[Design], settings: Settings, pool: TaskPool) -> Comparison:
    """Run all designs.

    Raises
    ------
    InputError
        If none of the designs is possible, or the baseline is not, or arrays of a design share drives.
    """
    for design in designs:
        if design.spec is not None:
            separate_parts(design.spec)
    measured, precise = _replicated(designs, settings, pool)
    baseline = _baseline(measured, settings.baseline)
    reference = next(each for each in measured if each.design.number == baseline)
    measured = [replace(each, against=_against(each, reference)) for each in measured]
    if settings.rebuild:
        measured = _each(measured, pool, _rebuild, _with_risk)
    measured = _each(measured, pool, lost_battery, _with_lost_battery)
    measured = _each(measured, pool, rule_of_thumb, lambda each, rule: replace(each, rule=rule))
    if settings.curve_points:
        measured = _with_curves(measured, settings.curve_points, pool)
    return Comparison(tuple(measured), baseline, len(next(iter(reference.figures.values()))), precise)


def _replicated(designs: Sequence[Design], settings: Settings, pool: TaskPool) -> tuple[list[Measured], bool]:
    """All replications of all designs, until they are precise enough."""
    alive = {design.number: design for design in designs if design.spec is not None}
    refused = {design.number: design for design in designs if design.spec is None}
    runs: dict[int, list[Prediction]] = {number: [] for number in alive}
    begun, wanted = 0, settings.replications
    precise = True
    while begun < wanted:
        tasks = [(number, i) for i in range(begun, wanted) for number in alive]
        outcomes = pool.run(
            attempt, [replication(_possible(alive[number]), i) for number, i in tasks], (Prediction, InputError)
        )
        for (number, _), outcome in zip(tasks, outcomes, strict=True):
            _take(number, outcome, alive, refused, runs)
        begun = wanted
        precise = settings.precision is None or all(_precise(found, settings.precision) for found in runs.values())
        if not precise:
            wanted = min(MOST_REPLICATIONS, begun + max(2, begun // 2))
    return [
        _measured(alive[design.number], runs[design.number])
        if design.number in alive
        else Measured(refused[design.number])
        for design in designs
    ], precise


def _take(
    number: int,
    outcome: Outcome,
    alive: dict[int, Design],
    refused: dict[int, Design],
    runs: dict[int, list[Prediction]],
) -> None:
    """Keep what a run gave; a design that cannot be run is refused."""
    if isinstance(outcome, Prediction):
        if number in alive:
            runs[number].append(outcome)
    elif number in alive:
        refused[number] = replace(alive.pop(number), spec=None, refused=str(outcome))
        del runs[number]


def _precise(runs: Sequence[Prediction], precision: float) -> bool:
    """Whether throughput and mean latencies are known well enough; what has saturated never settles."""
    if any(run.saturated for run in runs):
        return True
    estimates = _estimates(_figures(runs))
    looked_at = [name for name in estimates if name in ("rate", "read_mean_seconds", "write_mean_seconds")]
    return all(estimates[name].relative <= precision for name in looked_at)


def _measured(design: Design, runs: Sequence[Prediction]) -> Measured:
    spec, first = _possible(design), runs[0]
    figures = _figures(runs)
    estimates = _estimates(figures) if len(runs) > 1 else {**_estimates(figures), **first.estimates}
    return Measured(
        design,
        array_facts(spec),
        figures,
        {name: estimates[name] for name in figures if name in estimates},
        bottleneck=first.bottleneck,
        utilization=max((usage.utilization for usage in first.usages), default=0.0),
        saturated=any(run.saturated for run in runs),
        offered_iops=first.offered_iops,
        commands_per_io=first.member_ios / (first.served_iops * first.measured_s) if first.served_iops else 0.0,
        settled=all(run.settled for run in runs),
        ssd_caches=first.ssd_caches,
        unknown_rates=tuple(unknown_rates(spec)),
        waits={} if first.saturated else first.waits,
        write_rate=first.rate * first.iops.get("write", 0.0) / first.served_iops if first.served_iops else 0.0,
        given_s=first.measured_s if first.precision_reached is None else None,
        power=drive_power(spec, first.usages),
    )


def _figures(runs: Sequence[Prediction]) -> dict[str, list[float]]:
    """Figures that all replications have, by name."""
    shared = [name for name in runs[0].figures if all(name in run.figures for run in runs)]
    known = [name for name in _PERFORMANCE if name in shared]
    others = [name for name in shared if name not in known]
    return {name: [run.figures[name] for run in runs] for name in (*known, *others)}


def _estimates(figures: dict[str, list[float]]) -> dict[str, Estimate]:
    return {name: mean_of_replications(values, CONFIDENCE) for name, values in figures.items()}


def _against(each: Measured, reference: Measured) -> dict[str, Estimate]:
    if each is reference or each.design.spec is None:
        return {}
    return {
        name: paired_difference(values, reference.figures[name], CONFIDENCE)
        for name, values in each.figures.items()
        if name in reference.figures and len(values) > 1
    }


def _baseline(measured: Sequence[Measured], wanted: int | None) -> int:
    possible = [each.design.number for each in measured if each.design.spec is not None]
    if not possible:
        found, _, expected = str(measured[0].design.refused).rpartition("; ")
        raise InputError("--vary", f"no design is possible: {found}", expected)
    if wanted is None:
        return possible[0]
    if wanted not in possible:
        found = f"design {wanted}" + (", which is not possible" if 0 < wanted <= len(measured) else "")
        raise InputError("--baseline", found, f"expected: {', '.join(map(str, possible))}")
    return wanted


def _each(
    measured: Sequence[Measured],
    pool: TaskPool,
    work: Callable[[ScenarioSpec], _Found],
    take: Callable[[Measured, _Found], Measured],
) -> list[Measured]:
    """Something done for every possible design."""
    possible = [each for each in measured if each.design.spec is not None]
    answers = pool.run(work, [_spec(each) for each in possible], _KINDS)
    found = dict(zip((each.design.number for each in possible), answers, strict=True))
    return [take(each, found[each.design.number]) if each.design.number in found else each for each in measured]


def _rebuild(spec: ScenarioSpec) -> RebuildTimes | InputError | None:
    try:
        return rebuild_times(spec)
    except InputError as refusal:
        return refusal


def _with_risk(each: Measured, rebuild: RebuildTimes | InputError | None) -> Measured:
    """The rebuild's time and what it means for the data."""
    if isinstance(rebuild, InputError):
        return replace(each, rebuild_refused=str(rebuild))
    risk = data_loss(_spec(each), None if rebuild is None else rebuild.loaded_s)
    return replace(each, rebuild=rebuild, risk=risk)


def _with_lost_battery(each: Measured, found: LostBattery | InputError | None) -> Measured:
    return each if isinstance(found, InputError) else replace(each, without_battery=found)


def _with_curves(measured: Sequence[Measured], points: int, pool: TaskPool) -> list[Measured]:
    possible = [each for each in measured if each.design.spec is not None]
    found = dict(
        zip(
            (each.design.number for each in possible),
            load_curves([_spec(each) for each in possible], points, pool),
            strict=True,
        )
    )
    drawn = []
    for each in measured:
        curve = found.get(each.design.number)
        if isinstance(curve, InputError):
            drawn.append(replace(each, curve_refused=str(curve)))
        else:
            drawn.append(replace(each, curve=curve))
    return drawn


def _spec(each: Measured) -> ScenarioSpec:
    return _possible(each.design)


def _possible(design: Design) -> ScenarioSpec:
    assert design.spec is not None
    return design.spec
