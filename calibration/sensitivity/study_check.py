"""What a study still lacks: cells that nothing can fit, open numbers that move its cells, and how long a fit takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.machine.machine import BuiltMachine
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample, scale_for
from ...scenarios.running.simulate import simulate
from ..study.cell import Cell
from ..study.figures import figure_value
from ..study.reported import repeated
from ..study.runs import RunBuilder
from ..study.study import StudySpec
from .parameters import UncertainParameter, default_parameters, with_factors

Progress = Callable[[int, int], None]
MATTERS = 0.02
"""A number matters if a cell changes by this share when the number changes by one standard deviation of its prior."""
_LOOKED_AT = 4
"""Runs whose numbers are moved one by one: the quickest ones, those with calibrate cells first."""
_BUDGET_S = 60.0
"""CPU time for that."""
_SHOWN_ZEROS = 5
_STEPS = 8
"""A usual fit takes so many steps, each with a simulation for every parameter and one more."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A number that the report may leave open.

    Attributes
    ----------
    path
        What it is called in a scenario, as ``raidsim sensitivity`` has it.
    sd
        Standard deviation of the logarithm of the usual prior.
    change
        By how much (ln) the cell that it moves most changes.
    cell
        Which one that is.
    fitted
        Whether the study fits it.
    """

    path: str
    sd: float
    change: float
    cell: str
    fitted: bool


@dataclass(frozen=True, slots=True)
class StudyCheck:
    """What was found.

    Attributes
    ----------
    problems
        What is missing, in sentences.
    run_s
        CPU time (s) of each run at the parameters' priors.
    moved
        Numbers that matter, those that matter most first.
    looked_at
        The runs whose numbers were moved.
    fit_s
        CPU time that a usual fit takes (s).
    """

    problems: tuple[str, ...]
    run_s: dict[str, float]
    moved: tuple[Moved, ...]
    looked_at: tuple[str, ...]
    fit_s: float


def check_study(study: StudySpec, progress: Progress) -> StudyCheck:
    """Simulate every run of a study once, and some of them with each of their uncertain numbers moved.

    Raises
    ------
    InputError
        If the model refuses a run, or a run does not give the figure of a cell.
    """
    builder = RunBuilder(study, {})
    predictions: dict[str, Prediction] = {}
    run_s: dict[str, float] = {}
    wanted = study.wanted_runs
    for number, run in enumerate(wanted):
        progress(number, 2 * len(wanted))
        began = time.process_time()
        scenario = repeated(study, run, builder.scenario(run))[0]
        predictions[run] = simulate(scenario, Sample())
        run_s[run] = (time.process_time() - began) * study.repetitions(run)
    every = (*study.all_cells, *study.zero_cells)
    given = {cell.id: figure_value(predictions[cell.run], cell.run, cell.figure) for cell in every}
    moved: dict[str, Moved] = {}
    looked_at: list[str] = []
    left_s = _BUDGET_S
    for number, run in enumerate(_quickest(study, run_s)):
        progress(len(wanted) + number * len(wanted) // _LOOKED_AT, 2 * len(wanted))
        scenario = builder.scenario(run)
        parameters = default_parameters(scenario, predictions[run].prices_read)
        left_s -= len(parameters) * run_s[run]
        if left_s < 0 and looked_at:
            break
        looked_at.append(run)
        cells = [cell for cell in study.all_cells if cell.run == run]
        for parameter in parameters:
            for each in _moves(study, parameter, predictions[run], cells, run, builder):
                if each.path not in moved or each.change > moved[each.path].change:
                    moved[each.path] = each
    progress(2 * len(wanted), 2 * len(wanted))
    mattering = sorted((each for each in moved.values() if each.change >= MATTERS), key=lambda each: -each.change)
    fitted_s = sum_in_order(run_s[run] for run in sorted({cell.run for cell in study.calibrate_cells}))
    return StudyCheck(
        problems=(*_problems(study, mattering), *_zeros(study, given)),
        run_s=run_s,
        moved=tuple(mattering),
        looked_at=tuple(looked_at),
        fit_s=_STEPS * (len(study.parameters) + 1) * fitted_s,
    )


def resolve_study(study: StudySpec) -> tuple[str, ...]:
    """Build the machine of every run of a study, and simulate nothing; return what is missing, in sentences.

    Raises
    ------
    InputError
        If a run has no machine that can be built.
    """
    builder = RunBuilder(study, {})
    for run in study.wanted_runs:
        scenario = builder.scenario(run)
        sample = Sample(scale=1) if study.whole(run) else Sample()
        scale = scale_for(scenario, sample) if isinstance(scenario.workload, ProgramsSpec) else 1
        try:
            BuiltMachine(scenario, scale)
        except InputError as refusal:
            raise InputError(f"runs.{run}: {refusal.place}", refusal.found, refusal.expected) from None
    return tuple(_problems(study, []))


def _quickest(study: StudySpec, run_s: dict[str, float]) -> list[str]:
    calibrated = {cell.run for cell in study.calibrate_cells}
    with_cells = {cell.run for cell in study.all_cells}
    ranked = sorted((run for run in run_s if run in with_cells), key=lambda run: (run not in calibrated, run_s[run]))
    return ranked[:_LOOKED_AT]


def _moves(
    study: StudySpec,
    parameter: UncertainParameter,
    before: Prediction,
    cells: list[Cell],
    run: str,
    builder: RunBuilder,
) -> Iterator[Moved]:
    """How the cells of a run change with one number."""
    after = None
    for factor in (math.exp(parameter.sd), math.exp(-parameter.sd)):
        try:
            after = simulate(with_factors(builder.scenario(run), [parameter], [factor]), Sample())
            break
        except InputError:  # there can be no such machine: the other direction says as much
            continue
    if after is None:
        return
    fitted = _is_fitted(study, parameter)
    for cell in cells:
        old, new = (figure_value(each, run, cell.figure) for each in (before, after))
        if not old or not new:
            continue  # a 0 changes by no factor; the check names it
        yield Moved(parameter.path, parameter.sd, abs(math.log(new / old)), cell.id, fitted)


def _is_fitted(study: StudySpec, parameter: UncertainParameter) -> bool:
    paths = {path.partition(".")[2] for each in study.parameters for path in each.paths}
    return any(".".join(address[1:]) in paths or ".".join(address) in paths for address in parameter.moves)


def _zeros(study: StudySpec, given: Mapping[str, float]) -> Iterator[str]:
    zeros = [cell.id for cell in study.all_cells if not given[cell.id]]
    if zeros:
        named = f"{', '.join(zeros[:_SHOWN_ZEROS])}{' and more' if len(zeros) > _SHOWN_ZEROS else ''}"
        yield f"the model gives 0: {named}; simulate a longer run, or name the mechanism that is missing"


def _problems(study: StudySpec, moved: list[Moved]) -> Iterator[str]:
    calibrated, cells = study.calibrate_cells, study.all_cells
    if not cells:
        yield "no cells: nothing was measured"
    elif not calibrated:
        yield "no cell is marked calibrate: nothing is fitted, so the catalogue's drives are predicted as they are"
    elif len(calibrated) == len(cells):
        yield "every cell is marked calibrate: nothing is predicted"
    if calibrated and not study.parameters:
        yield "calibrate cells but no parameters: nothing can be fitted"
    if len(study.parameters) > len(calibrated) > 0:
        yield f"{len(study.parameters)} parameters for {len(calibrated)} calibrate cells: the priors decide the rest"
    used = {cell.run for cell in cells} | {
        name.rpartition(":")[0] for claim in study.claims for pair in claim.pairs for name in pair
    }
    idle = [run for run in study.run_ids if run not in used]
    if idle:
        yield f"runs without a cell or a claim: {', '.join(idle[:5])}{' and more' if len(idle) > 5 else ''}"
    for field in ("author", "date", "where", "notes"):
        value = str(getattr(study.source, field))
        if not value.strip() or "TODO" in value:
            yield f"source.{field} is empty"
    open_numbers = [each.path for each in moved if not each.fitted]
    if calibrated and open_numbers:
        yield f"not fitted, and they matter: {', '.join(open_numbers[:5])}"
