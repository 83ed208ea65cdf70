"""Is an array as fast as it should be, and if not, why: candidate causes are run, and ranked by what they explain."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from ...model.core.errors import InputError
from ...scenarios.documents.document import Document
from ...scenarios.questions.load_curve import attempt
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.workers.task_pool import TaskPool
from ..uncertainty.model_interval import scenario_interval
from .case import BUFFERED, NOTHING, Case, Change, Form, longest_s
from .causes import Cause, candidates
from .likelihood import AWAIT, MISSING, QUANTILE, common_error, log_likelihood, mean_ratio, posterior
from .measured import MeasuredJob, Measurements
from .seen import Seen, seen_causes

USUAL_FACTOR = 1.6
"""How far predictions of rates are off where no report tells (90 %), about."""
NO_CAUSE_PRIOR = 12.0
"""How often nothing is wrong that the outputs do not show, where a cause has 1 (assumed)."""
_RUNS = 45
"""Of each job, about."""
_COMPARED = 3
"""Members at least whose times are compared with each other."""
_NOISE, _MOST_NOISE = "noise ", 0.7
"""What the key of a job's own uncertainty begins with, and the most of it (a standard deviation of the logarithm)."""
_LEAST_EFFECT = 0.05
"""Root mean square change of the figures, in logarithms, below which the jobs cannot tell a cause."""
_PAIRS = 6
"""Pairs of causes that are run, those that would explain most."""
_PAIR_PRIOR = 0.1
_WORTH_A_RUN = 3.0
"""How much less likely than the best single cause (as a logarithm) the best pair may seem, to be run."""


@dataclass(frozen=True)
class Explained:
    """A cause, or two at once, and what the machine would reach with it.

    Attributes
    ----------
    causes
        One or two, each in the form that explains most.
    probability
        Of being what is wrong, against all other causes and none.
    share
        Speed of the machine with it over that without, the geometric mean over all jobs.
    misses
        ln(measured / predicted) by job and figure.
    """

    causes: tuple[tuple[Cause, Form], ...]
    probability: float
    share: float
    misses: dict[str, float]


@dataclass(frozen=True)
class Diagnosis:
    """The answer.

    Attributes
    ----------
    case, measured
        What was asked of.
    should
        Figures by job and figure of the machine without what the outputs show to be wrong.
    as_described
        The same of the machine as it is described.
    seen
        What the outputs show to be wrong, each with the share of the speed that it leaves.
    share
        Speed that was measured over what the machine should do.
    share_as_described
        The same over what it is predicted to do as it is described.
    factor
        How far predictions are off in 90 % of the cases.
    fits
        Probability that nothing else is wrong.
    ranked
        Other causes, the most probable first.
    untold
        Names of the causes that would not show in these jobs.
    """

    case: Case
    measured: Measurements
    should: dict[str, float]
    as_described: dict[str, float]
    seen: tuple[tuple[Seen, float], ...]
    share: float
    share_as_described: float
    factor: float
    fits: float
    ranked: tuple[Explained, ...]
    untold: tuple[str, ...] = ()

    @property
    def found(self) -> Explained | None:
        """The cause that is more likely than none."""
        best = self.ranked[0] if self.ranked else None
        return best if best is not None and best.probability > self.fits else None


@dataclass(frozen=True)
class _Tried:
    """A cause in one form, or two causes in theirs, with what the jobs reach."""

    causes: tuple[tuple[Cause, Form], ...]
    change: Change
    figures: dict[str, float] | None
    prior: float


def diagnose(
    document: Document,
    measured: Measurements,
    *,
    target: str | None = None,
    excluded: frozenset[str] = frozenset(),
    workers: int = 1,
    follow: Callable[[Callable[[], float]], None] = lambda share: None,
) -> Diagnosis:
    """Compare what was measured with the machine as it is described, without what is wrong with it, and with causes.

    Parameters
    ----------
    document
        The machine.
    measured
        What was measured on it.
    target
        The device that the jobs ran on; what the jobs name, or the only array, unless given.
    excluded
        Causes that the outputs rule out.
    workers
        Processes.
    follow
        Called once with a function that tells the share of the runs that is done, about.

    Raises
    ------
    InputError
        If the device is not known, or the jobs cannot run on it.
    """
    case = Case.of(document, target, measured.device)
    with TaskPool(workers) as pool:
        planned = _RUNS * len(measured.jobs)
        follow(lambda: min(1.0, pool.done / planned))
        trials = Trials(case, measured.jobs, pool)
        return Search(case, measured, excluded, trials).answer()


