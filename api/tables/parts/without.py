"""What mechanisms of the model change: a line for each result as it comes, and the table of all."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....validation.prediction.without import MOVED_PCT, CellChange, StudyWithout, Without
from ....validation.report.words import percent
from ...answer.tree import Answer, Column, Part, Table, Words


def study_line(each: Without, found: StudyWithout) -> str:
    """What became of a study without mechanisms, in one line."""
    what = f"{found.study} without {each.name}"
    if found.refused:
        return f"{what}: {found.refused}"
    moved = found.moved
    words = f"{len(moved)} of {found.predicted} predicted cells change by {MOVED_PCT:g} % or more"
    if moved:
        words += f", most of all {_changed(moved[0])}"
    if found.claims:
        broken = sum(claim.held for claim in found.claims)
        words += f"; claims broken: {broken}, mended: {len(found.claims) - broken}"
    return f"{what}: {words}"


def conformance_line(each: Without, kind: str) -> str:
    """What became of a kind of check without mechanisms, in one line."""
    what = f"conformance, {kind} without {each.name}"
    if kind in each.refused:
        return f"{what}: {each.refused[kind]}"
    before, after = each.conformance[kind]
    return f"{what}: {after} cases match, {before} with it"


def without_answer(found: Sequence[Without]) -> Answer:
    """The table of all mechanisms, and which of them change nothing."""
    order = sorted(found, key=lambda each: (not each.moved, -(each.moved[0][1].change_pct if each.moved else 0.0)))
    columns = [Column("off", whole=True), Column("largest change of a predicted cell")]
    columns += [Column(name, show=str) for name in ("cells", "error with", "without", "claims", "recordings")]
    rows = [
        (each.name, _largest(each), str(len(each.moved)), *_errors(each), _claims(each), _recorded(each))
        for each in order
        if each.matters
    ]
    parts: list[Part] = [Table("Without a mechanism", columns, rows)]
    for name, each in {each.name: each for each in order if each.is_refused}.items():
        why = next((study.refused for study in each.studies if study.refused), "") or next(iter(each.refused.values()))
        parts.append(Words(f"{name}: {why}", "bad"))
    met = [each for each in order if each.studies or each.conformance]
    nothing = [each.name for each in met if not each.matters]
    if nothing:
        change = f"Change no predicted cell by {MOVED_PCT:g} %, no claim and no recording"
        parts.append(Words(f"{change}: {', '.join(nothing)}."))
    unmet = [each.name for each in order if not (each.studies or each.conformance or each.refused)]
    if unmet:
        parts.append(Words(f"In no study that was run: {', '.join(unmet)}."))
    return Answer("", parts)


def _largest(each: Without) -> str:
    if not each.moved:
        return "-"
    study, cell = each.moved[0]
    return f"{study}: {_changed(cell)}"


def _changed(cell: CellChange) -> str:
    size = f"{100 * cell.change:+.0f} %" if math.isfinite(cell.change) else "to 0"
    return f"{cell.id} {size}"


def _errors(each: Without) -> tuple[str, str]:
    found = each.errors_pct
    return ("-", "-") if found is None else (percent(found[0], 1), percent(found[1], 1))


def _claims(each: Without) -> str:
    """How many claims break without it, and how many hold only then."""
    return f"-{each.broken} +{each.mended}" if each.broken or each.mended else "-"


def _recorded(each: Without) -> str:
    changes = [f"{kind} {after - before:+d}" for kind, (before, after) in each.conformance.items() if before != after]
    return ", ".join(changes) or "-"
