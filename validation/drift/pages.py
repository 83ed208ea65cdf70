"""The manual's figures of accuracy, written from the kept table and the first shots: never by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...calibration.study.study import study_names
from ...compiled.loader import ROOT
from ...model.files.atomic_file import write_whole
from ..few_shot.benchmark import kept as few_shot_results
from ..few_shot.ranks import kept as few_shot_ranks
from ..few_shot.ranks import sentence as ranks_sentence
from ..few_shot.shown import study_table as few_shot_studies
from ..few_shot.shown import table as few_shot_table
from ..prediction.first_shots import FirstShots, load_first_shots
from .drives import drive_lines, load_drive_table
from .quick import QuickSet, load_quick
from .table import Line, StudyTable, load_study_table

BLOCKS = {
    "validation": Path("docs/validation.md"),
    "drives": Path("docs/validation.md"),
    "summary": Path("README.md"),
    "few-shot": Path("docs/learning.md"),
    "few-shot-studies": Path("docs/learning.md"),
    "few-shot-ranks": Path("docs/learning.md"),
}
"""The page of each block, which is between ``<!-- NAME -->`` and ``<!-- end -->``."""
_HEADINGS = (
    *("predicted cells", "median", "90th percentile", "worst", "in their 90 % interval", "claims held"),
    *("width of the interval", "median of calibrated cells"),
)
_SHOT_HEADINGS = ("study", "date", "cells", "median", "90th percentile", "inside", "median now", "90th percentile now")
_GUESS_HEADINGS = (
    *("on the same cells", "cells", "median", "90th percentile"),
    *("raidsim's median", "raidsim's 90th percentile", "raidsim nearer in"),
)


def blocks() -> dict[str, str]:
    """Each block as the kept files say."""
    table, quick, shots = load_study_table(), load_quick(), load_first_shots()
    return {
        "validation": validation_block(table, quick, shots),
        "drives": "\n".join(drive_lines(load_drive_table())) + "\n",
        "summary": summary_block(table, shots),
        "few-shot": few_shot_table(few_shot_results()),
        "few-shot-studies": few_shot_studies(few_shot_results()),
        "few-shot-ranks": ranks_sentence(few_shot_ranks()),
    }


def written(root: Path = ROOT) -> list[Path]:
    """Bring the pages up to date; those that were not."""
    changed = []
    for name, block in blocks().items():
        path = root / BLOCKS[name]
        text = path.read_text(encoding="utf-8")
        now = with_block(text, name, block)
        if now != text:
            write_whole(path, now)
            changed.append(path)
    return changed


def with_block(text: str, name: str, block: str) -> str:
    """A page's text with one block replaced."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda found: found[1] + block + found[2], text, count=1, flags=re.DOTALL)


def validation_block(table: StudyTable, quick: QuickSet, shots: FirstShots) -> str:
    """First shots, the table of all studies, and the guesses."""
    lines = [f"All studies, predicted on {table.date} by the model {table.model}:", ""]
    since = table.since(quick)
    if since:
        lines = [
            f"These tables are of another model: {table.model}, {table.date}. Results have changed since:",
            "",
            *(f"- {each.date}: {each.reason}" for each in since),
            "",
        ]
    lines += _rows("study", table.studies)
    lines += [_row("the five reports", table.groups["five"]), _row("all", table.groups["all"]), ""]
    if table.guesses:
        lines += ["The two ways of guessing, on the cells that both can answer:", "", *_head(_GUESS_HEADINGS)]
        for each in table.guesses:
            own = f"{each.raidsim_median_error_pct:.1f} % | {each.raidsim_p90_error_pct:.1f} %"
            errors = f"{each.median_error_pct:.1f} % | {each.p90_error_pct:.1f} %"
            lines.append(f"| {each.title} | {each.n} | {errors} | {own} | {each.raidsim_nearer_pct:.0f} % |")
        lines.append("")
    lines += ["### Modern studies", "", "Most of them are fitted to one or a few figures of single drives:", ""]
    lines += [*_rows("modern study", table.modern), _row("modern studies together", table.groups["modern"]), ""]
    shown = {**table.studies, **table.modern, **dict.fromkeys(load_drive_table().studies)}
    absent = [name for name in study_names() if name not in shown]
    if absent:
        lines += [f"Not in the tables: {', '.join(absent)}.", ""]
    if table.failed:
        lines += [f"Could not be predicted: {', '.join(table.failed)}.", ""]
    lines += _first_shots(shots, {**table.studies, **table.modern})
    return "\n".join(lines) + "\n"


