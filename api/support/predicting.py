"""Predict several studies: profiles, what is kept, and one queue of simulations with progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...calibration.fit.fit import calibrate as fitted
from ...calibration.fit.profile import (
    Profile,
    kept_profile,
    profile_path,
    stored_profile,
)
from ...calibration.simulation.evaluator import Evaluator
from ...calibration.study.study import StudySpec
from ...model.core.errors import InputError
from ...validation.prediction.comparison import StudyComparison
from ...validation.prediction.study_queue import QueuedStudy, WrongRun, simulate_missing, verify
from .progress import progress_bar
from .run_progress import runs_progress


def note(text: str) -> None:
    """Print what a user should know on stderr."""
    print(text, file=sys.stderr, flush=True)


@dataclass(slots=True)
class StudiesPredicted:
    """Studies that are being predicted.

    Attributes
    ----------
    queued
        Studies whose runs are known, in the order in which they were asked for.
    comparisons
        Those that are complete, by study.
    failed
        Why the others could not be predicted.
    """

    asked: tuple[str, ...]
    queued: list[QueuedStudy] = field(default_factory=list)
    comparisons: dict[str, StudyComparison] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def in_order(self) -> list[StudyComparison]:
        """The complete studies, in the order in which they were asked for."""
        return [self.comparisons[study] for study in self.asked if study in self.comparisons]

    @property
    def kept_runs(self) -> int:
        """How many results are kept ones."""
        return len({key for each in self.queued for key in each.kept})

    def fail(self, study: str, error: str) -> None:
        """Note why a study cannot be predicted, and tell it."""
        self.failed[study] = error
        note(f"{study} could not be predicted: {error}")

    def verify(self, evaluator: Evaluator, progress: bool = True) -> list[WrongRun]:
        """Simulate all runs whose kept results were compared; what comes out differently."""
        with runs_progress("verifying kept results", progress) as shown:
            return verify([each for each in self.queued if each.kept], evaluator, shown.update)


def predict_all(
    studies: Iterable[StudySpec],
    evaluator: Evaluator,
    recalibrate: bool = False,
    fresh: bool = True,
    done: Callable[[StudyComparison], None] = lambda _: None,
    progress: bool = True,
) -> StudiesPredicted:
    """Predict studies, and call `done` with each as it is complete: first those that take the least time.

    Parameters
    ----------
    studies
        The studies.
    evaluator
        Runs the simulations.
    recalibrate
        If true, fit parameters again.
    fresh
        If false, take results that come with raidsim for what they are; :meth:`StudiesPredicted.verify` simulates them.
    done
        Called with each comparison.
    progress
        If true, show progress.
    """
    every = tuple(studies)
    found = StudiesPredicted(tuple(study.id for study in every))
    profiles = {study.id: None if recalibrate else _known_profile(study) for study in every}
    to_fit = [study for study in every if _needs_profile(study) and profiles[study.id] is None]
    ready = [study for study in every if study not in to_fit]
    for part in (ready, *([study] for study in to_fit)):

        def profile_of(study: StudySpec) -> Profile | None:
            if not _needs_profile(study):
                return None
            return profiles[study.id] or _fitted(study, evaluator, progress)

        _predict_part(part, found, evaluator, profile_of, fresh, done, progress)
    return found


def kept_only(
    studies: Iterable[StudySpec], done: Callable[[StudyComparison], None] = lambda _: None
) -> StudiesPredicted:
    """Compare the studies all of whose results are kept, and call `done` with each; nothing is simulated."""
    every = tuple(studies)
    found = StudiesPredicted(tuple(study.id for study in every))
    others = []
    for study in every:
        profile = _known_profile(study) if _needs_profile(study) else None
        queued = QueuedStudy.of(study, profile)
        if queued.missing or (profile is None and _needs_profile(study)):
            others.append(study.id)
            continue
        found.queued.append(queued)
        found.comparisons[study.id] = queued.comparison()
        done(found.comparisons[study.id])
    if others:
        note(f"not kept for this model, or not with this profile: {', '.join(others)}")
    return found


def _predict_part(
    studies: Sequence[StudySpec],
    found: StudiesPredicted,
    evaluator: Evaluator,
    profile_of: Callable[[StudySpec], Profile | None],
    fresh: bool,
    done: Callable[[StudyComparison], None],
    progress: bool,
) -> None:
    """Predict some studies together."""
    queued = []
    for study in studies:
        try:
            queued.append(QueuedStudy.of(study, profile_of(study), fresh))
        except Exception as error:  # whatever ends one study must not take the others' results along
            found.fail(study.id, " ".join(f"{type(error).__name__}: {error}".split()))
        finally:
            evaluator.forget()
    found.queued += queued
    if not fresh:
        _tell_stale(queued)
    names = queued[0].study.id if len(queued) == 1 else f"{len(queued)} studies"
    with runs_progress(f"predicting {names}", progress) as shown:

        def complete(each: QueuedStudy) -> None:
            with shown.aside():
                if each.failed:
                    found.fail(each.study.id, each.failed)
                    return
                try:
                    comparison = each.comparison()
                except Exception as error:  # as above
                    found.fail(each.study.id, " ".join(f"{type(error).__name__}: {error}".split()))
                    return
                found.comparisons[each.study.id] = comparison
                done(comparison)

        simulate_missing(queued, evaluator, complete, shown.update)


def _tell_stale(queued: Sequence[QueuedStudy]) -> None:
    stale = [each.study.id for each in queued if each.stale]
    if stale:
        which = "no study" if len(stale) == len(queued) else f"not {', '.join(stale)}"
        note(f"results of another model are kept, which are not shown: {which} is kept for this model")


def predict_studies(
    studies: Iterable[StudySpec],
    evaluator: Evaluator,
    recalibrate: bool,
    progress: bool = True,
) -> tuple[list[StudyComparison], dict[str, str]]:
    """Simulate studies; the second result says why some could not be predicted."""
    found = predict_all(studies, evaluator, recalibrate, progress=progress)
    return found.in_order, found.failed


def _needs_profile(study: StudySpec) -> bool:
    return bool(study.parameters and study.all_cells)


def own_profile(study: StudySpec, path: Path) -> Profile | None:
    """The profile stored in a file if it belongs to this study and this version; tells what cannot be read."""
    try:
        return stored_profile(study, path)
    except InputError as error:
        note(f"a stored profile cannot be used: {error}")
        return None


def _known_profile(study: StudySpec) -> Profile | None:
    # The one that comes with raidsim was fitted to the same study, maybe by another version.
    return own_profile(study, profile_path(study)) or kept_profile(study)


def profile_for(study: StudySpec, evaluator: Evaluator) -> Profile | None:
    """The profile to predict a study with: a stored one, or a new one; None where nothing is fitted."""
    if not _needs_profile(study):
        return None
    return _known_profile(study) or _fitted(study, evaluator, True)


def _fitted(study: StudySpec, evaluator: Evaluator, progress: bool) -> Profile:
    """A new profile, which is stored if it can be."""
    with progress_bar(f"calibrating {study.id}", shown=progress) as told:
        profile = fitted(study, evaluator, told)
    path = profile_path(study)
    try:
        profile.save(path)
    except OSError as error:
        note(f"{study.id}: the profile cannot be stored in {path}, so it will be fitted again ({error})")
    return profile
