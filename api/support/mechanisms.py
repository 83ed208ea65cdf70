"""Studies and recordings without mechanisms of the model: what each one changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

from ...calibration.simulation.evaluator import Evaluator
from ...calibration.study.study import StudySpec
from ...model.core.errors import InputError
from ...model.files.switches import switched_off, watched
from ...validation.conformance.run import check_kind, kinds_to_run
from ...validation.conformance.truth_files import DEFAULT_TRUTH, load_truth
from ...validation.prediction.comparison import compare
from ...validation.prediction.without import StudyWithout, Without, mechanisms_of, study_without
from .predicting import profile_for
from .progress import progress_bar, progress_text

Told = Callable[[Without, StudyWithout], None]


def studies_without(
    studies: Iterable[StudySpec], chosen: Sequence[Without], evaluator: Evaluator, told: Told
) -> dict[str, str]:
    """Predict studies as they are and without mechanisms, with the profiles that are kept.

    Parameters
    ----------
    studies
        Predicted one after the other; of each, only the runs that a mechanism concerns are simulated again.
    chosen
        Mechanisms to switch off, one entry after the other; the results are added to each.
    evaluator
        Runs the simulations.
    told
        Called with each result, as soon as it is there.

    Returns
    -------
    dict
        Why studies could not be predicted as they are, by name.
    """
    failed: dict[str, str] = {}
    for study in studies:
        try:
            profile = profile_for(study, evaluator)
            concerned = mechanisms_of(study, profile)
            wanted = [each for each in chosen if concerned.intersection(each.names)]
            if not wanted:
                continue
            with progress_bar(f"predicting {study.id}") as progress:
                whole = compare(study, profile, evaluator, progress)
        except Exception as error:  # whatever ends one study must not take the others' results along
            failed[study.id] = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"{study.id} could not be predicted: {failed[study.id]}", file=sys.stderr, flush=True)
            continue
        for number, each in enumerate(wanted, 1):
            with progress_bar(f"{study.id} without {each.name} ({number} of {len(wanted)})") as progress:
                found = study_without(study, profile, whole, each.names, evaluator, progress)
            each.studies.append(found)
            told(each, found)
        evaluator.forget()
    return failed


def conformance_without(chosen: Sequence[Without], told: Callable[[Without, str], None]) -> None:
    """Check the recordings as they are and without mechanisms that a kind of check meets; adds the results to each."""
    truth = load_truth(DEFAULT_TRUTH)
    for kind in kinds_to_run([], truth, DEFAULT_TRUTH):
        files = truth.by_kind[kind.name]
        with progress_text(f"conformance, {kind.name}") as progress, watched() as met:
            before = check_kind(kind, files, progress).matched
        for each in chosen:
            if not met.intersection(each.names):
                continue
            try:
                what = f"conformance, {kind.name} without {each.name}"
                with progress_text(what) as progress, switched_off(frozenset(each.names)):
                    each.conformance[kind.name] = before, check_kind(kind, files, progress).matched
            except InputError as refusal:
                each.refused[kind.name] = str(refusal)
            except Exception as error:  # a model without a part may fail in any way, and others are still to be tried
                each.refused[kind.name] = " ".join(f"{type(error).__name__}: {error}".split())
            told(each, kind.name)
