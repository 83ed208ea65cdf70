"""`raidsim predict`: the main job. Calibrate on a study's calibrate cells, predict the others, compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..calibration.evaluate import Evaluator
from ..calibration.fit import calibrate
from ..calibration.profile import Profile, fingerprint, load_profile, profile_path
from ..calibration.study import StudySpec, load_study, study_names
from ..model.errors import InputError
from ..validation.comparison import StudyComparison, compare, summarise, summary
from ..validation.plot import check_plot_file, draw_comparison
from .progress import progress_bar

_NOTEWORTHY_PCT = 20.0
"""Errors above this are explained below the table."""
_WIDTH = 100


def predict_command(
    studies: Annotated[list[str] | None, typer.Argument(help="Studies by name or file; default: all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    recalibrate: Annotated[bool, typer.Option("--recalibrate", help="Fit again, whatever is stored.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw predicted against measured.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default: one per core.")] = None,
) -> None:
    """Calibrate on the studies (or use the stored profile), predict every other cell, and compare."""
    if plot is not None:
        check_plot_file(plot)
    loaded = [load_study(name) for name in studies or study_names()]
    comparisons = []
    with Evaluator(workers) as evaluator:
        for study in loaded:
            profile = _profile(study, evaluator, recalibrate)
            with progress_bar(f"predicting {study.id}") as progress:
                comparisons.append(compare(study, profile, evaluator, progress))
    if plot is not None:
        draw_comparison(comparisons, plot)
    if as_json:
        document = {"studies": [each.document() for each in comparisons], "summary": summary(comparisons)}
        typer.echo(json.dumps(document))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    for comparison in comparisons:
        _print_study(console, comparison)


def _profile(study: StudySpec, evaluator: Evaluator, recalibrate: bool) -> Profile | None:
    """The stored profile if it belongs to this study and this version, else a new one, stored when it is complete."""
    if not study.parameters or not study.calibrate_cases:
        return None
    path = profile_path(study)
    if path.exists() and not recalibrate:
        try:
            stored = load_profile(path)
        except InputError as error:
            typer.echo(f"the stored profile cannot be used and is fitted again: {error}", err=True)
        else:
            if stored.fingerprint == fingerprint(study):
                return stored
    with progress_bar(f"calibrating {study.id}") as progress:
        profile = calibrate(study, evaluator, progress)
    profile.save(path)
    return profile


def _print_study(console: Console, comparison: StudyComparison) -> None:
    study = comparison.study
    console.print(Text(study.title, style="bold"), Text(f"({study.source.author}, {study.source.date})"))
    if comparison.profile is not None:
        console.print(_parameters(comparison.profile))
        for line in _doubts(comparison.profile):
            console.print(line)
    for use, heading in (("calibrate", "Calibrated on"), ("predict", "Predicted")):
        cases = [compared for compared in comparison.cases if compared.case.use == use]
        if cases:
            console.print(_cases(heading, comparison.unit, cases))
            console.print(_summary_line(summarise(cases)))
            console.print()
    wrong = [c for c in comparison.cases if c.case.use == "predict" and c.error_pct > _NOTEWORTHY_PCT]
    for compared in wrong:
        mechanism = compared.suspected or "no mechanism suspected yet"
        console.print(Text(f"{compared.case.id} is off by {compared.error_pct:.0f} %: {mechanism}"), soft_wrap=False)
    if study.open_cases:
        needs = sorted({case.needs for case in study.open_cases})
        console.print(f"{len(study.open_cases)} more cells of the report are missing: they need {' or '.join(needs)}.")


def _parameters(profile: Profile) -> Table:
    table = Table(title="Fitted parameters", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("parameter")
    for heading in ("factor", "standard error", "prior"):
        table.add_column(heading, justify="right")
    for each in profile.parameters:
        error, prior = f"{100 * each.standard_error:.1f} %", f"{100 * each.prior_sd:.0f} %"
        table.add_row(each.name, f"{each.factor:.3f}", error, prior)
    return table


def _doubts(profile: Profile) -> list[str]:
    """What a reader must know about the fit before trusting it, in words."""
    lines = []
    if not profile.converged:
        lines.append(f"The fit stopped before it converged: {profile.message}")
    if profile.undetermined():
        lines.append(f"The calibrated cells say next to nothing about {', '.join(profile.undetermined())}.")
    for first, second, value in profile.inseparable():
        lines.append(f"The calibrated cells cannot tell {first} from {second} (correlation {value:.2f}).")
    return lines


def _cases(heading: str, unit: str, cases: list[Any]) -> Table:
    table = Table(title=f"{heading} ({unit})", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("case", no_wrap=True)
    for column in ("measured", "predicted", "error", "90 % interval"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("busiest", no_wrap=True)
    for compared in cases:
        error = Text(f"{100 * compared.log_ratio:+.1f} %", style="red" if compared.error_pct > _NOTEWORTHY_PCT else "")
        interval = Text(f"{compared.low:.1f} - {compared.high:.1f}", style="" if compared.covered else "yellow")
        predicted, measured = f"{compared.predicted:.2f}", f"{compared.measured:.2f}"
        table.add_row(compared.case.id, measured, predicted, error, interval, compared.busiest)
    return table


def _summary_line(figures: dict[str, Any]) -> str:
    return (
        f"{figures['n']} cell{'' if figures['n'] == 1 else 's'}: median error {figures['median_error_pct']:.1f} %, "
        f"90th percentile {figures['p90_error_pct']:.1f} %, worst {figures['worst_error_pct']:.1f} %; "
        f"{figures['coverage_pct']:.0f} % inside their 90 % interval."
    )
