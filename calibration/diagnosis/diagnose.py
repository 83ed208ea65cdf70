"""Is an array as fast as it should be, and if not, why: candidate causes are run, and ranked by what they explain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from ...model.core.errors import InputError
from ...scenarios.documents.document import Document
from ...scenarios.questions.load_curve import attempt
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.workers.task_pool import TaskPool
from ..uncertainty.model_interval import scenario_interval
from .case import NOTHING, Case, Change, Form, longest_s
from .causes import Cause, candidates
from .likelihood import MISSING, common_error, log_likelihood, mean_ratio, posterior
from .measured import MeasuredJob, Measurements
from .seen import Seen, seen_causes

USUAL_FACTOR = 1.6
"""How far predictions of rates are off where no report tells (90 %), about."""
NO_CAUSE_PRIOR = 12.0
"""How often nothing is wrong that the outputs do not show, where a cause has 1 (assumed)."""
_RUNS = 45
"""Of each job, about."""
_EVIDENCE = 5.0
"""How much more likely a member's fault is if its requests take twice as long as those of the others."""
_OF_A_MEMBER = ("slow member", "slow link", "slow lanes", "shingled member")
_PAIRED = 6
"""Causes of which all pairs are tried too, the best ones."""
_PAIR_PRIOR = 0.1
_MISSED = 0.35
"""Root mean square of ln(measured / predicted) with the best cause from which a second one is looked for."""


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
            found[number] = None if mine is None or outcome_figures is None else {**mine, **outcome_figures}
        return found


def _nothing_done(refusal: InputError) -> bool:
    """Whether a run came to no I/O in the longest time, as during a rebuild that leaves nothing."""
    return refusal.place.endswith("workload.duration")


def _figures(job: MeasuredJob, prediction: Prediction, several: bool) -> dict[str, float]:
    prefix = f"{job.name}." if several else ""
    return {
        f"{job.name} {name}": prediction.figures[f"{prefix}{name}"]
        for name in job.figures
        if f"{prefix}{name}" in prediction.figures
    }


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
        seen = seen_causes(self._case)
        healthy = NOTHING
        for each in seen:
            healthy = healthy.with_(each.undone)
        # The described machine first, as it must run; then without each and without all that is wrong.
        alone = [_all_but(seen, each) for each in seen]
        described, should, *with_one = self._trials.figures([NOTHING, healthy, *alone])
        assert described is not None
        should = should or described
        shares = [(each, _speed(found or should, should)) for each, found in zip(seen, with_one, strict=True)]
        tried = self._tried(described)
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
        )

    def _tried(self, described: dict[str, float]) -> list[_Tried]:
        causes = candidates(self._case, self._measured, self._excluded)
        forms = [(cause, form) for cause in causes for form in cause.forms]
        found = self._trials.figures([form.change for _, form in forms])
        tried = [
            _Tried(((cause, form),), form.change, figures, self._prior(cause))
            for (cause, form), figures in zip(forms, found, strict=True)
            if figures is not None
        ]
        nothing = _Tried((), NOTHING, described, NO_CAUSE_PRIOR)
        if not tried or self._misfit(nothing) < _MISSED or min(map(self._misfit, tried)) < _MISSED:
            return [nothing, *tried]
        best: dict[str, _Tried] = {}
        for each in sorted(tried, key=lambda each: -self._log(each)):
            best.setdefault(each.causes[0][0].name, each)
        pairs = list(combinations([*best.values()][:_PAIRED], 2))
        both = self._trials.figures([one.change.with_(other.change) for one, other in pairs])
        tried += [
            _Tried((*one.causes, *other.causes), NOTHING, figures, _PAIR_PRIOR * one.prior * other.prior)
            for (one, other), figures in zip(pairs, both, strict=True)
            if figures is not None
        ]
        return [nothing, *tried]

    def _prior(self, cause: Cause) -> float:
        slowest = self._measured.slowest
        more = _EVIDENCE if slowest in self._case.drives and cause.name in _OF_A_MEMBER else 1.0
        return more * cause.entry.prior / len(cause.forms)

    def _misses(self, figures: dict[str, float]) -> dict[str, float]:
        found = {}
        for job in self._measured.jobs:
            for name, value in job.figures.items():
                predicted = figures.get(f"{job.name} {name}")
                if predicted and value:
                    found[f"{job.name} {name}"] = math.log(value / predicted)
        return found

    def _log(self, each: _Tried) -> float:
        return MISSING if each.figures is None else log_likelihood(self._misses(each.figures), self._common)

    def _misfit(self, each: _Tried) -> float:
        misses = [] if each.figures is None else [*self._misses(each.figures).values()]
        return math.sqrt(math.fsum(miss**2 for miss in misses) / len(misses)) if misses else math.inf


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
            if name in should and should[name] and figures[name]
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
