"""What a worker process is given to do, and what it gives back: plain data, and nothing of the page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

from ...model.core.errors import InputError
from ...model.files.quantities import format_duration
from ...scenarios.comparison.alternatives import Design, on_common_span
from ...scenarios.comparison.side_by_side import Comparison, Settings, compare, runs_planned
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.questions.load_curve import LoadCurve, attempt, curve_steps, runs_needed
from ...scenarios.questions.without_bottleneck import WithoutBottleneck, is_open, run_without_bottleneck
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.run import Run
from ...scenarios.running.simulate import simulate
from ...scenarios.timeline.events import LogicalIO
from ...scenarios.timeline.timeline import Recorder, Timeline, record
from ...scenarios.workers.task_pool import TaskPool
from .explain import Effect, Mechanism, effect

CURVE_POINTS = 10
REPLICATIONS = 4
TIMELINE_IOS = 100
MOST_RECORDED = 200_000
"""Logical I/Os of a run with a failure that are kept for its course."""
COURSE_PARTS = 40
"""Pieces of equal length that the course of a run is shown in."""

Result_co = TypeVar("Result_co", covariant=True)


class Progress:
    """How far the work is: parts one after the other, of which the current one may say its own share.

    Parameters
    ----------
    tell
        Takes what is found before all is done.
    """

    def __init__(self, tell: Callable[[object], None] | None = None) -> None:
        self.parts = 1
        self.done = 0
        self._within: Callable[[], float] = float
        self._tell = tell

    def answer(self, found: object) -> None:
        """A first answer, to be shown while the rest of the work is done, whose share is counted anew."""
        self.done = 0
        self._within = float
        if self._tell is not None:
            self._tell(found)

    def watch(self, run: Run) -> None:
        """A run begins."""
        self._within = lambda: run.share

    def within(self, share: Callable[[], float]) -> None:
        """The current part is told by a function of its own."""
        self._within = share

    def next_part(self) -> None:
        """The current part is over."""
        self.done += 1
        self._within = float

    @property
    def share(self) -> float:
        """Share of the work that is done, 0 to 1."""
        within = min(1.0, max(0.0, self._within()))
        return min(1.0, (self.done + within) / max(1, self.parts))


class Task(Protocol[Result_co]):
    """A piece of work."""

    WALL_S: ClassVar[float]
    """Seconds of the wall clock after which it is stopped."""

    def perform(self, progress: Progress) -> Result_co:
        """Do it; `InputError` if the scenario cannot be run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run of a scenario, and the same without its bottleneck.

    Attributes
    ----------
    spec, prediction
        What was run, and what it gave.
    without
        None if there is nothing to take away, or it is not known yet.
    known
        Whether `without` is known.
    """

    spec: ScenarioSpec
    prediction: Prediction
    without: WithoutBottleneck | None
    known: bool = True


@dataclass(frozen=True, slots=True)
class RunTask:
    """One run of a scenario, and one without what limited it."""

    WALL_S: ClassVar[float] = 30.0
    spec: ScenarioSpec

    def perform(self, progress: Progress) -> Outcome:
        """See :meth:`Task.perform`; the first answer lacks the run without the bottleneck."""
        prediction = simulate(self.spec, watch=progress.watch)
        progress.answer(Outcome(self.spec, prediction, None, known=False))
        return Outcome(self.spec, prediction, run_without_bottleneck(self.spec, prediction, watch=progress.watch))


@dataclass(frozen=True, slots=True)
class CurveTask:
    """Response time against offered load."""

    WALL_S: ClassVar[float] = 90.0
    spec: ScenarioSpec

    def perform(self, progress: Progress) -> LoadCurve:
        """See :meth:`Task.perform`."""
        progress.parts = runs_needed(CURVE_POINTS)
        steps = curve_steps(self.spec, CURVE_POINTS)
        wanted = next(steps)
        while True:
            outcomes = []
            for spec in wanted:
                outcomes.append(attempt(spec))
                progress.next_part()
            try:
                wanted = steps.send(outcomes)
            except StopIteration as end:
                curve: LoadCurve = end.value
                return curve


@dataclass(frozen=True, slots=True)
class CompareTask:
    """Designs side by side; a scenario for each name."""

    WALL_S: ClassVar[float] = 90.0
    designs: tuple[tuple[str, ScenarioSpec], ...]

    def perform(self, progress: Progress) -> Comparison:
        """See :meth:`Task.perform`."""
        designs = [Design(i, {"design": name}, spec) for i, (name, spec) in enumerate(self.designs, start=1)]
        designs, _ = on_common_span(designs)
        settings = Settings(replications=REPLICATIONS, rebuild=False)
        planned = max(1, runs_planned(designs, settings))
        with TaskPool(1) as pool:
            progress.within(lambda: pool.done / planned)
            return compare(designs, settings, pool)


@dataclass(frozen=True, slots=True)
class TimelineTask:
    """The first I/Os of a load and what came of them."""

    WALL_S: ClassVar[float] = 30.0
    spec: ScenarioSpec

    def perform(self, progress: Progress) -> Timeline:
        """See :meth:`Task.perform`."""
        return record(self.spec, ios=TIMELINE_IOS)


@dataclass(frozen=True, slots=True)
class CoursePart:
    """A piece of the measured time.

    Attributes
    ----------
    begin_s, end_s
        From the beginning of the measurement.
    iops
        I/Os that were complete in it, over its length.
    mean_s, longest_s
        Their latency; None if there were none.
    """

    begin_s: float
    end_s: float
    iops: float
    mean_s: float | None
    longest_s: float | None


@dataclass(frozen=True, slots=True)
class FailureCourse:
    """A run in which a member fails.

    Attributes
    ----------
    prediction
        Of the whole measurement.
    course
        Piece by piece.
    failed_s
        When the member fails, from the beginning of the measurement.
    """

    prediction: Prediction
    course: tuple[CoursePart, ...]
    failed_s: float


@dataclass(frozen=True, slots=True)
class FailureTask:
    """A run with a failure, followed over its time."""

    WALL_S: ClassVar[float] = 60.0
    spec: ScenarioSpec

    def perform(self, progress: Progress) -> FailureCourse:
        """See :meth:`Task.perform`."""
        recorder = Recorder(MOST_RECORDED)
        prediction = simulate(self.spec, watch=progress.watch, observer=recorder)
        load = self.spec.workload
        assert isinstance(load, LoadSpec)
        parts = course(recorder.ios, recorder.began_s, load.duration)
        return FailureCourse(prediction, parts, self.spec.failures[0].at - recorder.began_s)


def course(ios: list[LogicalIO], began_s: float, duration_s: float) -> tuple[CoursePart, ...]:
    """I/Os by the time at which they were complete."""
    width = duration_s / COURSE_PARTS
    found: list[list[float]] = [[] for _ in range(COURSE_PARTS)]
    for io in ios:
        if io.ended_s is not None:
            place = int((io.ended_s - began_s) / width)
            if 0 <= place < COURSE_PARTS:
                found[place].append(io.ended_s - io.began_s)
    return tuple(
        CoursePart(
            i * width,
            (i + 1) * width,
            len(times) / width,
            sum(times) / len(times) if times else None,
            max(times, default=None),
        )
        for i, times in enumerate(found)
    )


@dataclass(frozen=True, slots=True)
class Explained:
    """A run, and what every mechanism of its design does to it."""

    base: Prediction
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class ExplainTask:
    """A scenario, and the same with one mechanism switched off at a time."""

    WALL_S: ClassVar[float] = 90.0
    base: ScenarioSpec
    variants: tuple[tuple[Mechanism, ScenarioSpec], ...]

    def perform(self, progress: Progress) -> Explained:
        """See :meth:`Task.perform`; a variant that cannot be run is left out."""
        progress.parts = 1 + len(self.variants)
        base = simulate(self.base, watch=progress.watch)
        effects = []
        for variant, spec in self.variants:
            progress.next_part()
            with suppress(InputError):
                found = simulate(spec, watch=progress.watch)
                effects.append(effect(variant, base, found, is_open(self.base)))
        return Explained(base, tuple(effects))


AnyTask = RunTask | CurveTask | CompareTask | TimelineTask | FailureTask | ExplainTask


def stopped(task: AnyTask) -> str:
    """What is said of a task that the wall clock stopped."""
    return (
        f"stopped after {format_duration(task.WALL_S)}, the most that one run may take here; "
        "choose a shorter run, a smaller load or fewer disks"
    )
