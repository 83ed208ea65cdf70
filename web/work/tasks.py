"""What the page can ask for: each question is a task that a worker process answers (:mod:`.runs`).

The answers are those of the public functions of raidsim; a task adds how much of it is done, and what is known before
all is.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ... import InputError
from ...api.advice import Advice, advise
from ...api.comparison import Comparison, compare
from ...api.curve import LoadCurve, load_curve
from ...api.result import Result
from ...api.run import run, run_scenario
from ...api.scenario import Scenario
from ...api.support.explorer import (
    LogicalIO,
    Prediction,
    Recorder,
    Timeline,
    WithoutBottleneck,
    is_open,
    record,
)
from .explain import Effect, Mechanism, effect
from .task import Progress

FIRST_POINTS, CURVE_POINTS = 6, 10
"""Points of the first load curve that is shown, and of the final one."""
FIRST_REPLICATIONS, REPLICATIONS = 2, 4
"""Runs of each design before anything is shown, and in all."""
TIMELINE_IOS = 100
MOST_RECORDED = 200_000
"""Logical I/Os of a run with a failure that are kept for its course."""
COURSE_PARTS = 40
"""Pieces of equal length that the course of a run is shown in."""


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
