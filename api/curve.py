"""Load curves: latency against offered load, up to saturation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..scenarios.questions import load_curve as curves
from ..scenarios.questions.load_curve import FEWEST_POINTS, POINTS, CurvePoint, runs_needed
from ..scenarios.workers.task_pool import TaskPool
from .answer.numbers import milliseconds, number
from .answer.tree import Answer
from .base import Drawn, processes, within
from .scenario import Source, changed_by, scenario_of
from .support.compare_document import curve_document
from .support.progress import progress_share
from .tables.curve import curve_answer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_POINTS = 40


class LoadCurve(Drawn):
    """Latency against offered load.

    Attributes
    ----------
    name
        What the scenario is called.
    found
        The curve.
    """

    schema = "raidsim.load_curve"

    def __init__(self, name: str, found: curves.LoadCurve) -> None:
        self.name = name
        self.found = found

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """Loads, ascending: offered and served I/Os per second, mean and p99 latency (s)."""
        return self.found.points

    @property
    def saturation(self) -> float:
        """I/Os per second of which more do not get through."""
        return self.found.saturation_iops

    @property
    def knee(self) -> CurvePoint | None:
        """The point where throughput over latency is largest; None if every load was too much."""
        return self.found.knee

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return curve_answer(self.name, self.found)

    def figure(self) -> Figure:
        from .pictures.compare import curves_picture

        return curves_picture(self.name, [(self.name, self.found)])

    def _document(self) -> Mapping[str, Any]:
        return {"name": self.name, **curve_document(self.found)}

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [
            {
                "offered_iops": point.offered_iops,
                "iops": point.iops,
                "lost_iops": point.lost_iops,
                "latency_mean": point.mean_s,
                "latency_p99": point.p99_s,
                "saturated": point.saturated,
                "knee": point is self.knee,
            }
            for point in self.points
        ]

    def __repr__(self) -> str:
        knee = self.knee
        full = f"saturation at {number(self.saturation)} IOPS"
        at = "no knee" if knee is None else f"knee at {number(knee.iops)} IOPS with p99 {milliseconds(knee.p99_s)}"
        return f"LoadCurve({self.name!r}: {len(self.points)} points, {at}, {full})"


def load_curve(
    scenario: Source, *, points: int = POINTS, workers: int | None = None, progress: bool = True, **changes: Any
) -> LoadCurve:
    """Measure latency against offered load.

    Parameters
    ----------
    scenario
        A scenario with a load of direct I/O: a :class:`Scenario`, a name of the library or a file. Its depth or rate is
        replaced by the offered load.
    points
        Loads to measure, 6 to 40; default 10.
    workers
        Processes; 0 is this one. Default: one per core. They make no difference to the results.
    progress
        If true, show progress after a second.
    changes
        Other values in the scenario, as for :func:`run`: ``span="100GB"``.

    Raises
    ------
    InputError
        If the scenario has another kind of load.
    """
    chosen = changed_by(scenario_of(scenario), changes, load_curve)
    within("points", points, FEWEST_POINTS, MOST_POINTS)
    with TaskPool(processes(workers)) as pool, progress_share("measuring the load curve", progress) as follow:
        follow(lambda: pool.done / runs_needed(points))
        (found,) = curves.load_curves([chosen.spec], points, pool)
    if isinstance(found, curves.LoadCurve):
        return LoadCurve(chosen.name, found)
    raise chosen.located(found)
