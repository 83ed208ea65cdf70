"""Load curves: response time against offered load, from little up to saturation, and where the knee is.

The knee is where the power, throughput over mean response time, is largest (Kleinrock, "Power and deterministic rules
of thumb for probabilistic problems in computer communications", ICC 1979). Below it more load costs little time; above
it every further I/O makes all others wait longer than it is worth. For M/M/1 it lies at half the saturation.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ..description.any_workload import LoadsSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import LONGEST_S, LoadSpec
from ..running.base.prediction import Prediction
from ..running.full_load import as_much_as_it_takes, without_phases
from ..running.simulate import simulate
from ..workers.task_pool import TaskPool

LEAST_IOS = 3000


def at_rate(spec: ScenarioSpec, iops: float) -> ScenarioSpec:
    """The scenario's I/Os at a fixed rate, whatever the device does; of several loads those of the first one.

    It is measured for as long as the load says, or longer if that would be too few I/Os for a 99th percentile.
    """
    values: dict[str, object] = {"depth": 1, "independent": True, "think_time": 0.0, "iops": None, "total_iops": iops}
    workload = spec.workload
    least_s = min(LEAST_IOS / iops, LONGEST_S)
    if isinstance(workload, LoadsSpec):
        workload = without_phases(workload)
        first, *others = workload.loads
        loads = (first.model_copy(update=values), *others)
        changed = {"loads": loads, "duration": max(workload.duration, least_s)}
        return spec.model_copy(update={"workload": workload.model_copy(update=changed)})
    assert isinstance(workload, LoadSpec)
    load = without_phases(workload)
    times: dict[str, object] = {"duration": max(load.duration, least_s), "phases": ()}
    return spec.model_copy(update={"workload": load.model_copy(update={**values, **times})})


def raised(spec: ScenarioSpec) -> str | None:
    """The name of the load that a curve raises, if it is one of several."""
    return without_phases(spec.workload).loads[0].name if isinstance(spec.workload, LoadsSpec) else None


POINTS = 10
FEWEST_POINTS = 6
_FIRST = (0.1, 0.3, 0.5, 0.7, 0.85, 0.95)
"""Shares of the saturation that are looked at before anything is known of the curve."""
_AT_ONCE = 2
"""Points added at a time where the knee seems to be; the same for any number of processes."""
_NEAREST = 0.01
"""Points are no closer to each other than this share of the saturation."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What happens at one offered load.

    Attributes
    ----------
    offered_iops, iops
        I/Os per second that come, and that are done.
    mean_s, p99_s
        Response time of all I/Os; the 99th percentile is that of reads or of writes, whichever is longer.
    figures
        The run's figures: response times of reads and writes apart.
    saturated
        More came than could be done, so that response times grow as long as it goes on.
    """

    offered_iops: float
    iops: float
    mean_s: float
    p99_s: float
    figures: dict[str, float]
    saturated: bool

    @property
    def lost_iops(self) -> float:
        """I/Os per second that come and are never done."""
        return max(0.0, self.offered_iops - self.iops) if self.saturated else 0.0

    @property
    def power(self) -> float:
        """I/Os per second over mean response time (1/s^2)."""
        return self.iops / self.mean_s


@dataclass(frozen=True, slots=True)
class LoadCurve:
    """Response time against offered load.

    Attributes
    ----------
    points
        In the order of the load.
    saturation_iops
        Rate with enough independent users that no device is idle, or the lowest load that was too much.
    knee
        The point with the largest power; None if every load was too much.
    """

    points: tuple[CurvePoint, ...]
    saturation_iops: float
    knee: CurvePoint | None


Outcome = Prediction | InputError
Steps = Generator[list[ScenarioSpec], list[Outcome], LoadCurve]


def load_curve(spec: ScenarioSpec, points: int = POINTS, workers: int = 1) -> LoadCurve:
    """The load curve of a scenario with a load of direct I/O; the same for any number of `workers`.

    Raises
    ------
    InputError
        For another kind of workload, or if no load at all gets through.
    """
    with TaskPool(workers) as pool:
        (found,) = load_curves([spec], points, pool)
    if isinstance(found, InputError):
        raise found
    return found


def load_curves(specs: Sequence[ScenarioSpec], points: int, pool: TaskPool) -> list[LoadCurve | InputError]:
    """Load curves of several scenarios, side by side; for a scenario that cannot be run, why."""
    found: dict[int, LoadCurve | InputError] = {}
    active: dict[int, Steps] = {}
    wanted: dict[int, list[ScenarioSpec]] = {}
    for number, spec in enumerate(specs):
        active[number] = curve_steps(spec, points)
    answers: dict[int, list[Outcome]] = {}
    while active:
        for number, steps in list(active.items()):
            try:
                wanted[number] = steps.send(answers[number]) if number in answers else next(steps)
            except StopIteration as end:
                found[number] = end.value
                del active[number]
            except InputError as refusal:
                found[number] = refusal
                del active[number]
        tasks = [spec for number in active for spec in wanted[number]]
        outcomes = iter(pool.run(attempt, tasks, (Prediction, InputError)))
        answers = {number: [next(outcomes) for _ in wanted[number]] for number in active}
    return [found[number] for number in range(len(specs))]


def runs_needed(points: int) -> int:
    """Simulations for one curve, at most."""
    return points + 1


def curve_steps(spec: ScenarioSpec, points: int) -> Steps:
    """The curve's runs in turn: yields what is to be simulated next, and takes what came of it."""
    workload = spec.workload
    if not isinstance(workload, LoadSpec | LoadsSpec):
        raise InputError("--curve", f"a workload of kind {workload.kind}", "expected: kind load, or several loads")
    if isinstance(workload, LoadsSpec):
        first = without_phases(workload).loads[0]
        if first.begin is not None or first.end is not None:
            words = f"{first.name}, whose rate is raised, is there only for a part of the time"
            raise InputError("--curve", words, "expected: a first load without begin and end")
    load = raised(spec)
    (most,) = yield [as_much_as_it_takes(spec)]
    if isinstance(most, InputError):
        raise most
    saturation = sum_in_order(_of(most, load).iops.values())
    found: dict[float, CurvePoint] = {}
    wanted = [share * saturation for share in _FIRST[:points]]
    while wanted:
        outcomes = yield [at_rate(spec, offered) for offered in wanted]
        for offered, outcome in zip(wanted, outcomes, strict=True):
            if isinstance(outcome, InputError):
                raise outcome
            found[offered] = _point(offered, _of(outcome, load))
        wanted = _further(list(found.values()), saturation)[: points - len(found)]
    curve = tuple(sorted(found.values(), key=lambda point: point.offered_iops))
    too_much = [point.offered_iops for point in curve if point.saturated]
    served = [point.iops for point in curve if not point.saturated]
    return LoadCurve(curve, min([max([saturation, *served]), *too_much]), knee(curve))


