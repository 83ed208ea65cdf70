"""Several studies at once: the runs of all share the processes, and each study is compared when its runs are done.

What is kept of a study (:mod:`raidsim.calibration.simulation.kept_predictions`) is compared at once. It is simulated
behind all that is not kept, and must come out the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...calibration.fit.profile import Profile
from ...calibration.simulation.evaluator import Evaluator
from ...calibration.simulation.kept_predictions import KeptPredictions, shown_part
from ...calibration.simulation.kept_results import Failed, Timed
from ...calibration.simulation.run_times import RunTimes
from ...calibration.simulation.study_runs import StudyRuns
from ...calibration.study.study import StudySpec
from ...scenarios.running.base.prediction import Prediction
from .comparison import StudyComparison, compared, factors_of

RunProgress = Callable[[int, int, RunTimes], None]
"""Takes how many runs are done, of how many, and their times."""


def _no_progress(done: int, total: int, times: RunTimes) -> None:
    pass


@dataclass(frozen=True, slots=True)
class WrongRun:
    """A run whose kept result is not what the simulation gives.

    Attributes
    ----------
    run
        Its name.
    kept, simulated
        What differs, in words.
    """

    study: str
    run: str
    kept: str
    simulated: str

    def document(self) -> dict[str, str]:
        """Its part of ``raidsim predict --json``."""
        return {"study": self.study, "run": self.run, "kept": self.kept, "simulated": self.simulated}


@dataclass(slots=True)
class QueuedStudy:
    """A study whose runs are asked for.

    Attributes
    ----------
    runs
        Its runs.
    kept
        Results that came with raidsim, by the runs' hashes.
    results, cpu_s
        Results that were simulated now, and their CPU times (s).
    failed
        Why the study cannot be predicted; empty if it can.
    expected_s
        CPU time (s) that runs took when they were kept, by the runs' names.
    stale
        Whether there are kept results, and another model gave them.
    figures
        What is compared of each run, by its hash.
    """

    study: StudySpec
    profile: Profile | None
    runs: StudyRuns
    kept: dict[str, Prediction]
    expected_s: Mapping[str, float]
    stale: bool
    results: dict[str, Prediction] = field(default_factory=dict)
    cpu_s: dict[str, float] = field(default_factory=dict)
    failed: str = ""
    figures: dict[str, set[str]] = field(init=False)

    def __post_init__(self) -> None:
        by_run = self.runs.figures()
        self.figures = {}
        for run, asked in self.runs.named():
            self.figures.setdefault(asked.key, set()).update(by_run[run])

    @classmethod
    def of(cls, study: StudySpec, profile: Profile | None, fresh: bool = False) -> QueuedStudy:
        """A study and what is kept of it; with `fresh` no kept result is used, but the times it took are."""
        runs, predictions = StudyRuns(study, factors_of(profile)), KeptPredictions(study.id)
        kept = {} if fresh else predictions.results(runs)
        return cls(study, profile, runs, kept, predictions.cpu_s, bool(predictions.model) and not predictions.current)

    @property
    def missing(self) -> list[str]:
        """The hashes of runs that there is no result of."""
        keys = dict.fromkeys(asked.key for asked in self.runs.every)
        return [key for key in keys if key not in self.results and key not in self.kept]

    def comparison(self, kept: bool = True) -> StudyComparison:
        """The study with the results that there are: the kept ones first, unless simulated ones are wanted."""
        found = {**self.results, **self.kept} if kept else {**self.kept, **self.results}
        of_kept = {run for run, asked in self.runs.named() if kept and asked.key in self.kept}
        predictions = self.runs.predictions(lambda asked: found[asked.key])
        return compared(self.study, self.profile, predictions, kept=of_kept)

    def take(self, key: str, timed: Timed) -> None:
        """Note what a run has given."""
        outcome = timed.outcome
        if isinstance(outcome, Prediction):
            self.results[key] = shown_part(outcome, self.figures[key])
            self.cpu_s[key] = timed.cpu_s
        elif not self.failed:
            error = outcome.error if isinstance(outcome, Failed) else f"{type(outcome).__name__}: {outcome}"
            self.failed = " ".join(error.split())


def simulate_missing(
    studies: Sequence[QueuedStudy],
    evaluator: Evaluator,
    done: Callable[[QueuedStudy], None],
    progress: RunProgress = _no_progress,
) -> None:
    """Simulate the runs that there is no result of, and call `done` with each study as it is complete or has failed."""
    waiting = {id(each): set(each.missing) for each in studies}
    for each in studies:
        if not waiting[id(each)]:
            done(each)

    def note(each: QueuedStudy, key: str, timed: Timed) -> None:
        failed = bool(each.failed)
        each.take(key, timed)
        waiting[id(each)].discard(key)
        if not failed and (each.failed or not waiting[id(each)]):
            done(each)

    _simulate([(each, each.missing) for each in studies], evaluator, note, progress)


def verify(
    studies: Sequence[QueuedStudy], evaluator: Evaluator, progress: RunProgress = _no_progress
) -> list[WrongRun]:
    """Simulate the runs whose results were kept, and say which of them come out differently."""
    _simulate([(each, list(each.kept)) for each in studies], evaluator, QueuedStudy.take, progress)
    return [wrong for each in studies for wrong in _wrong(each)]


def _simulate(
    wanted: Sequence[tuple[QueuedStudy, list[str]]],
    evaluator: Evaluator,
    note: Callable[[QueuedStudy, str, Timed], None],
    progress: RunProgress,
) -> None:
    """Simulate some runs of studies, and call `note` with each result for every study that wants it."""
    asked = {run.key: run for each, _ in wanted for run in each.runs.every}
    users: dict[str, list[QueuedStudy]] = {}
    expected_s: dict[str, float | None] = {}
    for each, keys in wanted:
        names = {run.key: name for name, run in each.runs.named()}
        for key in keys:
            users.setdefault(key, []).append(each)
            expected_s.setdefault(key, each.expected_s.get(names[key]))
    times = RunTimes(expected_s, evaluator.workers)
    order = times.order([keys for _, keys in wanted])
    if order:
        progress(0, len(order), times)
    for number, (key, timed) in enumerate(evaluator.each(asked[key] for key in order), start=1):
        times.done(key, timed.wall_s)
        for each in users[key]:
            note(each, key, timed)
        progress(number, len(order), times)


def _wrong(queued: QueuedStudy) -> Iterable[WrongRun]:
    for run, asked in queued.runs.named():
        kept, now = queued.kept.get(asked.key), queued.results.get(asked.key)
        if kept is None or kept == now:
            continue
        if now is None:
            yield WrongRun(queued.study.id, run, f"{kept.seconds:.6g} s", f"nothing ({queued.failed})")
            continue
        names = [name for name in kept.figures if kept.figures[name] != now.figures.get(name)]
        if names:
            first = names[0]
            yield WrongRun(queued.study.id, run, f"{first} {kept.figures[first]:.6g}", f"{now.figures[first]:.6g}")
        else:
            yield WrongRun(queued.study.id, run, "another bottleneck, time or latency", f"{now.bottleneck}")
