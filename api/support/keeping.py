"""Write the results of studies' runs that come with raidsim."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...calibration.fit.profile import kept_profile
from ...calibration.simulation.evaluator import Evaluator
from ...calibration.simulation.kept_predictions import KeptPredictions
from ...calibration.study.study import StudySpec
from ...model.core.exact_sums import sum_in_order
from ...validation.prediction.study_queue import QueuedStudy, simulate_missing
from .predicting import note
from .run_progress import runs_progress, time_in_words


def keep_predictions(
    studies: Sequence[StudySpec], evaluator: Evaluator, fresh: bool, tell: Callable[[str], None]
) -> bool:
    """Simulate studies with the profiles that come with raidsim, and keep what each gives as it is complete.

    Parameters
    ----------
    studies
        The studies.
    evaluator
        Runs the simulations.
    fresh
        If false, studies whose results are kept for this model are left alone, so the command goes on after an
        interrupt.
    tell
        Called with a line a study.

    Returns
    -------
    bool
        Whether all could be kept.
    """
    queued, complete = [], True
    for study in studies:
        profile = kept_profile(study)
        if study.parameters and study.all_cells and profile is None:
            note(f"{study.id}: no profile of this study comes with raidsim, so nothing is kept of it")
            complete = False
            continue
        each = QueuedStudy.of(study, profile, fresh)
        if each.missing:
            each.kept.clear()
            queued.append(each)
        elif each.kept:
            tell(f"{study.id}: kept for this model already")
    with runs_progress(f"simulating {len(queued)} studies to keep") as shown:

        def done(each: QueuedStudy) -> None:
            with shown.aside():
                if each.failed:
                    note(f"{each.study.id} could not be predicted: {each.failed}")
                    return
                results = {key: (each.results[key], each.cpu_s[key]) for key in each.results}
                count = "1 run" if len(results) == 1 else f"{len(results):,} runs"
                path = KeptPredictions(each.study.id).write(each.runs, results)
                took = time_in_words(sum_in_order(each.cpu_s.values()))
                tell(f"{each.study.id}: {count}, {took} of CPU time, kept in {path.name}")

        simulate_missing(queued, evaluator, done, shown.update)
    return complete and not any(each.failed for each in queued)