class Trials:
    """Runs of the jobs with changes; a change that cannot be made gives None."""

    def __init__(self, case: Case, jobs: Sequence[MeasuredJob], pool: TaskPool) -> None:
        self._case = case
        self._jobs = jobs
        self._pool = pool

    def figures(self, changes: Sequence[Change]) -> list[dict[str, float] | None]:
        """What every job reaches with each of the changes, by "JOB figure"."""
        specs, places = [], []
        refused: dict[int, InputError] = {}
        for number, change in enumerate(changes):
            try:
                made = [self._case.scenario(job, change) for job in self._jobs]
            except InputError as refusal:
                refused[number] = refusal
                continue
            specs += made
            places += [(number, job, change) for job in self._jobs]
        if 0 in refused and changes[0] is NOTHING:
            raise refused[0]
        found: list[dict[str, float] | None] = [None if number in refused else {} for number in range(len(changes))]
        for (number, job, change), outcome in zip(
            places, self._pool.run(attempt, specs, (Prediction, InputError)), strict=True
        ):
            mine = found[number]
            if isinstance(outcome, InputError):
                if change is NOTHING:
                    raise outcome
                outcome_figures = {f"{job.name} iops": 1.0 / longest_s(job)} if _nothing_done(outcome) else None
            else:
                outcome_figures = _figures(job, outcome, change.other is not None)
            if mine is None or outcome_figures is None:
                found[number] = None
                continue
            mine |= outcome_figures
            for drive in outcome.drives if isinstance(outcome, Prediction) else ():
                key = f"{AWAIT}{drive.name}"
                mine[key] = mine.get(key, 0.0) + drive.mean_s / len(self._jobs)
        return found


def _nothing_done(refusal: InputError) -> bool:
    """Whether a run came to no I/O in the longest time, as during a rebuild that leaves nothing."""
    return refusal.place.endswith("workload.duration")


def _figures(job: MeasuredJob, prediction: Prediction, several: bool) -> dict[str, float]:
    buffered = f"{BUFFERED}.read_iops" in prediction.figures
    prefix = f"{job.name}." if several else f"{BUFFERED}.read_" if buffered else ""
    known = {name: f"{prefix}{name.removeprefix('read_') if buffered else name}" for name in job.figures}
    found = {f"{job.name} {name}": prediction.figures[key] for name, key in known.items() if key in prediction.figures}
    reached = prediction.precision_reached
    return found if reached is None else {**found, f"{_NOISE}{job.name}": min(_MOST_NOISE, reached / QUANTILE)}


