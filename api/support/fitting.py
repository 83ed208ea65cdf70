"""Fits of one study, and of all: each of these is stored when it is complete, and is not made again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ...calibration.fit.choices import try_all, with_choice
from ...calibration.fit.fit import Fit
from ...calibration.fit.profile import Profile, data_fingerprint, kept_profile, profile_path
from ...calibration.fit.profile_likelihood import profile_limits
from ...calibration.fit.report import Calibrated
from ...calibration.fit.starts import SEED, search_from
from ...calibration.simulation.responses import Vector
from ...calibration.study.study import StudySpec
from .predicting import note, own_profile
from .progress import progress_bar
from .unfinished import evaluating

_USUAL_EVENTS = 5_000_000
"""Expected of a fit where no profile tells."""


def calibrated(
    study: StudySpec,
    starts: int | None = 1,
    seed: int = SEED,
    begin: Vector | None = None,
    asked: Sequence[str] = (),
    choices: Mapping[str, list[str]] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Calibrated:
    """Fit a study; `asked` are parameters whose intervals by profile likelihood are wanted.

    Without `starts`, a study whose gradients are inexpensive gets several searches, another one gets one.
    """
    given = dict(choices or {})
    names = [parameter.name for parameter in study.parameters]
    work = (data_fingerprint(study), starts, seed, None if begin is None else begin.tolist(), list(asked), given)
    with (
        evaluating(workers, "calibrate", *work) as evaluator,
        progress_bar(f"calibrating {study.id}", shown=progress) as told,
    ):
        tried = try_all(study, given, lambda each: Fit(each, evaluator, told).optimum()) if given else []
        if tried:
            study = with_choice(study, tried[0].chosen)
        fit = Fit(study, evaluator, told)
        searches = search_from(fit, fit.usual_starts if starts is None else starts, seed, begin)
        profile = fit.profile(searches.best, searches.widened(fit.covariance(searches.best)))
        limits = {name: profile_limits(fit, searches.best, names.index(name)) for name in dict.fromkeys(asked)}
    found = Calibrated(study, profile, searches, limits, tuple(tried))
    return replace(found, profile=found.noted())


@dataclass(frozen=True, slots=True)
class FittedStudy:
    """A study after its fit.

    Attributes
    ----------
    profile
        None if there is none.
    error
        Why not; empty if there is one.
    """

    study: StudySpec
    profile: Profile | None
    error: str = ""


def fitted_studies(studies: Sequence[StudySpec]) -> list[StudySpec]:
    """Those with parameters and with something to calibrate on."""
    return [
        study
        for study in studies
        if study.parameters and (study.calibrate_cells or any(each.use == "calibrate" for each in study.claims))
    ]


def calibrate_all(
    studies: Sequence[StudySpec],
    folder: Path | None = None,
    starts: int | None = None,
    seed: int = SEED,
    recalibrate: bool = False,
    workers: int | None = None,
    done: Callable[[FittedStudy], None] = lambda _: None,
) -> list[FittedStudy]:
    """Fit studies, the ones that take least first, and store every profile as soon as it is complete.

    What ends the fit of one study is told, and does not end the others'. A profile that this version of raidsim has
    stored is kept, so the same call goes on after an interruption; the study that was interrupted goes on from its
    simulations.

    Parameters
    ----------
    studies
        What to fit: see :func:`fitted_studies`.
    folder
        Of the profiles; default: where :func:`.predict` finds them.
    starts, seed, workers
        As for a single fit.
    recalibrate
        If true, fit again what is stored.
    done
        Called with each study.
    """
    found: list[FittedStudy] = []
    wanted: list[StudySpec] = []
    for study in studies:
        stored = None if recalibrate else own_profile(study, profile_path(study, folder))
        if stored is None:
            wanted.append(study)
        else:
            found.append(FittedStudy(study, stored))
            done(found[-1])
    if found:
        note(f"{len(found)} of {len(studies)} studies are fitted already; --recalibrate fits them again")
    expected = _expected([kept_profile(study) for study in wanted])
    order = sorted(range(len(wanted)), key=expected.__getitem__)
    began, over = time.monotonic(), 0.0
    for number, i in enumerate(order, 1):
        passed, left = time.monotonic() - began, sum(expected) - over
        rest = f", about {passed * left / over / 60:.0f} min left" if over else ""
        note(f"study {number} of {len(wanted)}, {wanted[i].id}: {passed / 60:.0f} min so far{rest}")
        found.append(_fitted(wanted[i], folder, starts, seed, workers))
        over += expected[i]
        done(found[-1])
    return found


def _fitted(study: StudySpec, folder: Path | None, starts: int | None, seed: int, workers: int | None) -> FittedStudy:
    try:
        profile = calibrated(study, starts, seed, workers=workers).profile
    except Exception as error:  # whatever ends one study must not take the others' fits along
        why = " ".join(f"{type(error).__name__}: {error}".split())
        note(f"{study.id} could not be fitted: {why}")
        return FittedStudy(study, None, why)
    profile.save(profile_path(study, folder))
    return FittedStudy(study, profile)


def _expected(profiles: Sequence[Profile | None]) -> list[float]:
    """Events that each fit is expected to take: those of the last one, or else what is usual."""
    known = [float(each.events) for each in profiles if each is not None and each.events]
    usual = median(known) if known else _USUAL_EVENTS
    return [float(each.events) if each is not None and each.events else usual for each in profiles]
