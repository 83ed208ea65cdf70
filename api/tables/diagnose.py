"""What a diagnosis tells: the verdict, what is seen to be wrong, other causes with their checks, and the figures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from ...calibration.diagnosis.case import Form
from ...calibration.diagnosis.causes import Cause, catalogue
from ...calibration.diagnosis.diagnose import Diagnosis, Explained
from ..answer.numbers import PERCENT, listed, milliseconds, number
from ..answer.tree import Answer, Column, Part, Row, Table, Words, lines

_WORDS = ((0.9, "most likely"), (0.5, "likely"), (0.2, "possible"), (0.0, "less likely"))
_SHOWN = 5
_LEAST = 0.01
"""Causes that are less probable are not shown."""
_WORTH_A_CHECK = 0.1
_WORTH = 0.02
"""Share of the speed below which a cause that is seen explains nothing."""


def diagnosis_answer(name: str, found: Diagnosis, notes: Sequence[str]) -> Answer:
    """Verdict first, then causes and figures."""
    parts: list[Part] = [Words(verdict_words(found))]
    if found.seen:
        parts.append(_seen(found))
    shown = [each for each in found.ranked[:_SHOWN] if each.probability >= _LEAST]
    if shown:
        parts.append(_causes(found, shown))
    if found.found is not None:
        parts += _checks(found, [each for each in shown if each.probability >= _WORTH_A_CHECK])
    told = [*_evidence(found), *_untold(found), *notes]
    return Answer(f"{name}: {found.case.target}", [*parts, _figures(found), *lines(told)])


def _evidence(found: Diagnosis) -> Iterator[str]:
    """The member whose requests take longest, as iostat shows it."""
    slowest, awaits = found.measured.slowest, found.measured.awaits
    if slowest in found.case.drives:
        others = statistics.median(seconds for name, seconds in awaits.items() if name != slowest)
        times = f"{milliseconds(awaits[slowest])}, those of the others {milliseconds(others)} (await)"
        yield f"Requests of {slowest} take {times}."


def _untold(found: Diagnosis) -> Iterator[str]:
    """Causes that could be there and would not show."""
    if found.untold:
        yield f"These jobs would not show: {', '.join(found.untold)}."


def verdict_words(found: Diagnosis) -> str:
    """The answer in a few sentences."""
    told = [f"{100 * found.share:.0f} % of what this array should do."]
    worth = [each.words for each, left in found.seen if left < 1 - _WORTH]
    if worth:
        told.append(f"The outputs show why: {listed(worth)}.")
    best = found.found
    if best is not None:
        points = 100 * (1 - best.share)
        amount = f"explains {points:.0f} %" if points >= 1 else f"makes it {best.share:.2g} times as fast"
        more = "Beyond that, " if worth else ""
        odds = _odds(best.probability)
        words = _cause_words(found, best.causes)
        told.append(f"{more}{odds if more else odds.capitalize()}: {words} ({amount}).")
    elif abs(math.log(found.share_as_described)) <= math.log(found.factor):
        as_it_is = " of it as it is" if worth else ""
        far = f"{100 * found.share_as_described:.0f} % of the prediction"
        told.append(f"As fast as predicted{as_it_is}: {far}, which is right within a factor of {found.factor:.2g}.")
    else:
        faster = (
            "It is faster than predicted" if found.share_as_described > 1 else "No cause that was tried explains it"
        )
        told.append(f"{faster}: {100 * found.share_as_described:.0f} % of the prediction.")
    return " ".join(told)


def _odds(probability: float) -> str:
    return next(words for least, words in _WORDS if probability >= least)


def _filled(found: Diagnosis, text: str, form: Form) -> str:
    member = form.member or found.case.drives[0]
    return text.format(member=member, value=form.value, array=found.case.array_name, target=found.case.target)


def _cause_words(found: Diagnosis, causes: Sequence[tuple[Cause, Form]]) -> str:
    return listed([_filled(found, cause.entry.words, form) for cause, form in causes])


def _seen(found: Diagnosis) -> Table:
    """What the outputs show to be wrong, with what each alone leaves of the speed."""
    columns = [
        Column("what the outputs show"),
        Column("of the speed\nalone", show=PERCENT, scale=100.0),
        Column("mend"),
    ]
    rows: list[Row] = []
    for each, left in found.seen:
        mend = catalogue()[each.name].mend
        rows.append(
            [
                each.words,
                left,
                mend.format(member="DRIVE", value="", array=found.case.array_name, target=found.case.target),
            ]
        )
    return Table("Seen", columns, rows)


def _causes(found: Diagnosis, shown: Sequence[Explained]) -> Table:
    """Causes that were tried on the model, the most probable first; nothing is one of them."""
    columns = [Column("cause"), Column("", whole=True), Column("chance", show=PERCENT, scale=100.0)]
    columns.append(Column("of the\nspeed", show=PERCENT, scale=100.0))
    rows: list[Row] = [
        [_cause_words(found, each.causes), _odds(each.probability), each.probability, each.share] for each in shown
    ]
    rows.append(["nothing (else)", _odds(found.fits), found.fits, 1.0])
    rows.sort(key=lambda row: -float(str(row[2])))
    return Table("Causes that were tried", columns, rows)


def _checks(found: Diagnosis, shown: Sequence[Explained]) -> Iterator[Part]:
    """The command that checks each cause, and what mends it."""
    told: dict[str, str] = {}
    for each in shown:
        for cause, form in each.causes:
            check, mend = (_filled(found, text, form) for text in (cause.entry.check, cause.entry.mend))
            told.setdefault(cause.name, f"{cause.name}: check: {check}; mend: {mend}")
    yield from lines(told.values())


def _figures(found: Diagnosis) -> Table:
    """Every figure: measured, as it should be, as described, and with the cause that explains most."""
    best = found.found
    columns = [Column("job"), Column("figure"), Column("measured", show=str), Column("should be", show=str)]
    columns += [Column("as described", show=str)] if found.seen else []
    columns += [Column("with the\ncause", show=str)] if best is not None else []
    rows: list[Row] = []
    for job in found.measured.jobs:
        for name, value in job.figures.items():
            key = f"{job.name} {name}"
            row: Row = [job.name, name.removesuffix("_seconds").replace("_", " "), _shown(name, value)]
            row = [*row, _shown(name, found.should.get(key))]
            row = [*row, _shown(name, found.as_described.get(key))] if found.seen else row
            if best is not None:
                miss = best.misses.get(key)
                row = [*row, "" if miss is None else _shown(name, value / math.exp(miss))]
            rows.append(row)
    return Table("Figures", columns, rows, keys=2)


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return milliseconds(value) if name.endswith("seconds") else f"{number(value)} IOPS"
