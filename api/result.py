"""What a run gives, as a value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ..calibration.uncertainty.controller_spread import controller_spread
from ..calibration.uncertainty.model_interval import RunIntervals, run_intervals
from ..scenarios.description.scenario import ScenarioSpec
from ..scenarios.machine.observer import UNOBSERVED, Observer
from ..scenarios.questions.rebuild_comparison import RebuildComparison
from ..scenarios.questions.rebuild_remedies import RebuildRemedy, rebuild_remedies
from ..scenarios.questions.without_bottleneck import WithoutBottleneck, run_without_bottleneck
from ..scenarios.questions.without_waits import WithoutWait, run_without_waits
from ..scenarios.running.base.prediction import Prediction
from ..scenarios.running.base.sample import Sample
from ..scenarios.timeline.length import DEFAULT_IOS, DRAWN_IOS, MOST_DRAWN_IOS
from .answer.numbers import megabytes, milliseconds, number
from .answer.tree import Answer, Words
from .base import Drawn, chosen, drawn, frame
from .figures import Direction, Interval, RunFigures, interval_of
from .scenario import Scenario
from .support.progress import progress_share
from .support.run_document import document, load_rows, part_rows
from .tables.rebuild import remedies_table
from .tables.run import offered_only, run_answer, run_pictures, sure_lines, without_line, without_wait_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from ..scenarios.timeline.timeline import Timeline

__all__ = ["DEFAULT_IOS", "DRAWN_IOS", "ESTIMATES", "MOST_DRAWN_IOS", "Frame", "Picture", "Result"]

ESTIMATES = {
    "throughput": "rate",
    "iops": "iops",
    "latency": "mean_seconds",
    "read.mean": "read_mean_seconds",
    "read.p99": "read_p99_seconds",
    "write.mean": "write_mean_seconds",
    "write.p99": "write_p99_seconds",
}
"""What `Result.interval` knows, and what the simulator calls it."""

Frame = Literal["summary", "parts", "latency", "loads"]
"""What a data frame of a run has a line for: the run, a part of the machine, or a direction."""
Picture = Literal["summary", "timeline"]
"""Pictures of a run."""


class Result(RunFigures, Drawn):
    """What one run gave.

    Attributes
    ----------
    scenario
        What was run.
    prediction
        Everything that the simulator says of the run.
    spec
        The whole scenario as it was run.
    sample
        How much of it was simulated; None for the default.
    rebuild
        What a rebuild costs the load; None without one.
    """

    schema = "raidsim.result"

    def __init__(
        self,
        scenario: Scenario,
        prediction: Prediction,
        rebuild: RebuildComparison | None = None,
        sample: Sample | None = None,
        spec: ScenarioSpec | None = None,
        observer: Observer = UNOBSERVED,
    ) -> None:
        self.scenario = scenario
        self.prediction = prediction
        self.rebuild = rebuild
        self.spec = scenario.spec if spec is None else spec
        self.sample = sample
        self._observer = observer

    @property
    def name(self) -> str:
        """What the scenario is called."""
        return self.scenario.name

    def interval(self, name: str = "iops") -> Interval:
        """Return the 90 % interval that comes from the finite length of this simulation.

        Parameters
        ----------
        name
            "iops", "throughput" (bytes/s), "latency" (mean of all I/Os, s), "read.mean", "read.p99", "write.mean" or
            "write.p99".

        Returns
        -------
        Interval
            Its ends are infinite where the run has no interval.
        """
        key = ESTIMATES[chosen(name, list(ESTIMATES), "interval")]
        values = {"throughput": self.throughput, "iops": self.iops, "latency": self.latency.mean}
        value = values.get(name, self.prediction.figures.get(key, math.nan))
        return interval_of(value, self.prediction.estimates.get(key))

    def real_interval(self, name: str = "throughput") -> Interval:
        """Return the 90 % interval of a figure on real machines.

        It is as wide as the errors of raidsim's predictions of published reports, for figures of the same kind, and as
        what no data sheet gives of a controller's firmware times leaves open.

        Parameters
        ----------
        name
            As for `interval`.

        Returns
        -------
        Interval
            Its ends are 0 and infinite where too few reports say anything, and for a rate that the load prescribes.
        """
        value = self.interval(name).value
        known = self._intervals()
        found = known.rate if name in ("throughput", "iops") else known.tail if "p99" in name else known.latency
        low, high = (0.0, math.inf) if found is None else found.around(value)
        return Interval(value, low, high)

    def _intervals(self) -> RunIntervals:
        spread = controller_spread(self.spec, self.prediction)
        return run_intervals(self.spec, offered_only(self.spec, self.prediction), spread)

    def without_bottleneck(self, progress: bool = True) -> WithoutBottleneck | None:
        """Run the scenario again without what limits it.

        Parameters
        ----------
        progress
            If true, show progress after a second.

        Returns
        -------
        WithoutBottleneck or None
            ``what`` says what was changed, ``prediction`` what the run gave; None if nothing limits that can go away.
        """
        spec, sample = self.spec, self.sample
        with progress_share("simulating it without the bottleneck", progress) as follow:
            return run_without_bottleneck(spec, self.prediction, sample, lambda run: follow(lambda: run.share))

    def rebuild_remedies(self, progress: bool = True) -> tuple[RebuildRemedy, ...]:
        """Run a rebuild by md again with other settings; `answer` and `document` then tell what each gave.

        Parameters
        ----------
        progress
            If true, show progress after a second.
        """
        if self.rebuild is None:
            return ()
        with progress_share("simulating it with other settings", progress) as follow:
            tried = rebuild_remedies(self.spec, self.prediction, self.sample, lambda run: follow(lambda: run.share))
        self.rebuild = replace(self.rebuild, remedies=tried)
        return tried

    def without_waits(self, known: WithoutBottleneck | None = None, progress: bool = True) -> list[WithoutWait]:
        """Run the scenario again without each of the first causes of its I/Os' waits that can be taken away.

        Parameters
        ----------
        known
            What `without_bottleneck` gave; the same change is not simulated again.
        progress
            If true, show progress after a second.
        """
        spec, sample = self.spec, self.sample
        with progress_share("simulating it without what its I/Os wait for", progress) as follow:
            return run_without_waits(spec, self.prediction, sample, lambda run: follow(lambda: run.share), known)

    def to_frame(self, of: Frame = "summary") -> DataFrame:
        """Return the run as a pandas data frame.

        Parameters
        ----------
        of
            "summary": one line for the run. "parts": a line for each part of the machine. "latency": a line for each
            direction. "loads": a line for each phase of a day, and for each of several loads in a phase and over the
            whole run.
        """
        rows: dict[str, Any] = {"summary": self._rows, "latency": self._latency_rows}
        rows |= {"parts": lambda: part_rows(self.parts), "loads": lambda: load_rows(self.prediction)}
        return frame(rows[chosen(of, ["summary", "parts", "latency", "loads"], "to_frame")]())

    def plot(self, kind: Picture = "summary", ios: int | None = None) -> tuple[Axes, ...]:
        """Draw the run.

        Parameters
        ----------
        kind
            "summary": utilization of the parts, and the distribution of the latencies. "timeline": the first I/Os, and
            every command that they became; the scenario is run again for it.
        ios
            I/Os of a timeline; default: as many as a wide picture shows.

        Returns
        -------
        tuple of Axes
            The panels, from left to right.
        """
        if chosen(kind, ["summary", "timeline"], "plot") == "timeline":
            return drawn(lambda: self.timeline_figure(ios))
        return drawn(self.figure)

    def figure(self) -> Figure:
        from .pictures.run import run_figure

        return run_figure(self.spec, self.prediction)

    def timeline(self, ios: int = DRAWN_IOS) -> Timeline:
        """Return the first I/Os and every command that they became.

        Parameters
        ----------
        ios
            How many I/Os. The scenario is run again for them, unless it was run with as many being watched.
        """
        from ..scenarios.timeline.timeline import Recorder, Timeline, record

        if isinstance(self._observer, Recorder):
            return Timeline.of(self.spec.name, self._observer)
        return record(self.spec, self.sample, ios)

    def timeline_figure(self, ios: int | None = None) -> Figure:
        """Return the picture of `timeline`."""
        from .pictures.timeline import timeline_figure

        return timeline_figure(self.timeline(ios or DRAWN_IOS))

    def timeline_document(self, ios: int) -> dict[str, Any]:
        """Return `timeline` as ui.perfetto.dev reads it."""
        from ..scenarios.timeline.chrome_trace import chrome_trace

        return chrome_trace(self.timeline(ios))

    def answer(
        self,
        all_parts: bool = False,
        without: WithoutBottleneck | None = None,
        waits: Sequence[WithoutWait] = (),
    ) -> Answer:
        """Return what the run tells as a tree of sentences, tables and pictures.

        Parameters
        ----------
        all_parts
            If true, every part of the machine has its line; default: many alike share one.
        without
            What `without_bottleneck` gave, to be told too.
        waits
            What `without_waits` gave, to be told too.
        """
        told = self.measured(all_parts)
        more = [] if without is None else [without_line(self.spec, self.prediction, without)]
        more += [without_wait_line(self.spec, self.prediction, each) for each in waits]
        return Answer(
            told.title,
            [*told.parts, *remedies_table(self.rebuild), *more, *self.sure(), *run_pictures(self.prediction)],
        )

    def measured(self, all_parts: bool = False) -> Answer:
        """Return what the run itself gave: `answer` without what follows from other runs."""
        return run_answer(self.spec, self.prediction, self.rebuild, all_parts)

    def sure(self) -> list[Words]:
        """Return how sure the figures are, in sentences."""
        return list(sure_lines(self.prediction, self._intervals(), offered_only(self.spec, self.prediction)))

    def document(self, without: WithoutBottleneck | None = None, waits: Sequence[WithoutWait] = ()) -> dict[str, Any]:
        """Return the run as ``raidsim run --json`` prints it, with what the runs without its limits gave."""
        return document(self.spec, self.prediction, self.rebuild, without, self._intervals(), waits)

    def _document(self) -> Mapping[str, Any]:
        return self.document()

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        latency = self.latency
        return [
            {
                "name": self.name,
                "iops": self.iops,
                "read_iops": self.reads.iops,
                "write_iops": self.writes.iops,
                "offered_iops": self.offered_iops,
                "lost_iops": self.lost_iops,
                "throughput": self.throughput,
                "latency_mean": latency.mean,
                "latency_p99": latency.p99,
                "utilization": max(self.utilization.values(), default=0.0),
                "saturated": self.saturated,
                "bottleneck": self.bottleneck,
            }
        ]

    def _latency_rows(self) -> Sequence[Mapping[str, Any]]:
        found = {"all": Direction(self.iops, self.latency)}
        found |= {op: self.direction(op) for op in self.prediction.latencies}
        names = ("mean", "p50", "p90", "p99", "p999", "max")
        return [
            {"direction": op, "iops": each.iops, **{name: getattr(each.latency, name) for name in names}}
            for op, each in found.items()
        ]

    def __repr__(self) -> str:
        parts = [megabytes(self.throughput)]
        if self.iops:
            parts.insert(0, f"{number(self.iops)} IOPS")
        if self.saturated:
            parts.append("saturated")
        elif self.prediction.latencies:
            parts.append(f"latency {milliseconds(self.latency.mean)}, p99 {milliseconds(self.latency.p99)}")
        return f"Result({self.name!r}: {', '.join(parts)}; bottleneck: {self.bottleneck})"