def _of(prediction: Prediction, name: str | None) -> Prediction:
    """What the load that is raised gets."""
    return prediction if name is None else prediction.loads[name]


def knee(points: Sequence[CurvePoint]) -> CurvePoint | None:
    """The point with the largest power, of those that are not saturated."""
    steady = [point for point in points if not point.saturated]
    return max(steady, key=lambda point: point.power, default=None)


def _point(offered: float, prediction: Prediction) -> CurvePoint:
    counts = {op: figures["n"] for op, figures in prediction.latencies.items()}
    total = sum_in_order(prediction.latencies[op]["mean_s"] * count for op, count in counts.items())
    figures = {name: value for name, value in prediction.figures.items() if name.endswith("_seconds")}
    return CurvePoint(
        offered_iops=offered,
        iops=sum_in_order(prediction.iops.values()),
        mean_s=total / sum_in_order(counts.values()),
        p99_s=max(each["p99_s"] for each in prediction.latencies.values()),
        figures=figures,
        saturated=prediction.saturated,
    )


def _further(points: list[CurvePoint], saturation: float) -> list[float]:
    """Loads to look at next: halfway from the knee to its neighbors, or below what is too much already."""
    best = knee(points)
    if best is None:
        return [min(point.offered_iops for point in points) / 4]
    loads = sorted(point.offered_iops for point in points)
    place = loads.index(best.offered_iops)
    neighbours = [loads[i] for i in (place - 1, place + 1) if 0 <= i < len(loads)]
    if place + 1 == len(loads):
        neighbours.append(saturation)
    between = [(best.offered_iops + other) / 2 for other in neighbours]
    return [load for load in between if abs(load - best.offered_iops) > _NEAREST * saturation][:_AT_ONCE]


def attempt(spec: ScenarioSpec) -> Outcome:
    """What a scenario gives, or why it gives nothing."""
    try:
        return simulate(spec)
    except InputError as refusal:
        return refusal
