"""The table of discrepancies from what ``raidsim predict --json`` printed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from ..fit.profile import Profile, kept_profile, load_profile, profile_path
from ..study.study import StudySpec, chosen_studies, load_study, study_names
from .discrepancy import DiscrepancyTable, StudyErrors, groups_of
from .intervals import errors_of
from .scales import Spreads, fitted_spreads

_SOURCE = "what raidsim predict --json printed of these studies, each with a profile fitted to its own calibrate cells"


def learn(files: Iterable[Path], before: DiscrepancyTable, date: str) -> DiscrepancyTable:
    """The table with the predictions in some files.

    Parameters
    ----------
    files
        JSON that ``raidsim predict`` printed, of any of the studies that come with raidsim.
    before
        The table so far; studies that are in no file keep what it says.
    date
        Of today.

    Raises
    ------
    InputError
        If a file is none of these, or was made with another profile than the one that raidsim has now.
    """
    found: dict[str, StudyErrors] = {}
    for path in files:
        for document in _documents(path):
            study = load_study(document["id"])
            if any(cell.use == "predict" for cell in study.all_cells):
                found[study.id] = _errors(study, document, path)
    return with_errors(before, found, date)


def with_errors(before: DiscrepancyTable, found: Mapping[str, StudyErrors], date: str) -> DiscrepancyTable:
    """The table with the errors of some studies replaced, and its spreads learnt anew."""
    studies = {name: errors for name, errors in before.studies.items() if name in study_names()} | dict(found)
    spreads = fitted_spreads(groups_of(studies.values())) if studies else Spreads()
    return DiscrepancyTable(date=date, source=_SOURCE, spreads=spreads, studies=dict(sorted(studies.items())))


def lacking(table: DiscrepancyTable) -> list[str]:
    """Studies with predict cells of which a table does not know how far they are off.

    Of those that come with raidsim; a modern one may be in the table and need not be, as it takes long to predict.
    """
    wanted = [study for study in chosen_studies((), False) if any(cell.use == "predict" for cell in study.all_cells)]
    return [study.id for study in wanted if study.id not in table.studies]


def _documents(path: Path) -> list[dict[str, Any]]:
    """The studies in a file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        studies = list(document["studies"])
        for study in studies:
            if study["id"] not in study_names():
                raise InputError(str(path), f"the study {study['id']!r}", f"expected: {', '.join(study_names())}")
            for case in study["cases"]:
                math.log(case["predicted"])
    except OSError as error:
        raise InputError(str(path), f"{error.strerror}", "expected: a file that can be read") from None
    except (ValueError, LookupError, TypeError) as error:
        found = f"{type(error).__name__}: {error}"
        raise InputError(str(path), found, "expected: what raidsim predict --json prints") from None
    return studies


def _errors(study: StudySpec, document: Mapping[str, Any], path: Path) -> StudyErrors:
    predicted = {case["id"]: case["predicted"] for case in document["cases"]}
    cells = study.all_cells
    missing = [cell.id for cell in cells if cell.id not in predicted]
    if missing:
        raise InputError(f"{path}: {study.id}", f"no prediction of {missing[0]}", "expected: predictions of all cells")
    ratios = {cell.id: math.log(predicted[cell.id] / cell.measured) for cell in cells}
    return errors_of(study, _profile(study, document["profile"], path), ratios)


def _profile(study: StudySpec, printed: Mapping[str, Any] | None, path: Path) -> Profile | None:
    """The profile that the predictions were made with."""
    if printed is None:
        return None
    wanted = {each["name"]: each["factor"] for each in printed["parameters"]}
    kept = kept_profile(study)
    if kept is not None and kept.factors == wanted:
        return kept
    stored = profile_path(study)
    if stored.exists() and (profile := load_profile(stored)).factors == wanted:
        return profile
    allowed = f"expected: one in calibration/profiles or {stored}; predict again with it"
    raise InputError(f"{path}: {study.id}", "predictions with a profile that is not there", allowed)
