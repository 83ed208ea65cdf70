"""What the page can ask for: each question is a task that a worker process answers (:mod:`.runs`).

The answers are those of the public functions of raidsim; a task adds how much of it is done, and what is known before
all is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, TypeVar

from ...api.advice import Advice, advise
from ...api.comparison import Comparison, compare
from ...api.curve import LoadCurve, load_curve
from ...api.fio import fio
from ...api.result import Result
from ...api.run import run, run_scenario
from ...api.scenario import Scenario
from ...api.support.explorer import (
    Compared,
    LogicalIO,
    Prediction,
    Recorder,
    Timeline,
    WithoutBottleneck,
    compared,
    is_open,
    parse,
    record,
)
from ...api.support.progress import followed_by
from ...model.core.errors import InputError
from ...model.files.quantities import format_duration
from .explain import Effect, Mechanism, effect

FIRST_POINTS, CURVE_POINTS = 6, 10
"""Points of the first load curve that is shown, and of the final one."""
FIRST_REPLICATIONS, REPLICATIONS = 2, 4
"""Runs of each design before anything is shown, and in all."""
TIMELINE_IOS = 100
FIO_S = 10.0
"""Simulated time (s) after which jobs of fio end here."""
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
        self.tell(found)

    def tell(self, found: object) -> None:
        """What is known so far; kept if a limit stops the task."""
        if self._tell is not None:
            self._tell(found)

    def within(self, share: Callable[[], float]) -> None:
        """The current part is told by a function of its own."""
        self._within = share

    @contextmanager
    def told(self) -> Iterator[None]:
        """The functions of `raidsim` called inside tell the share of the current part."""
        with followed_by(self.within):
            yield

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

    CPU_S: ClassVar[float]
    """CPU time (s) after which it is stopped."""
    SHORT: ClassVar[bool]
    """If true, it goes to the lane of short tasks."""

    def perform(self, progress: Progress) -> Result_co:
        """Do it; `InputError` if the scenario cannot be run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run of a scenario, and the same without its bottleneck.

    Attributes
    ----------
    result
        What the run gave.
    without
        None if there is nothing to take away, or it is not known yet.
    known
        Whether `without` is known.
    """

    result: Result
    without: WithoutBottleneck | None
    known: bool = True

    @property
    def prediction(self) -> Prediction:
        """Everything that the simulator says of the run."""
        return self.result.prediction


@dataclass(frozen=True, slots=True)
class RunTask:
    """One run of a scenario, and one without what limited it."""

    CPU_S: ClassVar[float] = 30.0
    SHORT: ClassVar[bool] = True
    scenario: Scenario

    def perform(self, progress: Progress) -> Outcome:
        """See :meth:`Task.perform`; the first answer lacks the run without the bottleneck."""
        with progress.told():
            result = run(self.scenario)
            progress.answer(Outcome(result, None, known=False))
            return Outcome(result, result.without_bottleneck())


@dataclass(frozen=True, slots=True)
class CurveTask:
    """Response time against offered load."""

    CPU_S: ClassVar[float] = 90.0
    SHORT: ClassVar[bool] = False
    scenario: Scenario

    def perform(self, progress: Progress) -> LoadCurve:
        """See :meth:`Task.perform`; the first answer is a curve of a few points."""
        with progress.told():
            progress.answer(load_curve(self.scenario, points=FIRST_POINTS, workers=0))
            return load_curve(self.scenario, points=CURVE_POINTS, workers=0)


@dataclass(frozen=True, slots=True)
class CompareTask:
    """Designs side by side; a scenario for each name."""

    CPU_S: ClassVar[float] = 120.0
    SHORT: ClassVar[bool] = False
    designs: tuple[tuple[str, Scenario], ...]

    def perform(self, progress: Progress) -> Comparison:
        """See :meth:`Task.perform`; the first answer has fewer runs, and says nothing of rebuilds and risk."""
        designs = [scenario.with_(name=name) for name, scenario in self.designs]
        with progress.told():
            progress.answer(compare(designs, replications=FIRST_REPLICATIONS, rebuild=False, workers=0))
            return compare(designs, replications=REPLICATIONS, rebuild=True, workers=0)


@dataclass(frozen=True, slots=True)
class TimelineTask:
    """The first I/Os of a load and what came of them."""

    CPU_S: ClassVar[float] = 30.0
    SHORT: ClassVar[bool] = True
    scenario: Scenario

    def perform(self, progress: Progress) -> Timeline:
        """See :meth:`Task.perform`."""
        return record(self.scenario.spec, ios=TIMELINE_IOS)


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

    CPU_S: ClassVar[float] = 60.0
    SHORT: ClassVar[bool] = False
    scenario: Scenario

    def perform(self, progress: Progress) -> FailureCourse:
        """See :meth:`Task.perform`."""
        recorder = Recorder(MOST_RECORDED)
        with progress.told():
            result = run_scenario(self.scenario, observer=recorder)
        parts = course(recorder.ios, recorder.began_s, result.prediction.measured_s)
        return FailureCourse(result.prediction, parts, result.spec.failures[0].at - recorder.began_s)


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
    """A run, and what every mechanism of its design does to it.

    Attributes
    ----------
    base
        What the design gives.
    effects
        Of each mechanism.
    """

    base: Prediction
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class ExplainTask:
    """A scenario, and the same with one mechanism switched off at a time."""

    CPU_S: ClassVar[float] = 90.0
    SHORT: ClassVar[bool] = False
    base: Scenario
    variants: tuple[tuple[Mechanism, Scenario], ...]

    def perform(self, progress: Progress) -> Explained:
        """See :meth:`Task.perform`; a variant that cannot be run is left out."""
        progress.parts = 1 + len(self.variants)
        with progress.told():
            base = run(self.base).prediction
            found = Explained(base, ())
            for variant, scenario in self.variants:
                progress.next_part()
                with suppress(InputError):
                    without = run(scenario).prediction
                    known = effect(variant, base, without, is_open(self.base.spec))
                    found = replace(found, effects=(*found.effects, known))
                    progress.tell(found)
        return found


@dataclass(frozen=True)
class AdviseTask:
    """A requirement, and the designs that meet it."""

    CPU_S: ClassVar[float] = 240.0
    SHORT: ClassVar[bool] = False
    requirement: dict[str, Any]

    def perform(self, progress: Progress) -> Advice:
        """See :meth:`Task.perform`."""
        with progress.told():
            return advise(self.requirement, workers=0)


@dataclass(frozen=True)
class LessonTask:
    """The same load on several designs: the answer to a question of the lessons."""

    CPU_S: ClassVar[float] = 30.0
    SHORT: ClassVar[bool] = True
    designs: tuple[tuple[str, Scenario], ...]

    def perform(self, progress: Progress) -> tuple[tuple[str, Result], ...]:
        """See :meth:`Task.perform`; what is known of the first designs is shown while the others are simulated."""
        progress.parts = len(self.designs)
        found: tuple[tuple[str, Result], ...] = ()
        with progress.told():
            for name, scenario in self.designs:
                found = (*found, (name, run(scenario)))
                progress.next_part()
                progress.tell(found)
        return found


@dataclass(frozen=True, slots=True)
class FioAnswer:
    """What fio would report, and the same next to what it measured.

    Attributes
    ----------
    report
        fio's JSON document of the jobs on the model.
    bottleneck, notes
        What limits, and what was assumed.
    compared
        Both sides, figure by figure; empty without a measurement.
    """

    report: dict[str, Any]
    bottleneck: str
    notes: tuple[str, ...]
    compared: tuple[Compared, ...] = ()


@dataclass(frozen=True, slots=True)
class FioTask:
    """Jobs of fio on the machine of a scenario, and what fio measured of them (empty: nothing)."""

    CPU_S: ClassVar[float] = 90.0
    SHORT: ClassVar[bool] = False
    job: str
    scenario: Scenario
    measured: str = ""

    def perform(self, progress: Progress) -> FioAnswer:
        """See :meth:`Task.perform`; a job may not read the environment of the server."""
        if "${" in self.job:
            raise InputError("job", "it uses a variable of the environment", "expected: a job without ${...}")
        with progress.told():
            result = fio(self.job, self.scenario, at_most=FIO_S)
        rows = compared(result.run, parse(self.measured, "results"), "results") if self.measured else ()
        return FioAnswer(result.report, result.bottleneck, result.notes, tuple(rows))


AnyTask = (
    RunTask | CurveTask | CompareTask | TimelineTask | FailureTask | ExplainTask | AdviseTask | LessonTask | FioTask
)


def stopped(task: AnyTask) -> str:
    """What is said of a task that reached its limit."""
    return (
        f"stopped after {format_duration(task.CPU_S)} of CPU time, the limit of this page; what is known until then is "
        "kept; choose a shorter run, a smaller load or fewer disks"
    )
