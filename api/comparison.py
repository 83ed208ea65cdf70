"""Compare scenarios under the same requests."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model.core.errors import InputError
from ..model.files.quantities import parse_fraction
from ..scenarios.comparison import side_by_side
from ..scenarios.comparison.alternatives import SCENARIO, Design, designs_of, differences, on_common_span
from ..scenarios.comparison.side_by_side import MOST_REPLICATIONS, REPLICATIONS, Measured, Settings, runs_planned
from ..scenarios.documents.document import parse_alternatives
from ..scenarios.questions.load_curve import FEWEST_POINTS, POINTS
from ..scenarios.workers.task_pool import TaskPool
from .answer.numbers import megabytes, milliseconds, number
from .answer.tree import Answer
from .base import Drawn, chosen, drawn, processes, within
from .curve import MOST_POINTS, LoadCurve
from .figures import Interval, NamedLatencies, interval_of
from .result import ESTIMATES
from .scenario import Scenario, Source, changed_by, is_one_value, paths, scenario_of
from .support.compare_document import comparison_document
from .support.progress import progress_share
from .tables.compare import comparison_answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FEWEST_POINTS",
    "LEAST_SHARE",
    "MOST_REPLICATIONS",
    "POINTS",
    "REPLICATIONS",
    "Alternative",
    "Comparison",
    "Settings",
    "compare",
    "compare_varied",
    "parse_alternatives",
    "share",
]


LEAST_SHARE = 0.0005


class Alternative(NamedLatencies):
    """One of the scenarios that are compared: its figures are means of several runs.

    Attributes
    ----------
    measured
        Everything that is known of it.
    """

    def __init__(self, measured: Measured) -> None:
        self.measured = measured

    @property
    def name(self) -> str:
        """What is special about it."""
        return self.measured.design.label

    @property
    def number(self) -> int:
        """Its place in the comparison, from 1."""
        return self.measured.design.number

    @property
    def refused(self) -> str | None:
        """Why it cannot be run; None if it can."""
        return self.measured.design.refused

    @property
    def iops(self) -> float:
        """I/Os per second."""
        return self.interval("iops").value

    @property
    def throughput(self) -> float:
        """Bytes per second."""
        return self.interval("throughput").value

    @property
    def saturated(self) -> bool:
        """Whether more I/Os are sent than it serves."""
        return self.measured.saturated

    @property
    def bottleneck(self) -> str:
        """The part that limits, in words."""
        return self.measured.bottleneck

    @property
    def power(self) -> float | None:
        """Power (W) of the drives at this load; None if it is not known for one of them."""
        return None if self.measured.power is None else self.measured.power.watts

    @property
    def cost(self) -> float | None:
        """Price of the drives, the controllers and the machine, in the unit of the prices; None if one is missing."""
        return None if self.measured.facts is None else self.measured.facts.cost

    @property
    def usable_bytes(self) -> int | None:
        """Capacity for data; None if it cannot be run."""
        return None if self.measured.facts is None else self.measured.facts.usable_bytes

    @property
    def curve(self) -> LoadCurve | None:
        """Its load curve, if it was asked for."""
        return None if self.measured.curve is None else LoadCurve(self.name, self.measured.curve)

    def interval(self, name: str = "iops") -> Interval:
        """Return a figure with its 90 % interval.

        Parameters
        ----------
        name
            As for `Result.interval`.
        """
        key = ESTIMATES[chosen(name, list(ESTIMATES), "interval")]
        estimate = self.measured.estimates.get(key)
        return interval_of(math.nan if estimate is None else estimate.mean, estimate)

    def difference(self, name: str = "iops") -> Interval:
        """Return how much more it gives than the baseline, of pairs of runs with the same random numbers.

        Parameters
        ----------
        name
            As for `Result.interval`.
        """
        key = ESTIMATES[chosen(name, list(ESTIMATES), "difference")]
        estimate = self.measured.against.get(key)
        return interval_of(math.nan if estimate is None else estimate.mean, estimate)

    def _latency(self, op: str, name: str) -> float:
        return self.interval(f"{op}.{name}").value

    def __repr__(self) -> str:
        if self.refused is not None:
            return f"Alternative({self.name!r}: refused: {self.refused})"
        p99 = max((self.interval(f"{op}.p99").value for op in ("read", "write")), key=_known)
        late = "" if math.isnan(p99) else f", p99 {milliseconds(p99)}"
        return f"Alternative({self.name!r}: {number(self.iops)} IOPS, {megabytes(self.throughput)}{late})"


def _known(value: float) -> float:
    """What NaN is sorted by: before everything."""
    return -math.inf if math.isnan(value) else value


class Comparison(Drawn):
    """Alternatives side by side, each run several times with the same requests.

    Attributes
    ----------
    found
        Everything that is known of them.
    span
        Bytes of each that the requests go to; None if the scenario says which.
    """

    schema = "raidsim.comparison"

    def __init__(self, title: str, found: side_by_side.Comparison, settings: Settings, span: int | None) -> None:
        self.title = title
        self.found = found
        self.settings = settings
        self.span = span

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """All of them, in the order in which they were given."""
        return tuple(Alternative(each) for each in self.found.designs)

    @property
    def baseline(self) -> Alternative:
        """What the others are compared with."""
        return next(each for each in self.alternatives if each.number == self.found.baseline)

    def best(self, name: str = "iops") -> Alternative:
        """Return the alternative with the most I/Os or bytes per second, or the shortest latency.

        Parameters
        ----------
        name
            As for `Result.interval`.
        """
        sign = 1.0 if name in ("iops", "throughput") else -1.0
        possible = [each for each in self.alternatives if each.refused is None]
        return max(possible, key=lambda each: _known(sign * each.interval(name).value))

    def __iter__(self) -> Iterator[Alternative]:
        return iter(self.alternatives)

    def __len__(self) -> int:
        return len(self.found.designs)

    def __getitem__(self, key: int | str) -> Alternative:
        """An alternative by its place, from 0, or by its name."""
        if isinstance(key, int):
            return self.alternatives[key]
        names = [each.name for each in self.alternatives]
        return self.alternatives[names.index(chosen(key, names, "Comparison"))]

    def plot(self) -> tuple[Axes, ...]:
        """Draw the alternatives with their intervals; if load curves were asked for, the curves.

        Returns
        -------
        tuple of Axes
            The panels, from left to right.
        """
        return drawn(self.figure)

    def figure(self) -> Figure:
        from .pictures.compare import curves_figure, designs_figure

        return (curves_figure if self.settings.curve_points else designs_figure)(self.title, self.found)

    def _document(self) -> Mapping[str, Any]:
        return comparison_document(self.title, self.found, self.settings, self.span)

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [self._row(each) for each in self.alternatives]

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return comparison_answer(self.title, self.found, self.settings, self.span)

    def _row(self, each: Alternative) -> Mapping[str, Any]:
        facts, risk = each.measured.facts, each.measured.risk
        row: dict[str, Any] = {"name": each.name, **each.measured.design.values}
        for name in ESTIMATES:
            if any(ESTIMATES[name] in other.estimates for other in self.found.designs):
                found = each.interval(name)
                row[name] = found.value
                row[f"{name}.half_width"] = (found.high - found.low) / 2 if math.isfinite(found.low) else math.nan
        for name in dict.fromkeys(name for other in self.found.designs for name in other.estimates if "." in name):
            # A load, a phase or a step of programs: "night.backup.iops".
            row[name] = each.measured.estimates[name].mean if name in each.measured.estimates else math.nan
        row["offered_iops"] = each.measured.offered_iops
        row["lost_iops"] = each.measured.lost_iops
        row["saturated"] = each.saturated
        row["usable_bytes"] = each.usable_bytes
        row["cost"] = None if facts is None else facts.cost
        row["rebuild_s"] = each.measured.rebuild_s
        row["data_loss_per_year"] = None if risk is None else risk.per_year
        row["bottleneck"] = each.bottleneck
        row["refused"] = each.refused
        return row

    def __repr__(self) -> str:
        possible = [each for each in self.alternatives if each.refused is None]
        best = self.best()
        most = "" if math.isnan(best.iops) else f"; most IOPS: {best.name} ({number(best.iops)})"
        runs = "1 run" if self.found.replications == 1 else f"{self.found.replications} runs"
        return f"Comparison({self.title!r}: {len(possible)} alternatives, {runs} of each{most})"


def compare(
    scenarios: Source | Sequence[Source] | Mapping[str, Source],
    *,
    baseline: int | None = None,
    replications: int = REPLICATIONS,
    precision: float | str | None = None,
    rebuild: bool = True,
    curve: bool = False,
    points: int = POINTS,
    workers: int | None = None,
    progress: bool = True,
    **vary: Any,
) -> Comparison:
    """Compare scenarios side by side under the same requests.

    Parameters
    ----------
    scenarios
        Several scenarios, a mapping of names to scenarios, or one scenario of which the keywords give the alternatives.
        Each is a :class:`Scenario`, a name of the library or a file.
    baseline
        Number of the alternative, from 1, that the others are compared with; default: the first that is possible.
    replications
        Runs of each, 1 to 60, with random numbers of their own; default 5.
    precision
        More runs until the means are known to this share (0.02 or "2%": half of the 90 % interval), 0.05 % to 99 %.
    rebuild
        If true, simulate how long a rebuild takes, and say how probable data loss is.
    curve
        If true, measure a load curve of each.
    points
        Points of each curve, 6 to 40.
    workers
        Processes; 0 is this one. Default: one per core. They make no difference to the results.
    progress
        If true, show progress after a second.
    vary
        Alternatives by short name or path (two underscores for a dot): ``layout=["raid5", "raid10"]``,
        ``disks=[4, 8]``. All combinations are compared. A value that is no list changes all alternatives:
        ``span="100GB"``.

    Raises
    ------
    InputError
        If a path means nothing, or none of the alternatives is possible.

    Examples
    --------
    >>> import raidsim
    >>> base = raidsim.Scenario.load("database-server").with_(warm_up="100ms", duration="400ms")
    >>> found = raidsim.compare(base, layout=["raid5", "raid10"], replications=2, rebuild=False, workers=0)
    >>> found.best("iops").name
    'raid10'
    """
    settings = Settings(
        replications=within("replications", replications, 1, MOST_REPLICATIONS),
        precision=None if precision is None else share(precision),
        baseline=baseline,
        rebuild=rebuild,
        curve_points=within("points", points, FEWEST_POINTS, MOST_POINTS) if curve else 0,
    )
    fixed = {path: value for path, value in vary.items() if is_one_value(value)}
    varied = {path: value for path, value in vary.items() if path not in fixed}
    if isinstance(scenarios, Scenario | str | os.PathLike):
        base = changed_by(scenario_of(scenarios), fixed, compare, varied)
        if not varied and not curve:
            raise InputError("compare", "one scenario", "expected: several, or what differs: layout=['raid5', 'raid6']")
        return compare_varied(base, list(paths(varied).items()), settings, workers, progress)
    listed = scenarios.values() if isinstance(scenarios, Mapping) else scenarios
    several = [changed_by(scenario_of(each), fixed, compare, varied) for each in listed]
    if varied:
        raise InputError("compare", f"several scenarios and {', '.join(varied)}", "expected: one of the two")
    if not several:
        raise InputError("compare", "no scenario", "expected: one or more")
    names = list(scenarios) if isinstance(scenarios, Mapping) else None
    return _compared(several[0].name, _designs(several, names), settings, workers, progress)


def share(precision: float | str) -> float:
    """A precision as a share; `InputError` if it is none that runs can reach."""
    value = parse_fraction(precision, "precision") if isinstance(precision, str) else precision
    if not LEAST_SHARE <= value < 1:
        raise InputError("precision", f"found {precision}", "expected: 0.05% to 99%")
    return value


def compare_varied(
    base: Scenario,
    varied: Sequence[tuple[str, list[Any]]],
    settings: Settings,
    workers: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Compare all combinations of values in one scenario, each by its path."""
    return _compared(base.name, designs_of(base.document, varied), settings, workers, progress)


def _compared(
    title: str, designs: Sequence[Design], settings: Settings, workers: int | None, progress: bool
) -> Comparison:
    designs, span = on_common_span(designs)
    planned = max(1, runs_planned(designs, settings))
    with TaskPool(processes(workers)) as pool, progress_share("simulating", progress) as follow:
        follow(lambda: pool.done / planned)
        found = side_by_side.compare(designs, settings, pool)
    return Comparison(title, found, settings, span)


def _designs(scenarios: Sequence[Scenario], given: Sequence[str] | None) -> list[Design]:
    """Scenarios, each called by the given name, by its own, or by what differs if several have the same."""
    names = [each.name for each in scenarios] if given is None else given
    if len(set(names)) == len(names):
        values: list[dict[str, Any]] = [{SCENARIO: name} for name in names]
    else:
        values = differences([each.document for each in scenarios])
    return [_design(each, place, of) for place, (each, of) in enumerate(zip(scenarios, values, strict=True), start=1)]


def _design(scenario: Scenario, place: int, values: dict[str, Any]) -> Design:
    try:
        return Design(place, values, scenario.spec)
    except InputError as error:
        return Design(place, values, None, str(error))
