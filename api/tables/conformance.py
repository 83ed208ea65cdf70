"""What recordings of real programs tell: how many cases match, what was not compared, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...validation.conformance.base import KindResult, Miss, NotChecked
from ...validation.conformance.kinds import KINDS
from ..answer.numbers import PERCENT, PERCENTS, counted
from ..answer.tree import Answer, Column, Marked, Part, Row, Table, Words

_MOST_SHOWN = 20
"""Misses of a kind that are shown; the JSON has all of them."""


def conformance_answer(results: Sequence[KindResult], files: Sequence[NotChecked]) -> Answer:
    """All kinds, and the first of what differs."""
    parts: list[Part] = [_totals(results) if results else Words("Nothing was compared.")]
    for result in results:
        parts += [Words(f"{result.kind}: {note}") for note in result.notes]
        parts += _not_checked(
            f"{result.kind}: {counted(result.cases_not_checked, 'case')} not checked", result.not_checked
        )
        if result.misses:
            differ = "1 case differs" if len(result.misses) == 1 else f"{len(result.misses)} cases differ"
            misses = [part for miss in result.misses[:_MOST_SHOWN] for part in _miss(miss)]
            parts.append(Answer(f"{result.kind}: {differ}", [*misses, *_left(len(result.misses))]))
    return Answer("", [*parts, *_not_checked(f"{counted(len(files), 'file')} not checked", files)])


def _left(count: int) -> list[Words]:
    return [Words(f"... and {count - _MOST_SHOWN} more; all of them: --json")] if count > _MOST_SHOWN else []


def _not_checked(heading: str, found: Sequence[NotChecked]) -> Iterator[Answer]:
    """What was not compared: the file, the case, and why."""
    if not found:
        return
    told: list[Words] = []
    for each in found[:_MOST_SHOWN]:
        several = f" ({counted(each.cases, 'case')})" if each.cases > 1 else ""
        place = f"{each.file}: {each.case}" if each.case else each.file
        told += [Words(f"{place}{several}", "doubt"), Words(f"  {each.reason}")]
    yield Answer(heading, [*told, *_left(len(found))])


def _totals(results: Sequence[KindResult]) -> Table:
    columns = [Column("kind", whole=True), *(Column(name, show=str) for name in ("cases", "matched", "not checked"))]
    columns += [Column("share", show=PERCENTS, scale=100.0), Column("aim", show=PERCENT, scale=100.0)]
    rows: list[Row] = []
    for result in results:
        kind = KINDS[result.kind]
        share = result.matched / result.cases if result.cases else "-"
        marked = Marked(share, "" if kind.reached(result.cases, result.matched) else "bad")
        counts = (str(result.cases), str(result.matched), str(result.cases_not_checked))
        rows.append((kind.name, *counts, marked, "-" if kind.aim is None else kind.aim, kind.asks))
    return Table("", [*columns, Column("what has to be the same")], rows)


def _miss(miss: Miss) -> list[Words]:
    place = Words(f"{miss.file}: {miss.case}", "doubt")
    return [place, Words(f"  {miss.difference}"), Words(f"  why: {miss.why or 'not known'}")]
