"""90 % intervals of predictions: what the parameters leave open, noise, and what the model lacks.

All three are half-widths in ln and add by their squares. The parameters' comes from the profile; noise is what one run
of a benchmark differs from the next by; what the model lacks was learnt from other studies (:mod:`.discrepancy`), and
for calibrated cells from how far each is off when it is predicted from all others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..fit.fit import UNCALIBRATED_SD
from ..fit.problem import CELL_SD, PROGRAM_CELL_SD
from ..fit.profile import Profile
from ..fit.quantile import NORMAL_QUANTILE
from ..fit.search import PREDICTED
from ..study.cell import Cell
from ..study.study import StudySpec
from .discrepancy import (
    COVERED,
    CellError,
    DiscrepancyTable,
    FigureClass,
    StudyErrors,
    figure_classes,
    model_half_width,
    on_files,
    study_errors,
)

_ONE_SD_PERCENT = 68.3
_SOME = 5
"""Cells of a class, from which on they speak for themselves."""
_LEAST_LEFT = PREDICTED
"""A cell that has determined its parameters alone is off by so much of its error at least when it is left out: its
slopes are not known better than that."""


@dataclass(frozen=True, slots=True)
class HalfWidth:
    """Half of a 90 % interval (ln), by where it comes from."""

    parameters: float
    noise: float
    model: float

    @property
    def total(self) -> float:
        """All of it."""
        return math.hypot(self.parameters, self.noise, self.model)

    def document(self) -> dict[str, float]:
        """The part of a cell in ``raidsim predict --json``."""
        return {"parameters": self.parameters, "noise": self.noise, "model": self.model}


def interval_score(low: float, high: float, measured: float) -> float:
    """The interval score of a 90 % interval (Gneiting and Raftery, JASA 102, 2007): length plus penalty outside."""
    return high - low + 2 / (1 - COVERED) * max(low - measured, measured - high, 0.0)


class Intervals:
    """Intervals of the cells of one study.

    Parameters
    ----------
    study
        The study.
    profile
        What it is predicted with; None where nothing was fitted.
    calibrated
        ln(predicted / measured) of the calibrate cells, by id; of no use where nothing was fitted.
    table
        What predictions of studies came to; that of `study` itself is left out.
    """

    def __init__(
        self, study: StudySpec, profile: Profile | None, calibrated: Mapping[str, float], table: DiscrepancyTable
    ) -> None:
        self._study = study
        self._profile = profile
        left_out = [] if profile is None else left_out_errors(study, profile, calibrated)
        self._left_out = left_out
        self._spreads = table.spreads
        self._learnt: dict[FigureClass, float | None] = {}
        self._classes = figure_classes(study)
        self._known = [errors for name, errors in table.studies.items() if name != study.id] + [study_errors(left_out)]

    def of(self, cell: Cell) -> HalfWidth:
        """Of one cell."""
        noise = noise_sd(self._study, cell)
        spread = self._profile.spread(cell.id) if self._profile is not None else 0.0
        return HalfWidth(NORMAL_QUANTILE * spread, NORMAL_QUANTILE * noise, self._model(cell, noise))

    def _model(self, cell: Cell, noise: float) -> float:
        kind = self._classes[cell.id]
        fitted = cell.use == "calibrate" and self._profile is not None
        if not fitted:
            if kind not in self._learnt:
                self._learnt[kind] = model_half_width(self._known, kind, self._spreads)
            learnt = self._learnt[kind]
            if learnt is not None:
                return learnt
        scale = self._own_scale(kind)
        if not fitted:
            scale = max(UNCALIBRATED_SD, scale)
        return NORMAL_QUANTILE * math.sqrt(max(0.0, scale**2 - noise**2))

    def _own_scale(self, kind: FigureClass) -> float:
        """What 68.3 % of the study's calibrated cells are off by at most: those of a class if there are some."""
        alike = [each for each in self._left_out if each.figure_class == kind]
        cells = alike if len(alike) >= _SOME else self._left_out
        return float(np.percentile([abs(each.error) for each in cells], _ONE_SD_PERCENT)) if cells else 0.0


def noise_sd(study: StudySpec, cell: Cell) -> float:
    """What one run of a benchmark differs from the next by (ln, one standard deviation), measured and simulated."""
    return PROGRAM_CELL_SD if on_files(study, cell) else CELL_SD


def left_out_errors(study: StudySpec, profile: Profile, ratios: Mapping[str, float]) -> list[CellError]:
    """How far calibrated cells are off when each is predicted from all others.

    In least squares with priors a residual r is r / (1 - h) when its cell is left out, with h the cell's own weight in
    what is predicted for it (its leverage), and the variance that the parameters leave is 1 / (1 - h) times as large:
    exactly so where figures are linear in the parameters.
    """
    errors, classes = [], figure_classes(study)
    for cell in study.calibrate_cells:
        if cell.id not in ratios:  # predicted to be 0
            continue
        noise, spread = noise_sd(study, cell), profile.spread(cell.id)
        left = max(_LEAST_LEFT, 1 - (spread / max(noise, profile.discrepancy)) ** 2)
        expected = math.hypot(noise, spread / math.sqrt(left))
        errors.append(CellError(classes[cell.id], ratios[cell.id] / left, expected))
    return errors


def errors_of(study: StudySpec, profile: Profile | None, ratios: Mapping[str, float]) -> StudyErrors:
    """A study's line of the table: how far its predict cells are off.

    Parameters
    ----------
    study, profile
        The study, and what it was predicted with.
    ratios
        ln(predicted / measured) by cell id; a cell that is predicted to be 0 has none and is left out.
    """
    classes = figure_classes(study)
    return study_errors(
        CellError(
            classes[cell.id],
            ratios[cell.id],
            math.hypot(profile.spread(cell.id) if profile is not None else 0.0, noise_sd(study, cell)),
        )
        for cell in study.all_cells
        if cell.use == "predict" and cell.id in ratios
    )
