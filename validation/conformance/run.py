"""Running the checks: a folder of recorded truth in, a result for each kind out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from .base import KindResult, NotChecked, Progress, TruthFile
from .kinds import KINDS, Kind, kind
from .known_misses import explain
from .totals import NOT_CHECKED
from .truth_files import DEFAULT_TRUTH, TruthFolder, load_truth


def kinds_to_run(names: Sequence[str], truth: TruthFolder, folder: Path) -> list[Kind]:
    """The kinds to check, in the order of the table.

    Parameters
    ----------
    names
        Kinds asked for; if there are none, all of which there are recordings.
    truth
        The recordings.
    folder
        Where they are from, for errors.

    Raises
    ------
    InputError
        If a kind is unknown, or there is no recording of one that was asked for.
    """
    by_kind = truth.by_kind
    asked = {kind(name).name for name in names} or {name for name in by_kind if KINDS[name].is_there}
    for name in asked:
        if name not in by_kind:
            found = f"no recorded truth of kind {name}"
            raise InputError(str(folder), found, f"the folder has files of {_listed(by_kind) or 'no kind'}")
    return [each for each in KINDS.values() if each.name in asked]


def check_kind(each: Kind, files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Run one kind of check; the misses of the result carry their explanations."""
    result = each.check()(files, progress)
    explain(result)
    return result


def check_all(names: Sequence[str] = (), folder: Path = DEFAULT_TRUTH) -> list[KindResult]:
    """Check the kinds called `names`, or all of which the folder has recordings.

    Raises
    ------
    InputError
        See :func:`~.truth_files.load_truth` and :func:`kinds_to_run`.
    """
    truth = load_truth(folder)
    return [check_kind(each, truth.by_kind[each.name], _silent) for each in kinds_to_run(names, truth, folder)]


def files_not_checked(truth: TruthFolder) -> list[NotChecked]:
    """The files that no check of this version reads."""
    unread = [
        NotChecked(file.path.name, "", f"this version has no check of kind {name}", 0)
        for name, files in truth.by_kind.items()
        if not KINDS[name].is_there
        for file in files
    ]
    return truth.not_checked + unread


def document(results: Iterable[KindResult], files: Iterable[NotChecked] = ()) -> dict[str, Any]:
    """Results as one JSON object; under :data:`NOT_CHECKED` the `files` that no check reads."""
    found: dict[str, Any] = {
        result.kind: {
            "cases": result.cases,
            "matched": result.matched,
            "cases_not_checked": result.cases_not_checked,
            "misses": [
                {"file": miss.file, "case": miss.case, "difference": miss.difference, "why": miss.why}
                for miss in result.misses
            ],
            NOT_CHECKED: [
                {"file": each.file, "case": each.case, "cases": each.cases, "reason": each.reason}
                for each in result.not_checked
            ],
        }
        for result in results
    }
    return found | {NOT_CHECKED: [{"file": each.file, "reason": each.reason} for each in files]}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(name for name in KINDS if name in names)


def _silent(_: str) -> None:
    """No progress."""
