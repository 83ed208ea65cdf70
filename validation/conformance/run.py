"""Running the checks: a folder of recorded truth in, a result for each kind out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...model.core.errors import InputError
from .base import KindResult, Progress, TruthFile
from .kinds import KINDS, Kind, kind
from .known_misses import explain
from .truth_files import DEFAULT_TRUTH, load_truth


def kinds_to_run(names: Sequence[str], truth: dict[str, list[TruthFile]], folder: Path) -> list[Kind]:
    """The kinds to check, in the order of the table.

    Parameters
    ----------
    names
        Kinds asked for; if there are none, all of which there are recordings.
    truth
        The recordings by kind.
    folder
        Where they are from, for errors.

    Raises
    ------
    InputError
        If a kind is unknown, or there is no recording of one that was asked for.
    """
    asked = {kind(name).name for name in names} or {name for name in truth if KINDS[name].is_there}
    for name in asked:
        if name not in truth:
            found = f"no recorded truth of kind {name}"
            raise InputError(str(folder), found, f"the folder has files of {_listed(truth)}")
    if not asked:
        raise InputError(str(folder), f"only files of {_listed(truth)}", "no check of that is part of this version")
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
    return [check_kind(each, truth[each.name], _silent) for each in kinds_to_run(names, truth, folder)]


def document(results: Iterable[KindResult]) -> dict[str, dict[str, object]]:
    """Results as one JSON object."""
    return {
        result.kind: {
            "cases": result.cases,
            "matched": result.matched,
            "misses": [
                {"file": miss.file, "case": miss.case, "difference": miss.difference, "why": miss.why}
                for miss in result.misses
            ],
        }
        for result in results
    }


def _listed(names: Iterable[str]) -> str:
    return ", ".join(name for name in KINDS if name in names)


def _silent(_: str) -> None:
    """No progress."""