class Search:
    """The search for what explains the figures."""

    def __init__(self, case: Case, measured: Measurements, excluded: frozenset[str], trials: Trials) -> None:
        self._case = case
        self._measured = measured
        self._excluded = excluded
        self._trials = trials
        first = case.scenario(measured.jobs[0])
        interval = scenario_interval(first)
        self._factor = USUAL_FACTOR if interval is None else interval.factor
        self._common = common_error(self._factor)

    def answer(self) -> Diagnosis:
        """All of it."""
        seen = seen_causes(self._case, self._measured.jobs)
        healthy = NOTHING
        for each in seen:
            healthy = healthy.with_(each.undone)
        # The described machine first, as it must run; then without each and without all that is wrong.
        alone = [_all_but(seen, each) for each in seen]
        described, should, *with_one = self._trials.figures([NOTHING, healthy, *alone])
        assert described is not None
        should = should or described
        shares = [(each, _speed(found or should, should)) for each, found in zip(seen, with_one, strict=True)]
        tried, untold = self._tried(described)
        probabilities = posterior([each.prior for each in tried], [self._log(each) for each in tried])
        ranked = [
            Explained(
                each.causes,
                chance,
                _speed(each.figures or described, described),
                self._misses(each.figures or described),
            )
            for each, chance in zip(tried, probabilities, strict=True)
            if each.causes
        ]
        ranked = _once(sorted(ranked, key=lambda each: -each.probability))
        return Diagnosis(
            self._case,
            self._measured,
            should,
            described,
            tuple(shares),
            mean_ratio(self._misses(should)),
            mean_ratio(self._misses(described)),
            self._factor,
            math.fsum(chance for each, chance in zip(tried, probabilities, strict=True) if not each.causes),
            tuple(ranked),
            untold,
        )

    def _tried(self, described: dict[str, float]) -> tuple[list[_Tried], tuple[str, ...]]:
        """Nothing, every cause that would show, and pairs of causes; and names of those that would not show."""
        causes = candidates(self._case, self._measured, self._excluded)
        forms = [(cause, form) for cause in causes for form in cause.forms]
        found = self._trials.figures([form.change for _, form in forms])
        tried = [
            _Tried(((cause, form),), form.change, figures, cause.entry.prior / len(cause.forms))
            for (cause, form), figures in zip(forms, found, strict=True)
            if figures is not None and self._effect(figures, described) >= _LEAST_EFFECT
        ]
        told = {each.causes[0][0].name for each in tried}
        untold = tuple(cause.name for cause in causes if cause.name not in told)
        nothing = _Tried((), NOTHING, described, NO_CAUSE_PRIOR)
        return [nothing, *tried, *self._pairs(nothing, tried)], untold

    def _effect(self, figures: dict[str, float], described: dict[str, float]) -> float:
        """Root mean square change of the figures that were measured, in logarithms."""
        one, other = self._misses(figures), self._misses(described)
        changes = [one[name] - other[name] for name in one.keys() & other.keys()]
        return math.sqrt(math.fsum(change**2 for change in changes) / len(changes)) if changes else 0.0

    def _pairs(self, nothing: _Tried, tried: Sequence[_Tried]) -> list[_Tried]:
        """Pairs of causes, run: those that explain most if both effects add up, or the larger one hides the other.

        None is run if a single cause, or nothing, explains more than any pair would.
        """
        usual = self._misses(nothing.figures or {})
        effects = [{name: miss - usual.get(name, 0.0) for name, miss in self._misses(each.figures or {}).items()}
                   for each in tried]  # fmt: skip
        guessed = []
        for one, other in combinations(range(len(tried)), 2):
            first, second = tried[one], tried[other]
            if first.causes[0][0].name == second.causes[0][0].name:
                continue
            prior = _PAIR_PRIOR * first.prior * second.prior
            here = [(name, effects[one].get(name, 0.0), effects[other].get(name, 0.0)) for name in usual]
            added = {name: usual[name] + mine + its for name, mine, its in here}
            larger = {name: usual[name] + max(mine, its, key=abs) for name, mine, its in here}
            likely = max(log_likelihood(each, self._common) for each in (added, larger))
            guessed.append((math.log(prior) + likely, prior, first, second))
        best_alone = max(math.log(each.prior) + self._log(each) for each in (nothing, *tried))
        chosen = sorted(guessed, key=lambda each: -each[0])[:_PAIRS]
        chosen = [each for each in chosen if each[0] > best_alone - _WORTH_A_RUN]
        found = self._trials.figures([first.change.with_(second.change) for _, _, first, second in chosen])
        return [
            _Tried((*first.causes, *second.causes), NOTHING, figures, prior)
            for (_, prior, first, second), figures in zip(chosen, found, strict=True)
            if figures is not None
        ]

    def _misses(self, figures: dict[str, float]) -> dict[str, float]:
        found = {}
        for job in self._measured.jobs:
            for name, value in job.figures.items():
                predicted = figures.get(f"{job.name} {name}")
                if predicted and value:
                    found[f"{job.name} {name}"] = math.log(value / predicted)
        return {**found, **self._await_misses(figures)}

    def _await_misses(self, figures: dict[str, float]) -> dict[str, float]:
        """The same of how long requests of each member take, over the median of all members."""
        awaits = {name: seconds for name, seconds in self._measured.awaits.items() if name in self._case.drives}
        predicted = {name: figures.get(f"{AWAIT}{name}", 0.0) for name in awaits}
        if len(awaits) < _COMPARED or not all(predicted.values()) or not all(awaits.values()):
            return {}
        middle = math.log(statistics.median(awaits.values()) / statistics.median(predicted.values()))
        return {f"{AWAIT}{name}": math.log(awaits[name] / predicted[name]) - middle for name in awaits}

    def _log(self, each: _Tried) -> float:
        figures = each.figures
        if figures is None:
            return MISSING
        noise = {
            f"{job.name} {name}": figures.get(f"{_NOISE}{job.name}", 0.0)
            for job in self._measured.jobs
            for name in job.figures
        }
        return log_likelihood(self._misses(figures), self._common, noise)


def _all_but(seen: Sequence[Seen], kept: Seen) -> Change:
    """Everything undone that is wrong, but for one."""
    change = NOTHING
    for each in seen:
        change = change if each is kept else change.with_(each.undone)
    return change


def _speed(figures: dict[str, float], should: dict[str, float]) -> float:
    """Speed of one set of figures over that of another."""
    return mean_ratio(
        {
            name: math.log(figures[name] / should[name])
            for name in figures
            if name in should and should[name] and figures[name] and not name.startswith((AWAIT, _NOISE))
        }
    )


def _once(ranked: list[Explained]) -> list[Explained]:
    """Each cause, or pair of causes, in its best form only, with the probability of all its forms."""
    found: dict[tuple[str, ...], Explained] = {}
    for each in ranked:
        name = tuple(cause.name for cause, _ in each.causes)
        first = found.get(name)
        if first is None:
            found[name] = each
        else:
            found[name] = Explained(first.causes, first.probability + each.probability, first.share, first.misses)
    return sorted(found.values(), key=lambda each: -each.probability)