def summary_block(table: StudyTable, shots: FirstShots) -> str:
    """The README's sentences on accuracy: first shots first."""
    told = [f"On {each.what}, raidsim was off by {each.median_error_pct:.0f} % in the median." for each in shots.before]
    first = shots.total()
    if first["n"]:
        told.append(
            f"The first shots of the {_number(first['studies'])} newest reports, predicted before anyone looked at "
            f"their figures, were off by {first['median_error_pct']:.0f} % in the median of {first['n']} figures. For "
            f"{first['inside_pct']:.0f} % of these the measured value lay in the predicted 90 % interval."
        )
    every, modern = table.groups["all"], table.groups["modern"]
    reports = sum(each.n > 0 for each in table.studies.values())
    more = sum(each.n > 0 for each in table.modern.values())
    near = [
        "On the reports that the model was developed with it is nearer.",
        "There too, no parameter was fitted to the figures that are counted.",
        f"On {every.n} figures of {_number(reports)} reports (1999 to 2019) {_errors(every)}",
        f"On {modern.n} figures of {more} more reports, on flash and today's disks, {_errors(modern)}",
        "For an array of your own, trust the order of designs more than the numbers.",
    ]
    return f"{_wrapped(told)}\n\n{_wrapped(near)}\n"


def _errors(line: Line) -> str:
    return (
        f"the median error is {line.median_error_pct:.1f} % and the 90th percentile {line.p90_error_pct:.1f} %. "
        f"{line.inside_pct:.0f} % lie in their interval."
    )


def _number(count: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return words[count] if count < len(words) else str(count)


def _wrapped(sentences: list[str], width: int = 140) -> str:
    lines = [""]
    for word in " ".join(sentences).split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def _rows(title: str, studies: Mapping[str, Line]) -> list[str]:
    return _head((title, *_HEADINGS)) + [_row(study, studies[study]) for study in sorted(studies)]


def _head(headings: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]


def _row(name: str, line: Line) -> str:
    errors = [_percent(each) for each in (line.median_error_pct, line.p90_error_pct, line.worst_error_pct)]
    inside = "-" if line.inside_pct is None else f"{line.inside_pct:.0f} %"
    claims = f"{line.claims_held} of {line.claims}" if line.claims else "-"
    width = "-" if line.width is None else f"{line.width:.2f}"
    cells = [str(line.n), *errors, inside, claims, width, _percent(line.calibrate_median_error_pct)]
    return f"| {name} | {' | '.join(cells)} |"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def _first_shots(shots: FirstShots, now: Mapping[str, Line]) -> list[str]:
    """The table of first shots, next to the errors of the kept table."""
    told = [
        *("### First shots", ""),
        "The first prediction of a study, made before anyone looked at its figures, and the errors of the tables:",
        *("", *_head(_SHOT_HEADINGS)),
    ]
    for study, shot in sorted(shots.shots.items()):
        errors = f"{shot.median_error_pct:.1f} % | {shot.p90_error_pct:.1f} % | {shot.inside_pct:.0f} %"
        line = now.get(study, Line(n=0))
        today = f"{_percent(line.median_error_pct)} | {_percent(line.p90_error_pct)}"
        told.append(f"| {study} | {shot.date} | {shot.n} | {errors} | {today} |")
    changed: dict[str, list[str]] = {}
    for name, shot in sorted(shots.shots.items()):
        for note in shot.notes:
            changed.setdefault(f"{note.text} ({note.date})", []).append(name)
    notes = [f"- {', '.join(names)}: {text}" for text, names in changed.items()]
    return [*told, *(["", "Descriptions that were changed after their first shot:", "", *notes] if notes else [])]
